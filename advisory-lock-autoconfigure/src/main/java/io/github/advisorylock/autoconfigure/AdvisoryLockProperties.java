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

package io.github.advisorylock.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.annotation.SingleRunnerSettings.LedgerUse;
import io.github.advisorylock.connection.SessionDataSource;
import io.github.advisorylock.database.TransactionManagers;
import io.github.advisorylock.interceptor.LedgerOperation.ResultFormat;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.leader.PostgresLeaderElection;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Properties of advisory locks. Says each default, and refuses values that can't be meant
 * when settings are made of them, by the name of the property.
 *
 * @param enabled Whether methods and programmatic work run under locks. Without, they run
 * unguarded on every instance.
 * @param namespace What keeps keys apart from those of other applications in the same
 * database. Must not contain a slash. By default the value of 'spring.application.name'.
 * @param instance Name of this instance, which no other one that lives has. By default
 * 'host:pid'. Must not contain an at sign.
 * @param keyFormat How PostgreSQL is asked for a key.
 * @param scope How long the locks of annotated methods live whose annotation does not say
 * SESSION. By default as long as a transaction.
 * @param waitFor Time to wait for a lock that is busy, where neither annotation nor
 * request say so.
 * @param rememberTicks Longest time for which a lock remembers that a tick was run, so
 * that an instance whose clock is late does not run it again. Half the time to the next
 * tick if that is shorter. Zero to remember neither ticks nor intervals.
 * @param spread By how much the call for a tick of a cron schedule begins later on
 * instances whose turn it is not, a twentieth of its period at most, so that all
 * instances share the work. Zero to have the earliest clock run all.
 * @param transactionManager Name of the bean that manages the transactions locks live in.
 * Needed when there are several transaction managers and none of them is primary.
 * @param maxHeldLocks Largest number of locks that this application holds at a time.
 * PostgreSQL keeps the locks of all its databases in one table of fixed size, and other
 * queries fail when it is full.
 * @param jobs Overrides of single annotations, by the text of their key.
 * @param session The connection that carries session locks.
 * @param ledger The tables that remember runs.
 * @param leader Leader roles.
 * @param databases What differs in a database besides the default one, by the name of its
 * transaction manager.
 * @param doctor What the doctor looks at.
 * @param page Is read by advisory-lock-page.
 * @param shedlock Is read by advisory-lock-shedlock.
 * @param test Is read by advisory-lock-test.
 */
