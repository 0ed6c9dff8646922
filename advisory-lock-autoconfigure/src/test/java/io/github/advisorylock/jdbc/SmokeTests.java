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

package io.github.advisorylock.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

class SmokeTests {

	@Test
	void smoke() throws Exception {
		try (HikariDataSource pool = TestPostgres.pool(2);
				PostgresAdvisoryLockTemplate template = new PostgresAdvisoryLockTemplate(pool,
						new JdbcTransactionManager(pool), new DriverManagerDataSource(TestPostgres.url()), "smoke",
						AdvisoryLockKeyFactory.sha256(), Duration.ZERO)) {
			for (LockScope scope : LockScope.values()) {
				assertThat(template.execute(LockRequest.of("job").scope(scope), (lock) -> {
					System.out.println(TestPostgres.query(
							"select application_name || ' ' || state || ' xmin ' || coalesce(backend_xmin::text, 'null') from pg_stat_activity where application_name like 'al:%'"));
					return TestPostgres.locks().size();
				}).value()).isEqualTo(1);
			}
			assertThat(TestPostgres.locks()).isEmpty();
		}
	}

}
