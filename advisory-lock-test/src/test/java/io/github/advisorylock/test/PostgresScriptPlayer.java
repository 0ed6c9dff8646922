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
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;

/**
 * Plays scripts on PostgreSQL. Time passes there by moving all that the ledger has into
 * the past. Each instance is an application with a user of its own: to kill it, or to
 * have the database away, the server ends its connections and accepts no more.
 */
final class PostgresScriptPlayer extends ScriptPlayer implements AutoCloseable {

	private static final String PREFIX = "script_";

	/**
	 * The last one is where an operator is.
	 */
	private final @Nullable Instance[] instances = new Instance[Script.INSTANCES + 1];

	private final List<Instance> gone = new ArrayList<>();

	private final List<CompletableFuture<Void>> closing = new ArrayList<>();

	private final List<CompletableFuture<Void>> stops = new ArrayList<>();

	private int users;

	private final SetClock clock = new SetClock();

	private Duration passed = Script.BEFORE;

	private Instant first = Instant.EPOCH;

	/**
	 * When a script would have begun, by what has passed since.
	 */
	private Instant from = Instant.EPOCH;

	@Override
	void begin() {
		for (int i = 0; i < this.instances.length; i++) {
			if (this.instances[i] == null) {
				start(i);
			}
		}
		this.passed = Script.BEFORE;
		this.from = Instant.now().truncatedTo(ChronoUnit.MILLIS).minus(this.passed);
		this.first = this.from;
	}

	/**
	 * What was killed is closed when its calls have ended: it can write nothing.
	 */
	@Override
	void end() {
		this.gone.forEach((instance) -> this.closing.add(CompletableFuture.runAsync(instance.context::close)));
		this.gone.clear();
	}

	@Override
	public void close() {
		this.closing.forEach((close) -> close.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join());
		for (Instance instance : this.instances) {
			if (instance != null) {
				instance.context.close();
			}
		}
	}

	private Instance instance(int number) {
		return Objects.requireNonNull(this.instances[number], "'instances' must have " + number);
	}

	@Override
	AdvisoryLockOperations operations(int instance) {
		return instance(instance).context.getBean(AdvisoryLockOperations.class);
	}

	@Override
	PlatformTransactionManager transactions(int instance) {
		return instance(instance).context.getBean(PlatformTransactionManager.class);
	}

	@Override
	Instant time(Duration tick, Script.Job job) {
		return (job.isOfLedger() ? this.from : this.first).plus(tick);
	}

	@Override
	void pass(Duration time) {
		this.passed = this.passed.plus(time);
		Instant from = Instant.now().truncatedTo(ChronoUnit.MILLIS).minus(this.passed);
		String by = " - INTERVAL '" + Duration.between(from, this.from).toMillis() + " ms'";
		this.clock.ahead += Math.max(0, Duration.between(from, this.from).toNanos());
		this.from = from;
		TestPostgres.execute("UPDATE " + PREFIX + "job SET first_seen_at = first_seen_at" + by
				+ ", last_tick = last_tick" + by + ", last_started_at = last_started_at" + by
				+ ", last_finished_at = last_finished_at" + by + ", open_tick = open_tick" + by
				+ ", retry_at = retry_at" + by + ", cancelled_at = cancelled_at" + by + "; UPDATE " + PREFIX
				+ "run SET tick = tick" + by + ", started_at = started_at" + by + ", finished_at = finished_at" + by);
		for (Instance instance : this.instances) {
			if (instance != null) {
				Awaitility.await().until(() -> !instance.remembersTooLong());
			}
		}
	}

	@Override
	void kill(int instance) {
		Instance killed = instance(instance);
		killed.setReachable(false);
		this.instances[instance] = null;
		this.gone.add(killed);
	}

	@Override
	void stop(int instance) {
		Instance stopped = instance(instance);
		Object ledger = stopped.context.getBean(AdvisoryLockLedger.class);
		this.stops.add(CompletableFuture.runAsync(stopped.context::close));
		Awaitility.await().until(() -> Boolean.TRUE.equals(ReflectionTestUtils.getField(ledger, "stopping")));
	}

	@Override
	void stopped(int instance) {
		this.stops.forEach((stop) -> stop.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join());
		this.stops.clear();
		this.instances[instance] = null;
	}

	@Override
	void start(int instance) {
		this.instances[instance] = new Instance("script_" + this.users++, this.clock);
	}

	@Override
	void loseSession(int instance) {
		instance(instance).loseSession(sessionRuns(instance));
	}

	private List<Call> sessionRuns(int instance) {
		return underWay().stream()
			.filter((call) -> call.step.number() == instance && scope(call) == LockScope.SESSION)
			.toList();
	}

	private static LockScope scope(Call call) {
		return Objects.requireNonNull(call.step.job()).scope();
	}

	@Override
	void databaseDown() {
		for (int i = 0; i < Script.INSTANCES; i++) {
			if (this.instances[i] != null) {
				instance(i).setReachable(false);
				sessionRuns(i).forEach(PostgresScriptPlayer::awaitLoss);
			}
		}
	}

	@Override
	void databaseUp() {
		for (int i = 0; i < Script.INSTANCES; i++) {
			if (this.instances[i] != null) {
				instance(i).setReachable(true);
				instance(i).awaitConnections();
			}
		}
	}

	/**
	 * The job is known, as that of a method is.
	 */
	@Override
	void pause(String key, boolean paused) {
		TestPostgres.execute("INSERT INTO " + PREFIX + "job (namespace, key) VALUES ('scripts', '" + key
				+ "') ON CONFLICT DO NOTHING");
		AdvisoryLockLedger ledger = instance(Script.INSTANCES).context.getBean(AdvisoryLockLedger.class);
		if (paused) {
			ledger.pause(key, "script");
		}
		else {
			ledger.resume(key, "script");
		}
	}

