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

import java.util.Optional;

import io.github.advisorylock.LockResult;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.WhenBusy;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

/**
 * An application for {@link AbstractLockContractTests}.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
		DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
		AdvisoryLockAutoConfiguration.class, AdvisoryLockLedgerAutoConfiguration.class,
		TestLocksAutoConfiguration.class })
@Import(ContractApplication.Jobs.class)
class ContractApplication {

	/**
	 * Annotated methods.
	 */
	static class Jobs {

		@SingleRunner("contract-skipping")
		void skip() {
		}

		@SingleRunner("contract-finding")
		Optional<String> find() {
			return Optional.of("found");
		}

		@SingleRunner("contract-telling")
		LockResult<String> tell() {
			return LockResult.executed("told");
		}

		@SingleRunner(key = "contract-failing", whenBusy = WhenBusy.FAIL)
		int failWhenBusy() {
			return 1;
		}

		@SingleRunner(key = "contract-payment:#{#id}", once = Once.PER_KEY)
		void pay(String id, boolean fail) {
			if (fail) {
				throw new AbstractLockContractTests.ExpectedException();
			}
		}

		@Transactional
		@SingleRunner("contract-transactional")
		Boolean runInTransaction(TestLocks locks) {
			return locks.isHeld(locks.key("contract-transactional"));
		}

	}

}