@ConfigurationProperties(prefix = "advisory-lock", ignoreUnknownFields = false)
@Lazy
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public record AdvisoryLockProperties(@DefaultValue("true") boolean enabled, @Nullable String namespace,
		@Nullable String instance, @DefaultValue("sha256") KeyFormat keyFormat,
		@DefaultValue("transaction") LockScope scope, @DefaultValue("0") Duration waitFor,
		@DefaultValue("5m") Duration rememberTicks, @DefaultValue("50ms") Duration spread,
		@Nullable String transactionManager, @DefaultValue("1000") int maxHeldLocks,
		@DefaultValue Map<String, Job> jobs, @DefaultValue Session session, @DefaultValue Ledger ledger,
		@DefaultValue Leader leader, @DefaultValue Map<String, Database> databases,
		@NestedConfigurationProperty @DefaultValue DoctorProperties doctor, @DefaultValue Map<String, Object> page,
		@DefaultValue Map<String, Object> shedlock, @DefaultValue Map<String, Object> test) {

	/**
	 * What holds where nothing is set, so that nothing has to be bound.
	 */
	static final AdvisoryLockProperties NONE_SET = new AdvisoryLockProperties(true, null, null, KeyFormat.SHA256,
			LockScope.TRANSACTION, Duration.ZERO, Duration.ofMinutes(5), Duration.ofMillis(50), null, 1000, Map.of(),
			Session.NONE_SET,
			new Ledger(null, DatabaseInitializationMode.EMBEDDED, "advisory_lock_", Duration.ofDays(7),
					new Ledger.KeepRuns(Duration.ofDays(30), 1000), true),
			new Leader(0), Map.of(), DoctorProperties.NONE_SET, Map.of(), Map.of(), Map.of());

	static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("advisory-lock");

	private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9-]+");

	private static final Pattern INSTANCE = Pattern.compile("(?=.*\\S)[^@\\p{Cntrl}]{1,200}");

	private static final Pattern TABLE_PREFIX = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	private static final String WAIT = "to wait for a lock must be zero";

	private static final Duration LONGEST = Duration.ofDays(36_500);

	/**
	 * Return for how long a completed key is remembered, by 'ledger.remember-keys'.
	 * @return for how long
	 */
	public Duration rememberKeys() {
		return this.ledger.rememberKeys;
	}

	/**
	 * Return what holds for annotated methods.
	 */
	SingleRunnerSettings toSettings(AdvisoryLockKeyFactory keyFactory, Environment environment,
			Function<String, @Nullable Job> overrides, Function<ResolvableType, @Nullable ResultFormat> results) {
		this.jobs.forEach((key, job) -> job.toSettings(key, null));
		require(this.instance == null || INSTANCE.matcher(this.instance).matches(), "instance",
				String.valueOf(this.instance),
				"A name has from 1 to 200 characters, none of them an at sign or a control character, and is not blank.");
		require(this.maxHeldLocks >= 1, "max-held-locks", this.maxHeldLocks, "At least one lock must be possible.");
		this.session.toSettings();
		this.ledger.check();
		this.leader.check();
		this.doctor.checkedLongHold();
		notNegative("spread", this.spread, "must be zero, to have the earliest clock run all,");
		return new SingleRunnerSettings(namespace(environment), keyFactory, notNegative("wait-for", this.waitFor, WAIT),
				notNegative("remember-ticks", this.rememberTicks,
						"must be zero, to remember neither ticks nor intervals,"),
				this.ledger.use(), results, (key) -> {
					Job job = overrides.apply(key);
					Job known = (job != null) ? job : Job.NONE;
					return known.toSettings(key, (this.scope == LockScope.SESSION) ? this.scope : null);
				});
	}

	/**
	 * Return whether any of these properties is set, as far as can be told.
	 */
	static boolean isAnySet(Environment environment) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source.containsDescendantOf(PREFIX) != ConfigurationPropertyState.ABSENT) {
				return true;
			}
		}
		return false;
	}

	private String namespace(Environment environment) {
		String name = "spring.application.name";
		String result = (this.namespace != null) ? this.namespace : environment.getProperty(name, "");
		if (result.indexOf('/') >= 0) {
			throw new InvalidConfigurationPropertyValueException(
					(this.namespace != null) ? "advisory-lock.namespace" : name, result,
					"A namespace of advisory locks must not contain a slash; set 'advisory-lock.namespace' to one "
							+ "without.");
		}
		return result;
	}

	/**
	 * Return what is said of the database of a transaction manager, possibly nothing. A
	 * variable of the environment has lost capital letters of the name.
	 */
	Database database(String manager) {
		return this.databases.keySet()
			.stream()
			.filter((name) -> TransactionManagers.uniform(name).equals(TransactionManagers.uniform(manager)))
			.findFirst()
			.map(this.databases::get)
			.orElse(Database.NONE);
	}

	/**
	 * Return the names of the properties that are set for the connection of session
	 * locks.
	 * @param manager the name of the transaction manager of a database, {@code null} for
	 * the default one
	 */
	List<String> sessionPropertiesOf(@Nullable String manager) {
		return (manager != null) ? database(manager).configuredProperties(manager)
				: this.session.configuredProperties();
	}

	private static void require(boolean valid, String name, Object value, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock." + name, value, rule);
		}
	}

	private static @Nullable Integer between(String name, @Nullable Integer number, int least, int most) {
		require(number == null || (number >= least && number <= most), name, String.valueOf(number),
				"The number must be from " + least + " to " + most + ".");
		return number;
	}

	/**
	 * Times are counted in nanoseconds, of which a number has room for 292 years.
	 */
	private static Duration countable(String name, Duration duration) {
		require(duration.abs().compareTo(LONGEST) <= 0, name, duration,
				"The time must be no more than " + LONGEST.toDays() + " days.");
		return duration;
	}

	private static Duration positive(String name, Duration duration) {
		require(countable(name, duration).compareTo(Duration.ZERO) > 0, name, duration,
				"The time must be more than zero.");
		return duration;
	}

	private static Duration notNegative(String name, Duration duration, String rule) {
		require(!countable(name, duration).isNegative(), name, duration, "The time " + rule + " or more.");
		return duration;
	}

	/**
	 * How PostgreSQL is asked for a key.
	 */
	enum KeyFormat {

		/**
		 * One 64-bit number, from the SHA-256 of namespace and name.
		 */
		SHA256,

		/**
		 * Two 32-bit numbers, one from the SHA-256 of the namespace, one from that of the
		 * name.
		 */
		PAIR;

		AdvisoryLockKeyFactory factory() {
			return (this == PAIR) ? AdvisoryLockKeyFactory.pair() : AdvisoryLockKeyFactory.sha256();
		}

	}

	/**
	 * Overrides of one annotation.
	 *
	 * @param paused Whether the method does not run at all for now.
	 * @param scope How long the lock lives.
	 * @param waitFor Time to wait for a lock that is busy.
	 * @param minInterval Shortest time from the start of a run to that of the next.
	 * @param catchUp For how long any instance makes up for a tick that nobody has
	 * completed.
	 * @param maxRun Longest time that a run may take before it is told that its lock is
	 * lost.
	 * @param maxRetries How often a tick whose run failed is tried again.
	 * @param permits How many may run at a time, on all instances together: from 1 to 64.
	 */
	record Job(@DefaultValue("false") boolean paused, @Nullable LockScope scope, @Nullable Duration waitFor,
			@Nullable Duration minInterval, @Nullable Duration catchUp, @Nullable Duration maxRun,
			@Nullable Integer maxRetries, @Nullable Integer permits) {

		private static final Job NONE = new Job(false, null, null, null, null, null, null, null);

		/**
		 * Return these overrides.
		 * @param scope the scope where they set none, {@code null} for that of the
		 * annotation
		 */
		private SingleRunnerSettings.Job toSettings(String key, @Nullable LockScope scope) {
			String prefix = "jobs" + (PLAIN.matcher(key).matches() ? "." + key : "[" + key + "]");
			return new SingleRunnerSettings.Job(this.paused, (this.scope != null) ? this.scope : scope,
					(this.waitFor != null) ? notNegative(prefix + ".wait-for", this.waitFor, WAIT) : null,
					(this.minInterval != null) ? positive(prefix + ".min-interval", this.minInterval) : null,
					(this.catchUp != null) ? positive(prefix + ".catch-up", this.catchUp) : null,
					(this.maxRun != null) ? positive(prefix + ".max-run", this.maxRun) : null,
					between(prefix + ".max-retries", this.maxRetries, 0, Integer.MAX_VALUE),
					between(prefix + ".permits", this.permits, 1, AdvisoryLockKey.MAX_PERMITS));
		}

	}

	/**
	 * The connection that carries session locks.
	 *
	 * @param url JDBC URL of the connection that carries session locks, to go around a
	 * pooler. By default that of the application's DataSource.
	 * @param username User of that connection. By default that of the application's
	 * DataSource.
	 * @param password Password of that connection. By default that of the application's
	 * DataSource.
	 * @param properties Driver properties of that connection, such as 'sslmode' and
	 * 'sslrootcert'. They are added to those of the application's DataSource, and replace
	 * what has the same name there or in the URL.
	 * @param heartbeat How often that connection is checked while it carries locks. Must
	 * be shorter than the dead client timeout.
	 * @param deadClientTimeout Time within which the server is to notice that this
	 * application has vanished without closing its connection, and to release its locks.
	 * @param whenLost What happens to a thread that runs under a session lock when that
	 * lock is lost.
	 */
	public record Session(@Nullable String url, @Nullable String username, @Nullable String password,
			@DefaultValue Map<String, String> properties, @DefaultValue(HEARTBEAT + "s") Duration heartbeat,
			@DefaultValue(DEAD_CLIENT_TIMEOUT + "s") Duration deadClientTimeout,
			@DefaultValue("interrupt") WhenLost whenLost) {

		private static final int HEARTBEAT = 2;

		private static final int DEAD_CLIENT_TIMEOUT = 10;

		private static final Session NONE_SET = new Session(null, null, null, Map.of(), Duration.ofSeconds(HEARTBEAT),
				Duration.ofSeconds(DEAD_CLIENT_TIMEOUT), WhenLost.INTERRUPT);

		/**
		 * Return these alone. A pool is made in applications without locks, too: they
		 * bind no property if they set none.
		 */
		static Session of(Environment environment) {
			return isAnySet(environment) ? Binder.get(environment).bindOrCreate("advisory-lock.session", Session.class)
					: NONE_SET;
		}

		/**
		 * Return the names of those properties of the connection that are set.
		 */
		List<String> configuredProperties() {
			Map<String, @Nullable Object> settings = new LinkedHashMap<>();
			settings.put("advisory-lock.session.url", this.url);
			settings.put("advisory-lock.session.username", this.username);
			settings.put("advisory-lock.session.password", this.password);
			settings.put("advisory-lock.session.properties", this.properties.isEmpty() ? null : this.properties);
			return settings.keySet().stream().filter((name) -> settings.get(name) != null).toList();
		}

		SessionDataSource.Overrides overrides() {
			return new SessionDataSource.Overrides("advisory-lock.session", this.url, this.username, this.password,
					this.properties);
		}

		LockSessionSettings toSettings() {
			countable("session.heartbeat", this.heartbeat);
			countable("session.dead-client-timeout", this.deadClientTimeout);
			try {
				return new LockSessionSettings(this.heartbeat, this.deadClientTimeout, this.whenLost);
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidConfigurationPropertyValueException("advisory-lock.session.heartbeat", this.heartbeat,
						String.valueOf(ex.getMessage()));
			}
		}

		/**
		 * Tells no password.
		 */
		@Override
		public String toString() {
			return "Session" + configuredProperties();
		}

	}

	/**
	 * What differs in a database besides the default one.
	 *
	 * @param session The connection that carries session locks there.
	 */
	record Database(@DefaultValue Connection session) {

		private static final Database NONE = new Database(new Connection(null, null, null, Map.of()));

		SessionDataSource.Overrides overrides(String manager) {
			return new SessionDataSource.Overrides(prefix(manager), this.session.url, this.session.username,
					this.session.password, this.session.properties);
		}

		/**
		 * Return the names of those properties that are set.
		 */
		List<String> configuredProperties(String manager) {
			return this.equals(NONE) ? List.of() : List.of(prefix(manager));
		}

		private static String prefix(String manager) {
			return "advisory-lock.databases." + manager + ".session";
		}

		/**
		 * The connection that carries session locks in a database besides the default
		 * one.
		 *
		 * @param url JDBC URL of the connection that carries session locks, to go around
		 * a pooler. By default that of the database's DataSource.
		 * @param username User of that connection. By default that of the database's
		 * DataSource.
		 * @param password Password of that connection. By default that of the database's
		 * DataSource.
		 * @param properties Driver properties of that connection, added to those of the
		 * database's DataSource.
		 */
		record Connection(@Nullable String url, @Nullable String username, @Nullable String password,
				@DefaultValue Map<String, String> properties) {

			/**
			 * Tells no password.
			 */
			@Override
			public String toString() {
				return "Connection";
			}

		}

	}

	/**
	 * Leader roles.
	 *
	 * @param termsAbove Number that all terms of leaders are higher than: the highest
	 * term before the server began to count from a lower number, as after pg_upgrade. All
	 * instances need the same. It is added to what the server counts.
	 */
	record Leader(@DefaultValue("0") long termsAbove) {

		private void check() {
			require(this.termsAbove >= 0 && this.termsAbove <= PostgresLeaderElection.MOST_TERMS_ABOVE,
					"leader.terms-above", this.termsAbove,
					"The number must be from 0 to " + PostgresLeaderElection.MOST_TERMS_ABOVE + ".");
		}

	}

	/**
	 * The tables that remember runs.
	 *
	 * @param enabled Whether every method with a fixed key is recorded, or none at all.
	 * By default those methods are that ask for something only the ledger knows.
	 * @param initializeSchema Whether the tables are created at start-up if they are
	 * missing. A PostgreSQL does not count as embedded.
	 * @param tablePrefix What the names of the tables start with. May name a schema, with
	 * a dot.
	 * @param rememberKeys Time for which a completed key is remembered.
	 * @param keepRuns How much of the history is kept.
	 * @param instances Whether each instance says in the ledger that it is there, once a
	 * minute.
	 */
	record Ledger(@Nullable Boolean enabled, @DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
			@DefaultValue("advisory_lock_") String tablePrefix, @DefaultValue("7d") Duration rememberKeys,
			@DefaultValue KeepRuns keepRuns, @DefaultValue("true") boolean instances) {

		private static final boolean PRESENT = ClassUtils.isPresent(
				"io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger",
				AdvisoryLockProperties.class.getClassLoader());

		LedgerUse use() {
			if (!PRESENT || Boolean.FALSE.equals(this.enabled)) {
				return LedgerUse.OFF;
			}
			return (this.enabled != null) ? LedgerUse.ALWAYS : LedgerUse.ON_DEMAND;
		}

		private void check() {
			require(PRESENT || !Boolean.TRUE.equals(this.enabled), "ledger.enabled", true,
					"It needs 'advisory-lock-ledger' on the class path.");
			require(this.keepRuns.count >= 1, "ledger.keep-runs.count", this.keepRuns.count,
					"At least one run must be kept.");
			require(TABLE_PREFIX.matcher(this.tablePrefix).matches(), "ledger.table-prefix", this.tablePrefix,
					"A prefix is made of letters, digits and underscores, with a schema and a dot before it or not.");
			positive("ledger.keep-runs.age", this.keepRuns.age);
			positive("ledger.remember-keys", this.rememberKeys);
		}

		/**
		 * How much of the history is kept.
		 *
		 * @param age Time for which a run is kept in the history.
		 * @param count Largest number of runs of one key that are kept in the history.
		 */
		record KeepRuns(@DefaultValue("30d") Duration age, @DefaultValue("1000") int count) {

		}

	}

}
