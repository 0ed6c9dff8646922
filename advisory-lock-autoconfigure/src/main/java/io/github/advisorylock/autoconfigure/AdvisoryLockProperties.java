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

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerSettings.LedgerUse;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.WhenLost;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Properties of advisory locks.
 *
 * @since 0.1.0
 */
@ConfigurationProperties("advisory-lock")
public class AdvisoryLockProperties {

	/**
	 * Whether methods and programmatic work run under locks. Without, they run unguarded
	 * on every instance.
	 */
	private boolean enabled = true;

	/**
	 * What keeps keys apart from those of other applications in the same database. Must
	 * not contain a slash. By default the value of 'spring.application.name'.
	 */
	private @Nullable String namespace;

	/**
	 * How PostgreSQL is asked for a key.
	 */
	private KeyFormat keyFormat = KeyFormat.SHA256;

	/**
	 * Time to wait for a lock that is busy, where neither annotation nor request say so.
	 */
	private Duration waitFor = Duration.ZERO;

	/**
	 * Name of the bean that manages the transactions locks live in. Needed when there are
	 * several transaction managers and none of them is primary.
	 */
	private @Nullable String transactionManager;

	/**
	 * Largest number of locks that this application holds at a time. PostgreSQL keeps the
	 * locks of all its databases in one table of fixed size, and other queries fail when
	 * it is full.
	 */
	private int maxHeldLocks = 1000;

	/**
	 * Overrides of single annotations, by the text of their key.
	 */
	private final Map<String, Job> jobs = new LinkedHashMap<>();

	private final Session session = new Session();

	private final Ledger ledger = new Ledger();

	public boolean isEnabled() {
		return this.enabled;
	}

	public void setEnabled(boolean enabled) {
		this.enabled = enabled;
	}

	public @Nullable String getNamespace() {
		return this.namespace;
	}

	public void setNamespace(@Nullable String namespace) {
		this.namespace = namespace;
	}

	public KeyFormat getKeyFormat() {
		return this.keyFormat;
	}

	public void setKeyFormat(KeyFormat keyFormat) {
		this.keyFormat = keyFormat;
	}

	public Duration getWaitFor() {
		return this.waitFor;
	}

	public void setWaitFor(Duration waitFor) {
		this.waitFor = waitFor;
	}

	public @Nullable String getTransactionManager() {
		return this.transactionManager;
	}

	public void setTransactionManager(@Nullable String transactionManager) {
		this.transactionManager = transactionManager;
	}

	public int getMaxHeldLocks() {
		return this.maxHeldLocks;
	}

	public void setMaxHeldLocks(int maxHeldLocks) {
		this.maxHeldLocks = maxHeldLocks;
	}

	public Map<String, Job> getJobs() {
		return this.jobs;
	}

	public Session getSession() {
		return this.session;
	}

	public Ledger getLedger() {
		return this.ledger;
	}

	/**
	 * How PostgreSQL is asked for a key.
	 */
	public enum KeyFormat {

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
	 */
	public static class Job {

		/**
		 * Whether the method does not run at all for now.
		 */
		private boolean paused;

		/**
		 * How long the lock lives.
		 */
		private @Nullable LockScope scope;

		/**
		 * Time to wait for a lock that is busy.
		 */
		private @Nullable Duration waitFor;

		/**
		 * Shortest time from the start of a run to that of the next.
		 */
		private @Nullable Duration minInterval;

		/**
		 * How old a missed tick may be to be run when an instance comes up.
		 */
		private @Nullable Duration catchUp;

		public boolean isPaused() {
			return this.paused;
		}

		public void setPaused(boolean paused) {
			this.paused = paused;
		}

		public @Nullable LockScope getScope() {
			return this.scope;
		}

		public void setScope(@Nullable LockScope scope) {
			this.scope = scope;
		}

		public @Nullable Duration getWaitFor() {
			return this.waitFor;
		}

		public void setWaitFor(@Nullable Duration waitFor) {
			this.waitFor = waitFor;
		}

		public @Nullable Duration getMinInterval() {
			return this.minInterval;
		}

		public void setMinInterval(@Nullable Duration minInterval) {
			this.minInterval = minInterval;
		}

		public @Nullable Duration getCatchUp() {
			return this.catchUp;
		}

		public void setCatchUp(@Nullable Duration catchUp) {
			this.catchUp = catchUp;
		}

	}

	/**
	 * The tables that remember runs.
	 */
	public static class Ledger {

		/**
		 * Whether every method with a fixed key is recorded, or none at all. By default
		 * those methods are that ask for something only the ledger knows.
		 */
		private @Nullable Boolean enabled;

