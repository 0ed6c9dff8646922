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

import java.util.concurrent.ExecutionException;

import io.github.advisorylock.testsupport.Patience;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import net.javacrumbs.shedlock.test.support.FuzzTester;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * ShedLock's own tests of a lock provider, as they are. They sleep, so they don't run
 * with the others.
 */
@Tag("servers")
abstract class AbstractShedLockContractTests extends AbstractExtensibleLockProviderIntegrationTest {

	static ShedLockApplication application;

	@AfterAll
	static void stop() {
		application.close();
	}

	@Override
	protected ExtensibleLockProvider getLockProvider() {
		return (ExtensibleLockProvider) application.provider();
	}

	@Override
	protected void assertLocked(String lockName) {
		assertThat(isTaken(lockName)).isTrue();
	}

	@Override
	protected void assertUnlocked(String lockName) {
		Awaitility.await().atMost(Patience.TIME).until(() -> !isTaken(lockName));
	}

	private boolean isTaken(String lockName) {
		return ShedLockApplication.isLocked(lockName) || ShedLockApplication.isKept(lockName);
	}

	/**
	 * As ShedLock does with its table.
	 */
	@Test
	void fuzzTestPassesInsideTransactions() throws ExecutionException, InterruptedException {
		TransactionTemplate transaction = new TransactionTemplate(
				application.context.getBean(PlatformTransactionManager.class));
		new FuzzTester(getLockProvider()) {

			@Override
			protected Void task(int iterations, Job job) {
				return transaction.execute((status) -> super.task(iterations, job));
			}

		}.doFuzzTest();
	}

}
