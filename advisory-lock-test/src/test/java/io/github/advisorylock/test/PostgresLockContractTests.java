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

import io.github.advisorylock.testsupport.TestPostgres;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * Tests for the locks of PostgreSQL, as far as locks in memory are to be like them.
 */
@SpringBootTest(classes = ContractApplication.class,
		properties = { "spring.application.name=contract", "advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=contract_", "spring.datasource.hikari.maximum-pool-size=8" })
class PostgresLockContractTests extends AbstractLockContractTests {

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("spring.datasource.url", TestPostgres::url);
	}

}
