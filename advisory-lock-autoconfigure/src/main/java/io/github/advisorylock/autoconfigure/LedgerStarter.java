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
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.ledger.LedgerCapacity;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * Prepares the ledger at start-up if anything uses it.
 */
final class LedgerStarter {

	private static final Log logger = LogFactory.getLog(LedgerStarter.class);

	private final PostgresAdvisoryLockLedger ledger;

	private final LedgerMethods methods;

	private final AdvisoryLockProperties.Ledger properties;

	LedgerStarter(PostgresAdvisoryLockLedger ledger, LedgerMethods methods, AdvisoryLockProperties.Ledger properties) {
		this.ledger = ledger;
		this.methods = methods;
		this.properties = properties;
	}

	/**
	 * Prepare the ledger. Leaves that to the first run where the database can't be
	 * reached for now; what the doctor thinks of that was said before.
	 */
	void start() {
		List<SingleRunnerMethod> recorded = this.methods.recorded();
		if (recorded.isEmpty() && !Boolean.TRUE.equals(this.properties.getEnabled())) {
			return;
		}
		recorded.forEach(LedgerStarter::checkCapacity);
		recorded.forEach(this::checkRemembered);
		try {
			this.ledger.prepare();
		}
		catch (DataAccessResourceFailureException ex) {
			logger.warn("The ledger of advisory locks could not be prepared yet", ex);
		}
	}

	private static void checkCapacity(SingleRunnerMethod method) {
		AdvisoryLockKey key = method.fixedKey();
		String excess = (key != null) ? LedgerCapacity.findExcess(key) : null;
		if (excess != null) {
			throw new InvalidSingleRunnerException(method.beanName(), method.method(),
					"is unusable: attribute " + excess, "Shorten the key or its namespace.", null);
		}
	}

	/**
	 * The last start under a key with arguments is forgotten after a while.
	 */
	private void checkRemembered(SingleRunnerMethod method) {
		Duration minInterval = method.operation().ledger().minInterval();
		Duration remembered = this.properties.getRememberKeys();
		if (method.fixedKey() == null && minInterval != null && minInterval.compareTo(remembered) > 0) {
			throw new InvalidSingleRunnerException(method.beanName(), method.method(),
					"is unusable: attribute 'minInterval' is longer than keys with arguments are remembered, "
							+ remembered,
					"Raise 'advisory-lock.ledger.remember-keys' to " + minInterval + " at least.", null);
		}
	}

}
