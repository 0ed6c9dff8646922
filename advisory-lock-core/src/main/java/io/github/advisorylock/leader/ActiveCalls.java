/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package io.github.advisorylock.leader;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import io.github.advisorylock.jdbc.WorkContext;
import io.github.advisorylock.jdbc.thread.LockThread;
import org.jspecify.annotations.Nullable;

/**
 * The calls that are under way, each with what it knows of its role, and what is to be
 * done when the last one has ended. Calls that can't end before somebody stops waiting
 * for them are not waited for: that of the thread which waits, as by
 * {@code SpringApplication.exit}, and those of threads that wait for the JVM to exit.
 */
final class ActiveCalls {

	private final Map<Thread, Call> calls = new ConcurrentHashMap<>();

	private final AtomicReference<@Nullable Runnable> whenNone = new AtomicReference<>();

	private volatile @Nullable Thread waiting;

	/**
	 * Note that the current thread begins a call.
	 * @param context what it knows of its role
	 * @param term the term in which it does
	 */
	void begin(WorkContext context, CurrentTerm.Term term) {
		this.calls.put(Thread.currentThread(), new Call(context, term));
	}

	/**
	 * Note that the current thread ends its call.
	 */
	void end() {
		this.calls.remove(Thread.currentThread());
		if (this.whenNone.get() != null && isNone()) {
			runOnce();
		}
	}

	/**
	 * Return the call that the current thread is in.
	 * @return what it knows of its role, {@code null} if the thread is in none
	 */
	@Nullable WorkContext ofThisThread() {
		Call call = this.calls.get(Thread.currentThread());
		return (call != null) ? call.context : null;
	}

	/**
	 * Return the calls that were begun in a term.
	 */
	List<WorkContext> begunIn(CurrentTerm.Term term) {
		return find(term, (thread) -> true);
	}

	/**
	 * As {@link #begunIn}, less that of a thread that waits for the end of all: an
	 * interrupt would reach that wait.
	 */
	List<WorkContext> toTell(CurrentTerm.Term term) {
		return find(term, (thread) -> thread != this.waiting);
	}

	private List<WorkContext> find(CurrentTerm.Term term, Predicate<Thread> condition) {
		return this.calls.entrySet()
			.stream()
			.filter((call) -> call.getValue().term.equals(term) && condition.test(call.getKey()))
			.map((call) -> call.getValue().context)
			.toList();
	}

	/**
	 * Return whether there is no call to wait for.
	 * @return whether each call that can end has ended
	 */
	boolean isNone() {
		return this.calls.keySet()
			.stream()
			.noneMatch((thread) -> thread != this.waiting && !LockThread.waitsForExit(thread));
	}

	/**
	 * Run an action once there is no call, at once if there is none.
	 * @param action what to do, once
	 */
	void whenNone(Runnable action) {
		this.whenNone.set(action);
		if (isNone()) {
			runOnce();
		}
	}

	/**
	 * As {@link #whenNone}, where the current thread waits for the action, and what it
	 * has called before does not end until then.
	 * @param action what to do, once
	 */
	void whenNoOther(Runnable action) {
		this.waiting = Thread.currentThread();
		whenNone(action);
	}

	/**
	 * Wait for the calls of all threads again.
	 */
	void forgetWaiting() {
		this.waiting = null;
	}

	private void runOnce() {
		Runnable action = this.whenNone.getAndSet(null);
		if (action != null) {
			action.run();
		}
	}

	/**
	 * A call under way.
	 *
	 * @param context what it knows of its role
	 * @param term the term in which it was begun
	 */
	private record Call(WorkContext context, CurrentTerm.Term term) {

	}

}