	@Override
	Instant reschedule(String key) {
		Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
		TestPostgres.execute("INSERT INTO " + PREFIX + "schedule (namespace, key, effective_at, changed_at) "
				+ "VALUES ('scripts', '" + key + "', '" + now + "', '" + now + "')");
		return now;
	}

	@Override
	void overrun(LockContext lock) {
		while (lock.isHeld()) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
		}
	}

	private static void awaitLoss(Call call) {
		LockContext lock = call.lock;
		if (lock != null) {
			Awaitility.await().until(() -> !lock.isHeld());
		}
	}

	/**
	 * An application with a user of its own.
	 */
	private static final class Instance {

		private final String user;

		private final ConfigurableApplicationContext context;

		private Instance(String user, LockScheduler.Ticker clock) {
			this.user = user;
			TestPostgres.execute("DROP ROLE IF EXISTS " + user + "; CREATE ROLE " + user + " SUPERUSER LOGIN PASSWORD '"
					+ user + "'");
			this.context = new SpringApplicationBuilder(ContractApplication.class).web(WebApplicationType.NONE)
				.initializers((context) -> context.addBeanFactoryPostProcessor((beans) -> beans
					.addBeanPostProcessor(new ThreadsByClock(clock, beans.getBeanProvider(LockInstance.class)))))
				.properties("spring.application.name=scripts", "spring.main.banner-mode=off",
						"spring.main.log-startup-info=false", "advisory-lock.ledger.initialize-schema=always",
						"advisory-lock.ledger.table-prefix=" + PREFIX, "advisory-lock.session.heartbeat=100ms",
						"spring.datasource.hikari.maximum-pool-size=6", "spring.datasource.hikari.minimum-idle=0",
						"spring.datasource.hikari.connection-timeout=250", "spring.datasource.url=" + url(user))
				.run();
		}

		private static String url(String user) {
			return TestPostgres.url()
				.replaceFirst("&password=[^&]*", "")
				.replaceFirst("user=[^&]*", "user=" + user + "&password=" + user);
		}

		/**
		 * Return whether a lock is held for a tick or an interval whose time is over.
		 */
		private boolean remembersTooLong() {
			return ticks().stream().anyMatch((tick) -> is(tick, "isOver"));
		}

		/**
		 * Return whether all ticks and intervals are locked whose time is not over.
		 */
		private boolean remembers() {
			return ticks().stream().allMatch((tick) -> is(tick, "isOver") || is(tick, "isLocked"));
		}

		private Collection<?> ticks() {
			Object at = this.context.getBean(PostgresAdvisoryLockTemplate.class);
			for (String field : List.of("sessionScope", "resources", "ticks", "ticks")) {
				at = Objects.requireNonNull(ReflectionTestUtils.getField(at, field), field);
			}
			return ((Map<?, ?>) at).values();
		}

		private static boolean is(Object tick, String question) {
			return Boolean.TRUE.equals(ReflectionTestUtils.invokeMethod(tick, question));
		}

		/**
		 * The pool would give out a dead connection that was used half a second ago.
		 */
		private void setReachable(boolean reachable) {
			TestPostgres.execute("ALTER ROLE " + this.user + (reachable ? " LOGIN" : " NOLOGIN"));
			if (!reachable) {
				terminate("true");
				this.context.getBean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
			}
		}

		private void terminate(String which) {
			String ours = "FROM pg_stat_activity WHERE usename = '" + this.user + "' AND " + which;
			List<String> pids = TestPostgres.query("SELECT pid " + ours);
			pids.forEach((pid) -> TestPostgres.execute("SELECT pg_terminate_backend(" + pid + ")"));
			Awaitility.await()
				.until(() -> pids.isEmpty() || TestPostgres
					.query("SELECT pid FROM pg_stat_activity WHERE pid IN (" + String.join(", ", pids) + ")")
					.isEmpty());
		}

		/**
		 * What the session remembers is there again with the next one.
		 */
		private void loseSession(List<Call> lost) {
			terminate("application_name LIKE 'al:scripts@%'");
			lost.forEach(PostgresScriptPlayer::awaitLoss);
			awaitConnections();
		}

		/**
		 * Neither the pool nor the session opens a connection as soon as one can be had.
		 */
		private void awaitConnections() {
			AdvisoryLockOperations operations = this.context.getBean(AdvisoryLockOperations.class);
			for (LockScope scope : LockScope.values()) {
				LockRequest request = LockRequest.of("connection of " + this.user).scope(scope);
				Awaitility.await()
					.ignoreExceptionsMatching(
							(ex) -> ex instanceof DataAccessException || ex instanceof TransactionException)
					.until(() -> operations.execute(request, (lock) -> true).outcome() == LockOutcome.EXECUTED);
			}
			Awaitility.await().until(this::remembers);
		}

	}

	/**
	 * A clock that can be set forward, by which locks remember.
	 */
	private static final class SetClock implements LockScheduler.Ticker {

		private volatile long ahead;

		@Override
		public long nanoTime() {
			return System.nanoTime() + this.ahead;
		}

	}

	/**
	 * Gives an application the clock.
	 */
	private record ThreadsByClock(LockScheduler.Ticker clock,
			ObjectProvider<LockInstance> instance) implements BeanPostProcessor {

		@Override
		public Object postProcessBeforeInitialization(Object bean, String name) {
			return (bean instanceof LockScheduler.Threads)
					? new LockScheduler.Threads(null, this.clock, this.instance.getObject()) : bean;
		}

	}

}
