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

package io.github.advisorylock.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Keeps keys from others for a time, which is what {@code lockAtLeastFor} is about: in
 * the ledger, where that outlives the lock and its holder. Without a ledger the lock
 * itself is kept, for as long as its holder lives.
 */
final class KeptKeys {

	private static final Log logger = LogFactory.getLog(KeptKeys.class);

	private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final Supplier<@Nullable RunLedger> ledger;

	private final AtomicBoolean warned = new AtomicBoolean();

	private volatile @Nullable Long missedNanos;

	/**
	 * Create it.
	 * @param ledger the ledger, {@code null} where there is none
	 */
	KeptKeys(Supplier<@Nullable RunLedger> ledger) {
		this.ledger = ledger;
	}

	/**
	 * Keep a key whose lock the caller has.
	 * @param time how long, from now, zero to promise nothing
	 * @param own what the caller has promised before for the same lock
	 * @return what is promised, or {@code null} if somebody else has kept the key
	 */
	@Nullable Promise keep(AdvisoryLockKey key, Duration time, @Nullable Promise own) {
		RunLedger ledger = isMissed() ? null : this.ledger.get();
		if (ledger != null) {
			try {
				Instant until = ledger.keep(key, time, (own != null) ? own.until() : null);
				return (until != null) ? new Promise(until, System.nanoTime(), !time.isZero()) : null;
			}
			catch (AdvisoryLockConfigurationException ex) {
				this.missedNanos = System.nanoTime();
				logger.debug("There is no ledger to keep locks in: " + ex.getMessage());
			}
		}
		if (!time.isZero() && !this.warned.getAndSet(true)) {
			logger.warn(notDurable("'" + key + "' and others"));
		}
		return new Promise(null, System.nanoTime() + time.toNanos(), !time.isZero());
	}

	/**
	 * Tell whether keys can be kept, before anybody wants that. Which times code will ask
	 * for is not known, so that it is no failure if they can't.
	 */
	void check() {
		String whose = "locks that code takes from the LockProvider";
		RunLedger ledger = this.ledger.get();
		try {
			if (ledger != null) {
				ledger.check();
				return;
			}
		}
		catch (AdvisoryLockConfigurationException ex) {
			logger.debug("There is no ledger to keep locks in: " + ex.getMessage());
		}
		catch (DataAccessException ex) {
			logger.warn(notKnown(whose, ex));
			logger.debug("The ledger could not be checked", ex);
			return;
		}
		logger.info(notDurable(whose));
	}

	/**
	 * The tables may come while the application runs.
	 */
	private boolean isMissed() {
		Long missed = this.missedNanos;
		return missed != null && System.nanoTime() - missed < PATIENCE_NANOS;
	}

	/**
	 * Return what to tell of {@code lockAtLeastFor} without a ledger.
	 * @param whose what it is of
	 */
	static String notDurable(String whose) {
		return "'lockAtLeastFor' of " + whose + " holds only as long as this instance lives, and keeps the lock until "
				+ "then: there are no tables of the ledger; set 'advisory-lock.ledger.initialize-schema' to 'always', or "
				+ "run its script, and leave 'advisory-lock.ledger.enabled' alone";
	}

	/**
	 * Return what to tell of {@code lockAtLeastFor} when the database can't be asked.
	 * @param whose what it is of
	 * @param failure what happened
	 */
	static String notKnown(String whose, DataAccessException failure) {
		return "Whether 'lockAtLeastFor' of " + whose + " can be kept is not known yet, the database can't be asked ("
				+ JdbcUrl.redact(String.valueOf(failure.getMessage())) + ")";
	}

	/**
	 * That a key is kept.
	 *
	 * @param until until when, as the ledger has it, {@code null} where that knows
	 * nothing of it
	 * @param nanos until when the lock itself is to be kept, by the clock of the JVM
	 * @param made whether anything was promised
	 */
	record Promise(@Nullable Instant until, long nanos, boolean made) {

		/**
		 * Return for how long the lock itself is to be kept from now on.
		 * @return the time in nanoseconds, zero or less if not at all
		 */
		long remaining() {
			return this.nanos - System.nanoTime();
		}

	}

}
