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

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;

import org.springframework.context.event.EventListener;

/**
 * Keeps how calls ended, those of annotated methods by the events that tell of them. Of
 * very many only the latest are kept: applications also run for long in tests.
 */
class CallRecorder {

	private final int most;

	private final Deque<LockCall> calls = new ArrayDeque<>();

	/**
	 * Create a recorder.
	 * @param most how many calls it keeps
	 */
	CallRecorder(int most) {
		this.most = most;
	}

	CallRecorder() {
		this(10_000);
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		add(new LockCall(event.key(), event.scope(), LockOutcome.EXECUTED, event.failure(), event.tick()));
	}

	@EventListener
	void skipped(SingleRunnerSkippedEvent event) {
		add(new LockCall(event.key(), event.scope(), event.outcome(), null, event.tick()));
	}

	final synchronized void add(LockCall call) {
		if (this.calls.size() == this.most) {
			this.calls.remove();
		}
		this.calls.add(call);
	}

	final synchronized List<LockCall> of(AdvisoryLockKey key) {
		return this.calls.stream().filter((call) -> call.key().equals(key)).toList();
	}

	final synchronized void clear() {
		this.calls.clear();
	}

}
