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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import io.github.advisorylock.testsupport.Patience;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Plays a script on some instances, and notes what becomes of each call.
 */
abstract class ScriptPlayer {

	private static final Duration SHORT = Duration.ofMillis(20);

	private final List<Call> calls = new ArrayList<>();

	/**
	 * When another schedule was chosen for a job, by its key.
	 */
	private final Map<String, Instant> rescheduled = new HashMap<>();

	/**
	 * Play a script.
	 * @return what became of each call, with its instance and tick
	 */
	final List<String> play(Script script) {
		begin();
		try {
			script.steps().forEach(this::play);
			return this.calls.stream().map(Call::toString).toList();
		}
		finally {
			this.calls.forEach((call) -> call.mayEnd.release());
			this.calls.forEach((call) -> call.ended.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join());
			this.calls.clear();
			this.rescheduled.clear();
			end();
		}
	}

	private void play(Script.Step step) {
		int number = step.number();
		switch (step.act()) {
			case CALL -> call(step);
			case END -> this.calls.get(number).end();
			case PASS -> pass(step.time());
			case KILL -> {
				this.calls.stream().filter((call) -> call.step.number() == number).forEach(Call::kill);
				kill(number);
			}
			case STOP -> stop(number);
			case STOPPED -> stopped(number);
			case START -> start(number);
			case LOSE_SESSION -> loseSession(number);
			case DATABASE_DOWN -> databaseDown();
			case DATABASE_UP -> databaseUp();
			case PAUSE -> pause(Objects.requireNonNull(step.job()).key(), true);
			case RESUME -> pause(Objects.requireNonNull(step.job()).key(), false);
			case RESCHEDULE -> {
				String key = Objects.requireNonNull(step.job()).key();
				this.rescheduled.put(key, reschedule(key));
			}
		}
	}

	private void call(Script.Step step) {
		Script.Job job = Objects.requireNonNull(step.job());
		Duration tick = step.tick();
		LockRequest request = job.request((tick != null) ? time(tick, job) : null);
		Instant changedAt = this.rescheduled.get(job.key());
		if (tick != null && changedAt != null) {
			boolean planned = tick.toMinutes() % Script.OTHER_SCHEDULE_MINUTES == 0;
			request = request.with(new RequestDetail.Planned(() -> changedAt, (of, now) -> planned));
		}
		Call call = new Call(step, Objects.requireNonNull(step.work()).overruns() ? request.maxRun(SHORT) : request);
		this.calls.add(call);
		Thread thread = new Thread(call, "script");
		thread.setDaemon(true);
		thread.start();
		call.awaitBegin();
	}

	/**
	 * Return the runs that are under way on an instance.
	 */
	final List<Call> underWay() {
		return this.calls.stream().filter((call) -> !call.ended.isDone() && !call.killed).toList();
	}

	abstract void begin();

	abstract void end();

	abstract AdvisoryLockOperations operations(int instance);

	abstract PlatformTransactionManager transactions(int instance);

	abstract Instant time(Duration tick, Script.Job job);

	abstract void pass(Duration time);

	abstract void kill(int instance);

	abstract void stop(int instance);

	abstract void stopped(int instance);

	abstract void start(int instance);

	abstract void loseSession(int instance);

	abstract void databaseDown();

	abstract void databaseUp();

	abstract void pause(String key, boolean paused);

	/**
	 * Have another schedule chosen for a job.
	 * @return when that was, as the ledger knows
	 */
	abstract Instant reschedule(String key);

	/**
	 * Have a run last until its lock was taken away, as it lasts too long.
	 */
	abstract void overrun(LockContext lock);

	/**
	 * A call, on a thread of its own.
	 */
	final class Call implements Runnable {

		final Script.Step step;

		private final LockRequest request;

		private final AdvisoryLockOperations operations;

		private final TransactionTemplate transaction;

		private final CountDownLatch begun = new CountDownLatch(1);

		private final Semaphore mayEnd = new Semaphore(0);

		private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

		private volatile String result = "";

		private volatile boolean killed;

		volatile @Nullable LockContext lock;

		private Call(Script.Step step, LockRequest request) {
			this.step = step;
			this.request = request;
			this.operations = operations(step.number());
			this.transaction = new TransactionTemplate(transactions(step.number()));
		}

		private void awaitBegin() {
			CompletableFuture.anyOf(this.ended, CompletableFuture.runAsync(this::awaitWork))
				.orTimeout(Patience.SECONDS, TimeUnit.SECONDS)
				.join();
		}

		private void awaitWork() {
			try {
				this.begun.await(Patience.SECONDS, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		private void end() {
			this.mayEnd.release();
			this.ended.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
		}

		private void kill() {
			this.killed |= !this.ended.isDone();
		}

		@Override
		public void run() {
			try {
				Script.Within within = Objects.requireNonNull(this.step.work()).within();
				if (within == Script.Within.NONE) {
					call(false);
				}
				else {
					this.transaction.executeWithoutResult((status) -> {
						call(within == Script.Within.COMMITTED_THOUGH_FAILED);
						if (within == Script.Within.ROLLED_BACK) {
							status.setRollbackOnly();
						}
					});
				}
			}
			catch (Throwable ex) {
				failed(ex);
			}
			this.ended.complete(null);
			this.begun.countDown();
		}

		private void call(boolean goOn) {
			try {
				if (this.request.detail(RequestDetail.KeptResult.class) != null) {
					callKeeping((TwoPhaseLockOperations) this.operations);
					return;
				}
				LockResult<String> done = this.operations.execute(this.request, this::work);
				note(done.outcome().name());
			}
			catch (RuntimeException ex) {
				failed(ex);
				if (!goOn || !(ex instanceof Expected)) {
					throw ex;
				}
			}
		}

		/**
		 * As the advice of a method calls.
		 */
		private void callKeeping(TwoPhaseLockOperations operations) {
			try (TwoPhaseLockOperations.Admission admission = operations.admit(this.request)) {
				admission.execute(this::work);
				boolean before = admission.outcome() == LockOutcome.ALREADY_RAN;
				note(admission.outcome() + (before ? " " + admission.keptResult() : ""));
			}
		}

		private String work(LockContext lock) {
			this.lock = lock;
			note("attempt " + lock.attempt() + ",");
			Script.Work work = Objects.requireNonNull(this.step.work());
			if (work.overruns()) {
				overrun(lock);
			}
			if (work.lasts()) {
				this.begun.countDown();
				awaitEnd();
			}
			if (work.fails()) {
				throw new Expected();
			}
			return "done by " + this.step.number();
		}

		/**
		 * It goes on though it is told of the loss of its lock.
		 */
		private void awaitEnd() {
			this.mayEnd.acquireUninterruptibly();
			Thread.interrupted();
		}

		private void note(String what) {
			this.result += " " + what;
		}

		private void failed(Throwable ex) {
			// What a run notices first of a crash, its lock or its connection, does not
			// matter
			boolean unreachable = ex instanceof DataAccessException || ex instanceof TransactionException;
			String how = (unreachable && this.lock != null) ? "LOST"
					: (ex instanceof Expected) ? "FAILED"
							: (ex instanceof LockLostException) ? "LOST"
									: String.valueOf(ex.getMessage()).contains("ahead of the clock") ? "AHEAD"
											: unreachable ? "UNREACHABLE" : ex.toString();
			if (!this.result.endsWith(how)) {
				note(how);
			}
		}

		@Override
		public String toString() {
			return this.step + ":" + (this.killed ? " KILLED" : this.result);
		}

	}

	/**
	 * What work throws.
	 */
	private static final class Expected extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

}
