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
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.integration.AdvisoryLockIntegrationAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration;
import io.github.advisorylock.shedlock.AdvisoryLockShedLockAutoConfiguration;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.thread.Threading;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * This library, with all that it promises: ticks and deliveries once in both scopes, a
 * job at a time in scope {@code SESSION}, a tick without a ledger, a leader, and each
 * {@link Promise}.
 */
final class AdvisoryLockContestant implements Contestant {

	/**
	 * Has its effect, and needs a lock for it, as work does that changes a table.
	 */
	static final String EFFECT = "INSERT INTO effect (job, tick, token, run, instance) SELECT ?, ?, ?, ?, ? "
			+ "FROM (SELECT pg_advisory_xact_lock(4712, pg_backend_pid())) own";

	private @Nullable ConfigurableApplicationContext context;

	@Override
	public void start(ContestantSettings settings, Work work) {
		this.context = new SpringApplicationBuilder(Jobs.class).web(WebApplicationType.NONE).initializers((context) -> {
			context.getEnvironment().getSystemProperties().put("advisory-lock.instance", settings.instance());
			context.getBeanFactory().registerSingleton("settings", settings);
			context.getBeanFactory().registerSingleton("work", work);
		})
			.properties(Map.of("spring.application.name", "faults", "spring.main.banner-mode", "off",
					"spring.datasource.url", settings.url(), "spring.datasource.username", settings.user(),
					"spring.datasource.password", settings.password(), "spring.datasource.hikari.maximum-pool-size", 8,
					"spring.datasource.hikari.connection-timeout", 3000, "advisory-lock.ledger.initialize-schema",
					"always", "spring.task.scheduling.pool.size", 8))
			.run();
	}

	@Override
	public void close() {
		if (this.context != null) {
			this.context.close();
		}
	}

	/**
	 * The jobs.
	 */
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	@Import({ AnnotatedWork.class, OperatedWork.class, Operator.class, PromisedWork.class, VersionedWork.class,
			VersionedWork.Next.class })
	@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AdvisoryLockIntegrationAutoConfiguration.class,
			AdvisoryLockLedgerAutoConfiguration.class, AdvisoryLockShedLockAutoConfiguration.class,
			AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
			TaskSchedulingAutoConfiguration.class, TransactionAutoConfiguration.class })
	@SpringBootConfiguration(proxyBeanMethods = false)
	static class Jobs implements SmartLifecycle {

		private final AdvisoryLockOperations operations;

		private final JdbcTemplate jdbc;

		private final RecordedWork work;

		private final Duration period;

		private final boolean virtualThreads;

		/**
		 * The run of an annotated method that has come to its end on this thread.
		 */
		private final ThreadLocal<String> last = new ThreadLocal<>();

		private final Map<Thread, Boolean> callers = new ConcurrentHashMap<>();

		private volatile boolean running;

		Jobs(AdvisoryLockOperations operations, JdbcTemplate jdbc, RecordedWork work, ContestantSettings settings,
				Environment environment) {
			this.operations = operations;
			this.jdbc = jdbc;
			this.work = work;
			this.period = settings.period();
			this.virtualThreads = Threading.VIRTUAL.isActive(environment);
		}

		@Scheduled(cron = "*/3 * * * * *")
		@SingleRunner(key = Job.REMEMBERED)
		void remembered() throws Exception {
			work(Job.REMEMBERED, 500, (run) -> {
			});
		}

		@Scheduled(fixedDelay = 300)
		@SingleRunner(key = Job.SESSION, scope = LockScope.SESSION)
		void session() throws Exception {
			work(Job.SESSION, 700, (run) -> {
			});
		}

		@Scheduled(fixedDelay = 100)
		@LeaderOnly("role")
		void lead() throws Exception {
			work(Job.LEADER, 300, (run) -> {
			});
		}

		@Override
		public void start() {
			this.running = true;
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("caller-");
			executor.setVirtualThreads(this.virtualThreads);
			for (Job job : Job.values()) {
				executor.execute(() -> call(job));
			}
		}

		@Override
		public void stop() {
			this.running = false;
			while (!this.callers.isEmpty()) {
				pause(20);
			}
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		/**
		 * Has each tick executed, as somebody who delivers again until he is told that it
		 * was.
		 */
		private void call(Job job) {
			this.callers.put(Thread.currentThread(), true);
			TreeSet<Long> open = new TreeSet<>();
			long last = Job.due(this.period);
			while (this.running) {
				long now = Job.due(this.period);
				for (long number = Math.max(last + 1, now - Job.PATIENCE); number <= now; number++) {
					open.add(number);
				}
				last = Math.max(last, now);
				open.removeIf((number) -> number < now - Job.PATIENCE);
				for (Long number : open.toArray(new Long[0])) {
					if (this.running && isExecuted(job, number)) {
						open.remove(number);
					}
				}
				pause(150);
			}
			this.callers.remove(Thread.currentThread());
		}

		private boolean isExecuted(Job job, long number) {
			Instant tick = Instant.EPOCH.plus(this.period.multipliedBy(number));
			LockRequest request = LockRequest.of(job.key(number)).scope(job.scope());
			try {
				LockResult<String> result = this.operations.execute(
						job.isTick() ? request.oncePerTick(tick) : request.oncePerKey(),
						(lock) -> work(job.key(number), tick, 400, lock));
				this.work.tried(job.key(number), tick);
				String run = result.value();
				if (run != null) {
					this.work.done(run, job.key(number), tick, null);
				}
				return result.outcome() == LockOutcome.EXECUTED || result.outcome() == LockOutcome.ALREADY_RAN;
			}
			catch (Exception ex) {
				Thread.interrupted();
				return false;
			}
		}

		private String work(String key, Instant tick, long length, LockContext lock) throws Exception {
			long token = lock.fencingToken().orElseThrow();
			return this.work.run(key, tick, token, Duration.ofMillis(length), lock::isHeld,
					(run) -> this.jdbc.update(EFFECT, (insert) -> this.work.bind(insert, key, tick, token, run)));
		}

		private void work(String key, long length, RecordedWork.Effect effect) throws Exception {
			LockContext lock = LockContext.current().orElseThrow();
			Long token = lock.fencingToken().isPresent() ? lock.fencingToken().getAsLong() : null;
			this.last.set(this.work.run(key, lock.tick().orElse(null), token, Duration.ofMillis(length), lock::isHeld,
					effect));
		}

		/**
		 * A run of an annotated method counts as executed once its lock was released in
		 * order.
		 */
		@EventListener
		void finished(SingleRunnerFinishedEvent event) {
			if (AnnotatedWork.KEYS.contains(event.key().name()) || OperatedJob.isRecorded(event.key().name())) {
				return;
			}
			String run = this.last.get();
			this.last.remove();
			if (run != null && event.failure() == null) {
				this.work.done(run, event.key().name(), event.tick(), null);
			}
		}

		private static void pause(long milliseconds) {
			try {
				Thread.sleep(milliseconds);
			}
			catch (InterruptedException ex) {
				// meant for a run that has ended
			}
		}

	}

}
