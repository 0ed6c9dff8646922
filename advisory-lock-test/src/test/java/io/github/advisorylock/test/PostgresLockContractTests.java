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

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the locks of PostgreSQL, as far as locks in memory are to be like them.
 */
@SpringBootTest(classes = ContractApplication.class,
		properties = { "spring.application.name=contract", "advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=contract_", "spring.datasource.hikari.maximum-pool-size=8" })
class PostgresLockContractTests extends AbstractLockContractTests {

	@Autowired
	private AdvisoryLockOperations operations;

	@Autowired
	private DataSource dataSource;

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("spring.datasource.url", TestPostgres::url);
	}

	/**
	 * The server lets go of it with the error, before anybody ends the transaction.
	 */
	@Test
	void lockOfATransactionThatHasFailedIsFree() {
		JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
		assertThatExceptionOfType(DataIntegrityViolationException.class)
			.isThrownBy(() -> this.operations.execute(LockRequest.of("failed"), (lock) -> {
				assertThatLock("failed").isHeld();
				try {
					return jdbc.queryForObject("SELECT 1 / 0", Integer.class);
				}
				finally {
					assertThatLock("failed").isFree();
				}
			}))
			.withMessageContaining("division by zero");
	}

}
