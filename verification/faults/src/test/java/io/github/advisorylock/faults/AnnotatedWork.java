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

package io.github.advisorylock.faults;

import java.time.Duration;
import java.time.Instant;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Does the work of each {@link Promise} that is made to an annotated method.
 */
class AnnotatedWork {

	private final JdbcTemplate jdbc;

	private final RecordedWork work;

	/**
	 * The run of the method on this thread.
	 */
	private final ThreadLocal<String> last = new ThreadLocal<>();

	AnnotatedWork(JdbcTemplate jdbc, RecordedWork work) {
		this.jdbc = jdbc;
		this.work = work;
	}

	@Scheduled(fixedDelay = 700)
	@SchedulerLock(name = Promise.SCHEDULER_LOCK_KEY)
	void schedulerLock() throws Exception {
		Promise promise = Promise.SCHEDULER_LOCK;
		String run = this.work.run(promise, null, null,
				(name) -> LockExtender.extendActiveLock(PromisedWork.LONG, Duration.ZERO));
		this.work.done(run, promise.key(), null, null);
	}

	@Scheduled(cron = "0 * * * * *")
	@SingleRunner(key = Promise.CATCH_UP_KEY, once = Once.PER_TICK, catchUp = "58s", maxRetries = 100)
	void catchUp() throws Exception {
		Promise promise = Promise.CATCH_UP;
		LockContext lock = LockContext.current().orElseThrow();
		Instant tick = lock.tick().orElseThrow();
		boolean failing = lock.attempt() == 1 && tick.getEpochSecond() / Promise.CATCH_UP_PERIOD.toSeconds() % 2 == 0;
		this.work.run(promise, tick, lock, (run) -> {
			this.last.set(run);
			PromisedWork.write(this.jdbc, this.work, promise, run);
			if (failing) {
				throw new PlannedFailure();
			}
		});
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		if (!event.key().name().equals(Promise.CATCH_UP_KEY)) {
			return;
		}
		String run = this.last.get();
		this.last.remove();
		if (run != null && event.failure() == null) {
			this.work.done(run, Promise.CATCH_UP.key(), event.tick(), null);
		}
		else if (run != null && event.failure() instanceof PlannedFailure) {
			this.work.rolledBack(run, Promise.CATCH_UP.key(), event.tick());
		}
	}

}
