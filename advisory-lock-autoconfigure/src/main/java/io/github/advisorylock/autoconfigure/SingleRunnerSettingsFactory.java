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
import java.util.Map;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Turns properties into settings, and refuses values that can't be meant.
 */
final class SingleRunnerSettingsFactory {

	private static final String PREFIX = "advisory-lock.";

	private static final Pattern TABLE_PREFIX = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9-]+");

	private static final Duration LONGEST = Duration.ofDays(36_500);

	private final AdvisoryLockProperties properties;

	private final Environment environment;

	SingleRunnerSettingsFactory(AdvisoryLockProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
	}

	SingleRunnerSettings create(AdvisoryLockKeyFactory keyFactory) {
		Map<String, SingleRunnerSettings.Job> jobs = new LinkedHashMap<>();
		this.properties.getJobs().forEach((key, job) -> {
			Duration waitFor = job.getWaitFor();
			if (waitFor != null) {
				checkNotNegative("jobs" + element(key) + ".wait-for", waitFor);
			}
			checkPositive("jobs" + element(key) + ".min-interval", job.getMinInterval());
			checkPositive("jobs" + element(key) + ".catch-up", job.getCatchUp());
			// what is switched off can't be paused
			boolean paused = job.isPaused() && this.properties.isEnabled();
			jobs.put(key, new SingleRunnerSettings.Job(paused, job.getScope(), waitFor, job.getMinInterval(),
					job.getCatchUp()));
		});
		checkNotNegative("wait-for", this.properties.getWaitFor());
		checkSession(this.properties.getSession());
		checkLedger(this.properties.getLedger());
		if (this.properties.getMaxHeldLocks() < 1) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + "max-held-locks",
					this.properties.getMaxHeldLocks(), "At least one lock must be possible.");
		}
		return new SingleRunnerSettings(namespace(), keyFactory, this.properties.getWaitFor(),
				this.properties.getLedger().use(), jobs);
	}

	private String namespace() {
		String configured = this.properties.getNamespace();
		String name = "spring.application.name";
		String namespace = (configured != null) ? configured : this.environment.getProperty(name, "");
		if (namespace.indexOf('/') >= 0) {
			throw new InvalidConfigurationPropertyValueException((configured != null) ? PREFIX + "namespace" : name,
					namespace, "A namespace of advisory locks must not contain a slash; set '" + PREFIX
							+ "namespace' to one without.");
		}
		return namespace;
	}

	private static String element(String key) {
		return PLAIN.matcher(key).matches() ? "." + key : "[" + key + "]";
	}

	private static void checkSession(AdvisoryLockProperties.Session session) {
		checkCountable("session.heartbeat", session.getHeartbeat());
		checkCountable("session.dead-client-timeout", session.getDeadClientTimeout());
		if (session.getHeartbeat().toMillis() < 1) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + "session.heartbeat", session.getHeartbeat(),
					"The heartbeat must be a millisecond or more.");
		}
		if (session.getHeartbeat().compareTo(session.getDeadClientTimeout()) >= 0) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + "session.heartbeat", session.getHeartbeat(),
					"The heartbeat must be shorter than '" + PREFIX + "session.dead-client-timeout', which is "
							+ session.getDeadClientTimeout() + ".");
		}
	}

	private static void checkLedger(AdvisoryLockProperties.Ledger ledger) {
		checkPositive("ledger.remember-keys", ledger.getRememberKeys());
		checkPositive("ledger.keep-runs.age", ledger.getKeepRuns().getAge());
		if (ledger.getKeepRuns().getCount() < 1) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + "ledger.keep-runs.count",
					ledger.getKeepRuns().getCount(), "At least one run must be kept.");
		}
		if (!TABLE_PREFIX.matcher(ledger.getTablePrefix()).matches()) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + "ledger.table-prefix",
					ledger.getTablePrefix(),
					"A prefix is made of letters, digits and underscores, with a schema and a dot before it or not.");
		}
	}

	/**
	 * Times are counted in nanoseconds, of which a number has room for 292 years.
	 */
	private static void checkCountable(String name, @Nullable Duration duration) {
		if (duration != null && duration.abs().compareTo(LONGEST) > 0) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + name, duration,
					"The time must be no more than " + LONGEST.toDays() + " days.");
		}
	}

	private static void checkPositive(String name, @Nullable Duration duration) {
		checkCountable(name, duration);
		if (duration != null && (duration.isNegative() || duration.isZero())) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + name, duration,
					"The time must be more than zero.");
		}
	}

	private static void checkNotNegative(String name, @Nullable Duration duration) {
		checkCountable(name, duration);
		if (duration == null || duration.isNegative()) {
			throw new InvalidConfigurationPropertyValueException(PREFIX + name, duration,
					"The time to wait for a lock must be zero or more.");
		}
	}

}