		/**
		 * Whether the tables are created at start-up if they are missing. A PostgreSQL
		 * does not count as embedded.
		 */
		private DatabaseInitializationMode initializeSchema = DatabaseInitializationMode.EMBEDDED;

		/**
		 * What the names of the tables start with. May name a schema, with a dot.
		 */
		private String tablePrefix = "advisory_lock_";

		/**
		 * Time for which a completed key is remembered.
		 */
		private Duration rememberKeys = Duration.ofDays(7);

		private final KeepRuns keepRuns = new KeepRuns();

		public @Nullable Boolean getEnabled() {
			return this.enabled;
		}

		public void setEnabled(@Nullable Boolean enabled) {
			this.enabled = enabled;
		}

		public DatabaseInitializationMode getInitializeSchema() {
			return this.initializeSchema;
		}

		public void setInitializeSchema(DatabaseInitializationMode initializeSchema) {
			this.initializeSchema = initializeSchema;
		}

		public String getTablePrefix() {
			return this.tablePrefix;
		}

		public void setTablePrefix(String tablePrefix) {
			this.tablePrefix = tablePrefix;
		}

		public Duration getRememberKeys() {
			return this.rememberKeys;
		}

		public void setRememberKeys(Duration rememberKeys) {
			this.rememberKeys = rememberKeys;
		}

		public KeepRuns getKeepRuns() {
			return this.keepRuns;
		}

		LedgerUse use() {
			return (this.enabled == null) ? LedgerUse.ON_DEMAND : this.enabled ? LedgerUse.ALWAYS : LedgerUse.OFF;
		}

		/**
		 * How much of the history is kept.
		 */
		public static class KeepRuns {

			/**
			 * Time for which a run is kept in the history.
			 */
			private Duration age = Duration.ofDays(30);

			/**
			 * Largest number of runs of one key that are kept in the history.
			 */
			private int count = 1000;

			public Duration getAge() {
				return this.age;
			}

			public void setAge(Duration age) {
				this.age = age;
			}

			public int getCount() {
				return this.count;
			}

			public void setCount(int count) {
				this.count = count;
			}

		}

	}

	/**
	 * The connection that carries session locks.
	 */
	public static class Session {

		/**
		 * JDBC URL of the connection that carries session locks, to go around a pooler.
		 * By default that of the application's DataSource.
		 */
		private @Nullable String url;

		/**
		 * User of that connection. By default that of the application's DataSource.
		 */
		private @Nullable String username;

		/**
		 * Password of that connection. By default that of the application's DataSource.
		 */
		private @Nullable String password;

		/**
		 * Driver properties of that connection, such as 'sslmode' and 'sslrootcert'. They
		 * are added to those of the application's DataSource, and replace what has the
		 * same name there or in the URL.
		 */
		private final Map<String, String> properties = new LinkedHashMap<>();

		/**
		 * How often that connection is checked while it carries locks. Must be shorter
		 * than the dead client timeout.
		 */
		private Duration heartbeat = Duration.ofSeconds(2);

		/**
		 * Time within which the server is to notice that this application has vanished
		 * without closing its connection, and to release its locks.
		 */
		private Duration deadClientTimeout = Duration.ofSeconds(10);

		/**
		 * What happens to a thread that runs under a session lock when that lock is lost.
		 */
		private WhenLost whenLost = WhenLost.INTERRUPT;

		public @Nullable String getUrl() {
			return this.url;
		}

		public void setUrl(@Nullable String url) {
			this.url = url;
		}

		public @Nullable String getUsername() {
			return this.username;
		}

		public void setUsername(@Nullable String username) {
			this.username = username;
		}

		public @Nullable String getPassword() {
			return this.password;
		}

		public void setPassword(@Nullable String password) {
			this.password = password;
		}

		public Map<String, String> getProperties() {
			return this.properties;
		}

		public Duration getHeartbeat() {
			return this.heartbeat;
		}

		public void setHeartbeat(Duration heartbeat) {
			this.heartbeat = heartbeat;
		}

		public Duration getDeadClientTimeout() {
			return this.deadClientTimeout;
		}

		public void setDeadClientTimeout(Duration deadClientTimeout) {
			this.deadClientTimeout = deadClientTimeout;
		}

		public WhenLost getWhenLost() {
			return this.whenLost;
		}

		public void setWhenLost(WhenLost whenLost) {
			this.whenLost = whenLost;
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

		LockSessionSettings toSettings() {
			return new LockSessionSettings(this.heartbeat, this.deadClientTimeout, this.whenLost);
		}

	}

}
