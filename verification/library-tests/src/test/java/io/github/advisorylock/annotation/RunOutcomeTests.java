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

package io.github.advisorylock.annotation;

import java.io.IOException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.SettableTicker;
import io.github.advisorylock.testsupport.SqlState;
import io.github.advisorylock.testsupport.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for what a run in scope TRANSACTION counts as: what its transaction did, told
 * alike by log, event, meters, observation, history, tick, key and result. Effects are
 * counted from outside.
 */
class RunOutcomeTests {

	private static final String COMMITTED = ", and its transaction was committed";

	/**
	 * A tick of each of the schedules.
	 */
	private static final Instant TICK = LocalDate.now(ZoneOffset.UTC)
		.withDayOfYear(1)
		.atStartOfDay(ZoneOffset.UTC)
		.toInstant();

	private final ApplicationContextRunner runner = new SettableTicker().in(LockContextRunner.create())
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, MetricsAutoConfiguration.class,
				ObservationAutoConfiguration.class, AdvisoryLockMetricsAutoConfiguration.class))
		.withBean(SimpleMeterRegistry.class)
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=outcome_tests.ledger_")
		.withUserConfiguration(Beans.class);

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS outcome_tests CASCADE; CREATE SCHEMA outcome_tests; "
				+ "CREATE TABLE outcome_tests.effect (id text, number int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
	}

	@ParameterizedTest
	@EnumSource
	void allAreToldWhatTheTransactionDid(Place place) {
		SoftAssertions all = new SoftAssertions();
		this.runner.run((first) -> this.runner.run((second) -> {
			Instant tick = TICK;
			for (Mode mode : Mode.values()) {
				for (Ending ending : Ending.values()) {
					tick = tick.plusSeconds(1);
					check(all, first, second, new Case(place, mode, ending, place + "-" + mode + "-" + ending, tick));
				}
			}
		}));
		all.assertAll();
	}

	private void check(SoftAssertions all, ApplicationContext first, ApplicationContext second, Case current) {
		TestPostgres.execute("DELETE FROM outcome_tests.effect; DELETE FROM outcome_tests.ledger_run; "
				+ "UPDATE outcome_tests.ledger_job SET failures = 0");
		Watcher watcher = first.getBean(Watcher.class);
		watcher.events.clear();
		watcher.observed.clear();
		boolean success = current.ending() == Ending.RETURNS;
		boolean done = current.isDone();
		String outcome = success ? "executed" : "error";
		long before = current.executions(first, outcome);
		try (LogRecorder log = LogRecorder.of(LockLog.RUN, "DEBUG")) {
			all.assertThat(current.call(first) != null).as("%s: throws", current).isEqualTo(current.isThrown());
			all.assertThat(log.messages()).as("%s: log", current).singleElement().satisfies((line) -> {
				assertThat(line).startsWith(success ? "Ran '" : done ? "Run of '" : "Failed '");
				assertThat(line.contains(" ended with ") && line.contains(COMMITTED)).isEqualTo(done && !success);
			});
		}
		all.assertThat(effects()).as("%s: effects", current).isEqualTo(done ? 1 : 0);
		all.assertThat(watcher.events).as("%s: event", current).singleElement().satisfies((event) -> {
			assertThat(event.failure() == null).isEqualTo(success);
			assertThat(event.done()).isEqualTo(done);
		});
		all.assertThat(watcher.observed).as("%s: observation", current).containsExactly(outcome);
		all.assertThat(current.executions(first, outcome) - before).as("%s: meter", current).isOne();
		all.assertThat(current.lastSuccess(first) > 0).as("%s: last success", current).isEqualTo(success);
		if (current.isRecorded()) {
			all.assertThat(history())
				.as("%s: history", current)
				.containsExactly((success ? "EXECUTED" : "FAILED") + ((done && !success) ? COMMITTED : ""));
		}
		if (current.mode() == Mode.PER_TICK) {
			all.assertThat(current.tickInLedger()).as("%s: tick", current).isEqualTo(done ? "t f 0 t" : "f t 1 f");
		}
		Case next = new Case(current.place(), current.mode(), Ending.RETURNS, current.id(), current.tick());
		all.assertThat(next.call(second)).as("%s: next call", current).isNull();
		boolean waits = current.mode() == Mode.PER_TICK && !done;
		all.assertThat(effects())
			.as("%s: effects with that of the next call", current)
			.isEqualTo(waits ? 0 : (current.mode() == Mode.NONE && done) ? 2 : 1);
		if (current.mode() == Mode.PER_KEY) {
			all.assertThat(second.getBean(Watcher.class).result)
				.as("%s: result", current)
				.isEqualTo((done && !success) ? null : "result");
		}
	}

	@ParameterizedTest
	@CsvSource({ "ANNOTATION, CHECKED", "ANNOTATION, NO_ROLLBACK_FOR", "CALLER, UNCHECKED" })
	void keyHasOneCommittedEffectOfFourCallsOnTwoInstances(Place place, Ending ending) {
		this.runner.run((first) -> this.runner.run((second) -> {
			Case failing = new Case(place, Mode.PER_KEY, ending, "key", TICK);
			assertThat(failing.call(first)).hasMessage("expected");
			assertThat(failing.call(second)).isNull();
			assertThat(failing.call(first)).isNull();
			assertThat(failing.call(second)).isNull();
			assertThat(effects()).isOne();
			assertThat(history()).containsExactly("FAILED" + COMMITTED);
		}));
	}

	@Test
	void secondCallInTheSameTransactionFindsTheKeyUsedUp() {
		this.runner.run((context) -> {
			Case failing = new Case(Place.OWN, Mode.PER_KEY, Ending.UNCHECKED, "key", TICK);
			caller(context).executeWithoutResult((status) -> {
				assertThat(failing.call(context)).hasMessage("expected");
				assertThat(failing.call(context)).isNull();
			});
			assertThat(effects()).isOne();
			assertThat(history()).containsExactly("FAILED" + COMMITTED);
		});
	}

	@Test
	void runWhoseCallerRollsBackLaterIsNoSuccess() {
		this.runner.run((context) -> {
			Case good = new Case(Place.OWN, Mode.AUTO, Ending.RETURNS, "key", TICK);
			Watcher watcher = context.getBean(Watcher.class);
			caller(context).executeWithoutResult((status) -> {
				assertThat(good.call(context)).isNull();
				assertThat(watcher.events).as("nothing is told before the end is known").isEmpty();
				status.setRollbackOnly();
			});
			assertThat(watcher.events).singleElement().satisfies((event) -> {
				assertThat(event.failure()).hasMessageContainingAll("'PlainJobs.auto'", "'test/plain-AUTO'",
						"it returned, and its transaction was rolled back");
				assertThat(event.done()).isFalse();
			});
			assertThat(good.lastSuccess(context)).isNaN();
			assertThat(good.call(context)).isNull();
			assertThat(effects()).isOne();
		});
	}

	@Test
	void effectThatIsRolledBackToASavepointIsNotDone() {
		this.runner.run((context) -> {
			Case failing = new Case(Place.OWN, Mode.PER_KEY, Ending.UNCHECKED, "key", TICK);
			caller(context).executeWithoutResult((status) -> {
				Object savepoint = status.createSavepoint();
				assertThat(failing.call(context)).hasMessage("expected");
				status.rollbackToSavepoint(savepoint);
			});
			assertThat(context.getBean(Watcher.class).events).singleElement()
				.extracting(SingleRunnerFinishedEvent::done)
				.isEqualTo(false);
			assertThat(effects()).isZero();
			assertThat(new Case(Place.OWN, Mode.PER_KEY, Ending.RETURNS, "key", TICK).call(context)).isNull();
			assertThat(effects()).isOne();
		});
	}

	@ParameterizedTest
	@EnumSource
	void whatIsThrownAfterTheCommitIsNoFailureOfTheRun(Place place) {
		this.runner.run((first) -> this.runner.run((second) -> {
			Case good = new Case(place, Mode.AUTO, Ending.RETURNS, "key", TICK);
			assertThat(good.call(first, (current, parts) -> synchronize(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					throw new IllegalStateException("expected");
				}

			}))).hasMessage("expected");
			assertThat(first.getBean(Watcher.class).events).singleElement()
				.satisfies((event) -> assertThat(event.failure()).isNull());
			assertThat(good.call(second)).isNull();
			assertThat(effects()).isOne();
		}));
	}

	@Test
	void transactionsOfARunInScopeSessionAreNotKnownSoThatItsExceptionIsAFailure() {
		this.runner.run((context) -> {
			Watcher watcher = context.getBean(Watcher.class);
			watcher.work = () -> {
				throw new IOException("expected");
			};
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(IOException.class)
					.isThrownBy(() -> context.getBean(TransactionalJobs.class).session("key"))
					.withMessage("expected");
			}
			assertThat(effects()).isEqualTo(2);
			assertThat(history()).containsExactly("FAILED", "FAILED");
			assertThat(watcher.events).extracting(SingleRunnerFinishedEvent::done).containsExactly(false, false);
		});
	}

	private static int effects() {
		return Integer.parseInt(TestPostgres.query("SELECT count(*) FROM outcome_tests.effect").get(0));
	}

	/**
	 * Return how the runs ended, and what the text of their errors ends with.
	 */
	private static List<String> history() {
		return TestPostgres.query("SELECT outcome || CASE WHEN error LIKE 'ended with %" + COMMITTED + "' THEN '"
				+ COMMITTED + "' ELSE '' END FROM outcome_tests.ledger_run ORDER BY fencing_token");
	}

	private static TransactionTemplate caller(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static void synchronize(TransactionSynchronization synchronization) {
		TransactionSynchronizationManager.registerSynchronization(synchronization);
	}

	/**
	 * Whose transaction a run has.
	 */
	enum Place {

		OWN, ANNOTATION, CALLER

	}

	/**
	 * How often the work is to be done.
	 */
	enum Mode {

		AUTO, PER_TICK, PER_KEY, NONE

	}

	/**
	 * How the work and its transaction end. The last one is the one that succeeds.
	 */
	enum Ending {

		CHECKED((current, parts) -> {
			throw new IOException("expected");
		}),

		UNCHECKED((current, parts) -> {
			throw new IllegalStateException("expected");
		}),

		ERROR((current, parts) -> {
			throw new LinkageError("expected");
		}),

		NO_ROLLBACK_FOR((current, parts) -> {
			throw new UnsupportedOperationException("expected");
		}),

		ROLLBACK_FOR((current, parts) -> {
			throw new TimeoutException("expected");
		}),

		/**
		 * The caller does it in its own transaction.
		 */
		BY_HAND((current, parts) -> {
			if (current.place() == Place.ANNOTATION) {
				TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
			}
			else if (current.place() == Place.OWN) {
				parts.part.executeWithoutResult((status) -> status.setRollbackOnly());
			}
		}),

		BY_PART((current, parts) -> assertThatIllegalArgumentException()
			.isThrownBy(() -> parts.part.executeWithoutResult((status) -> {
				throw new IllegalArgumentException("part");
			}))
			.withMessage("part")),

		CONSTRAINT((current, parts) -> parts.jdbc.update("INSERT INTO outcome_tests.effect (number) VALUES (1), (1)")),

		BEFORE_COMMIT((current, parts) -> synchronize(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				throw new IllegalStateException("expected");
			}

		})),

		ABORTED((current, parts) -> assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> parts.jdbc.update("INSERT INTO nowhere VALUES (1)"))
			.extracting(SqlState::of)
			.isEqualTo("42P01")),

		CONNECTION_LOST((current, parts) -> {
			Integer process = parts.jdbc.queryForObject("SELECT pg_backend_pid()", Integer.class);
			synchronize(new TransactionSynchronization() {

				@Override
				public void beforeCompletion() {
					TestPostgres.execute("SELECT pg_terminate_backend(" + process + ", 5000)");
				}

			});
		}),

		RETURNS((current, parts) -> {
		});

		private final Work work;

		Ending(Work work) {
			this.work = work;
		}

	}

	@FunctionalInterface
	interface Work {

		void run(Case current, Parts parts) throws Exception;

	}

	@FunctionalInterface
	interface Body {

		void run() throws Exception;

	}

	/**
	 * One row of the table.
	 */
	record Case(Place place, Mode mode, Ending ending, String id, Instant tick) {

		boolean isDone() {
			return switch (this.ending) {
				case CHECKED, NO_ROLLBACK_FOR -> this.place != Place.OWN;
				case UNCHECKED, ERROR, ROLLBACK_FOR -> this.place == Place.CALLER;
				case RETURNS -> true;
				default -> false;
			};
		}

		boolean isThrown() {
			return this.ending != Ending.RETURNS && (this.ending != Ending.BY_HAND || this.place == Place.OWN);
		}

		boolean isRecorded() {
			return this.mode == Mode.PER_TICK || this.mode == Mode.PER_KEY;
		}

		/**
		 * Make the call as the place has it.
		 * @return what it throws, {@code null} for nothing
		 */
		@Nullable Throwable call(ApplicationContext context) {
			return call(context, this.ending.work);
		}

		@Nullable Throwable call(ApplicationContext context, Work work) {
			Watcher watcher = context.getBean(Watcher.class);
			watcher.work = () -> work.run(this, context.getBean(Parts.class));
			watcher.result = null;
			List<Throwable> thrown = new ArrayList<>();
			try {
				if (this.place == Place.CALLER) {
					caller(context).executeWithoutResult((status) -> {
						callJob(context, thrown);
						if (this.ending == Ending.BY_HAND) {
							status.setRollbackOnly();
						}
					});
				}
				else {
					callJob(context, thrown);
				}
			}
			catch (RuntimeException ex) {
				thrown.add(ex);
			}
			return thrown.isEmpty() ? null : thrown.get(0);
		}

		private void callJob(ApplicationContext context, List<Throwable> thrown) {
			Jobs jobs = (this.place == Place.ANNOTATION) ? context.getBean(TransactionalJobs.class)
					: context.getBean(PlainJobs.class);
			PlannedTime.run(this.tick, () -> {
				try {
					switch (this.mode) {
						case AUTO -> jobs.auto();
						case PER_TICK -> jobs.perTick();
						case PER_KEY -> context.getBean(Watcher.class).result = jobs.perKey(this.id);
						case NONE -> jobs.none();
					}
				}
				catch (Throwable ex) {
					thrown.add(ex);
				}
			});
		}

		private String template() {
			return ((this.place == Place.ANNOTATION) ? "transactional-" : "plain-") + this.mode
					+ ((this.mode == Mode.PER_KEY) ? ":#{#id}" : "");
		}

		long executions(ApplicationContext context, String outcome) {
			return context.getBean(MeterRegistry.class)
				.find("advisory.lock.execution")
				.tags("key", template(), "outcome", outcome)
				.timers()
				.stream()
				.mapToLong(Timer::count)
				.sum();
		}

		double lastSuccess(ApplicationContext context) {
			return context.getBean(MeterRegistry.class)
				.get("advisory.lock.last.success")
				.tag("key", template())
				.gauge()
				.value();
		}

		/**
		 * Return whether the tick is completed, whether it is open, how many runs have
		 * failed in a row, and whether there is no time for another attempt.
		 */
		String tickInLedger() {
			return TestPostgres
				.query("SELECT concat_ws(' ', coalesce(last_tick = '" + this.tick + "', false), coalesce(open_tick = '"
						+ this.tick
						+ "', false), failures, retry_at IS NULL) FROM outcome_tests.ledger_job WHERE key = '"
						+ template() + "'")
				.get(0);
		}

		@Override
		public String toString() {
			return this.id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Beans {

		@Bean
		Watcher watcher() {
			return new Watcher();
		}

		@Bean
		Parts parts(JdbcTemplate jdbc, PlatformTransactionManager manager) {
			return new Parts(jdbc, new TransactionTemplate(manager));
		}

		@Bean
		PlainJobs plainJobs(Watcher watcher, Parts parts) {
			return new PlainJobs(watcher, parts);
		}

		@Bean
		TransactionalJobs transactionalJobs(Watcher watcher, Parts parts) {
			return new TransactionalJobs(watcher, parts);
		}

	}

	/**
	 * Knows what the work is, and what is told of it.
	 */
	static class Watcher implements ObservationHandler<Observation.Context> {

		private final List<SingleRunnerFinishedEvent> events = new ArrayList<>();

		private final List<String> observed = new ArrayList<>();

		private Body work = () -> {
		};

		private @Nullable String result;

		@EventListener
		void on(SingleRunnerFinishedEvent event) {
			this.events.add(event);
		}

		@Override
		public void onStop(Observation.Context context) {
			this.observed.add((context.getError() != null) ? "error" : "executed");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	/**
	 * What the work does it with.
	 */
	record Parts(JdbcTemplate jdbc, TransactionTemplate part) {

		String run(Watcher watcher, String id) throws Exception {
			this.jdbc.update("INSERT INTO outcome_tests.effect (id) VALUES (?)", id);
			watcher.work.run();
			return "result";
		}

	}

	interface Jobs {

		void auto() throws Exception;

		void perTick() throws Exception;

		String perKey(String id) throws Exception;

		void none() throws Exception;

	}

	static class PlainJobs implements Jobs {

		private final Watcher watcher;

		private final Parts parts;

		PlainJobs(Watcher watcher, Parts parts) {
			this.watcher = watcher;
			this.parts = parts;
		}

		@Override
		@SingleRunner("plain-AUTO")
		@Scheduled(cron = "0 0 0 1 1 *", zone = "UTC")
		public void auto() throws Exception {
			this.parts.run(this.watcher, "auto");
		}

		@Override
		@SingleRunner(key = "plain-PER_TICK", once = Once.PER_TICK, catchUp = "400d", maxRetries = 3)
		@Scheduled(cron = "0 0 0 1 1 *", zone = "UTC")
		public void perTick() throws Exception {
			this.parts.run(this.watcher, "per-tick");
		}

		@Override
		@SingleRunner(key = "plain-PER_KEY:#{#id}", once = Once.PER_KEY, keepResult = true)
		public String perKey(String id) throws Exception {
			return this.parts.run(this.watcher, id);
		}

		@Override
		@SingleRunner(key = "plain-NONE", once = Once.NONE)
		public void none() throws Exception {
			this.parts.run(this.watcher, "none");
		}

	}

	@Transactional(noRollbackFor = UnsupportedOperationException.class, rollbackFor = TimeoutException.class)
	static class TransactionalJobs implements Jobs {

		private final Watcher watcher;

		private final Parts parts;

		TransactionalJobs(Watcher watcher, Parts parts) {
			this.watcher = watcher;
			this.parts = parts;
		}

		@Override
		@SingleRunner("transactional-AUTO")
		@Scheduled(cron = "0 0 0 1 1 *", zone = "UTC")
		public void auto() throws Exception {
			this.parts.run(this.watcher, "auto");
		}

		@Override
		@SingleRunner(key = "transactional-PER_TICK", once = Once.PER_TICK, catchUp = "400d", maxRetries = 3)
		@Scheduled(cron = "0 0 0 1 1 *", zone = "UTC")
		public void perTick() throws Exception {
			this.parts.run(this.watcher, "per-tick");
		}

		@Override
		@SingleRunner(key = "transactional-PER_KEY:#{#id}", once = Once.PER_KEY, keepResult = true)
		public String perKey(String id) throws Exception {
			return this.parts.run(this.watcher, id);
		}

		@Override
		@SingleRunner(key = "transactional-NONE", once = Once.NONE)
		public void none() throws Exception {
			this.parts.run(this.watcher, "none");
		}

		@SingleRunner(key = "session:#{#id}", scope = LockScope.SESSION, once = Once.PER_KEY)
		String session(String id) throws Exception {
			return this.parts.run(this.watcher, id);
		}

	}

}
