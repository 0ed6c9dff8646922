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

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.TransactionManager;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the transactions of an
 * {@link AdvisoryLockTest}, which has no database.
 *
 * @since 0.1.0
 */
@AutoConfiguration(before = TransactionAutoConfiguration.class)
public final class SliceTransactionAutoConfiguration {

	/**
	 * Stands in for the transaction manager that Spring Boot makes, also where the
	 * application names that one.
	 */
	@Bean({ "advisoryLockTransactionManager", "transactionManager" })
	@ConditionalOnMissingBean(TransactionManager.class)
	UnboundTransactionManager advisoryLockTransactionManager() {
		return new UnboundTransactionManager();
	}

}
