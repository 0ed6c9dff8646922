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

import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.LedgerJobRegistry;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the place of the ledger in the
 * endpoint {@code advisorylocks}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockEndpointAutoConfiguration.class,
		afterName = "io.github.advisorylock.actuate.page.AdvisoryLockPageAutoConfiguration")
@ConditionalOnClass({ Endpoint.class, PostgresAdvisoryLockLedger.class })
@ConditionalOnBean(AdvisoryLocksSource.class)
public final class AdvisoryLockLedgerEndpointAutoConfiguration {

	@Bean
	LedgerJobRegistry advisoryLockLedgerJobRegistry(ObjectProvider<PostgresAdvisoryLockLedger> ledger) {
		return new LedgerJobRegistry(ledger.getIfAvailable());
	}

	@Bean
	EndpointSourceConfiguration.JobRegistrySource advisoryLockLedgerJobRegistries() {
		return (database) -> new LedgerJobRegistry(
				(database.ledger().get() instanceof PostgresAdvisoryLockLedger ledger) ? ledger : null);
	}

}
