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
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Does the work of each {@link Promise} that is made to an annotated method.
 */
class AnnotatedWork {

	/**
	 * The keys of methods that are guarded by this library's annotation.
	 */
	static final Set<String> KEYS = Set.of(Promise.CATCH_UP_KEY, Promise.RETRIED_KEY, Promise.RATE_KEY,
			Promise.DELAY_KEY);

	private final JdbcTemplate jdbc;

	private final RecordedWork work;

	/**
	 * The run of the method on this thread.
	 */
	private final ThreadLocal<String> last = new ThreadLocal<>();

	private int rates;

	private int delays;

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
		work(promise, tick,
				lock.attempt() == 1 && tick.getEpochSecond() / Promise.CATCH_UP_PERIOD.toSeconds() % 2 == 0);
	}

	@Scheduled(cron = "30 * * * * *")
	@SingleRunner(key = Promise.RETRIED_KEY, once = Once.PER_TICK, catchUp = "58s", maxRetries = Promise.MAX_RETRIES)
	void retried() throws Exception {
		LockContext lock = LockContext.current().orElseThrow();
		work(Promise.RETRIED, lock.tick().orElseThrow(), true);
	}

	@Scheduled(fixedRate = 6, timeUnit = TimeUnit.SECONDS)
	@SingleRunner(key = Promise.RATE_KEY)
	void rate() throws Exception {
		work(Promise.RATE, null, ++this.rates % 3 == 0);
	}

	@Scheduled(fixedDelay = 6, timeUnit = TimeUnit.SECONDS)
	@SingleRunner(key = Promise.DELAY_KEY, scope = LockScope.SESSION)
	void delay() throws Exception {
		work(Promise.DELAY, null, ++this.delays % 3 == 0);
	}

	private void work(Promise promise, @Nullable Instant tick, boolean failing) throws Exception {
		this.work.run(promise, tick, LockContext.current().orElseThrow(), (run) -> {
			this.last.set(run);
			PromisedWork.write(this.jdbc, this.work, promise, run);
			if (failing) {
				throw new PlannedFailure();
			}
		});
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		String key = event.key().name();
		if (!KEYS.contains(key)) {
			return;
		}
		String run = this.last.get();
		this.last.remove();
		if (run != null && event.failure() == null) {
			this.work.done(run, key, event.tick(), null);
		}
		else if (run != null && event.failure() instanceof PlannedFailure) {
			this.work.rolledBack(run, key, event.tick());
		}
	}

}
