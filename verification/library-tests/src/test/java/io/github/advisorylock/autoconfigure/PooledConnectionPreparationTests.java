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

import java.sql.Connection;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.connection.PooledConnectionPreparation;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PooledConnectionPreparation}.
 */
@ExtendWith(OutputCaptureExtension.class)
class PooledConnectionPreparationTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void connectionOfPoolKeepsSettingsThroughRollback(boolean autoCommit) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit,
					"spring.datasource.hikari.maximum-pool-size=1", "advisory-lock.session.dead-client-timeout=12s")
			.run((context) -> {
				DataSource pool = context.getBean(DataSource.class);
				try (Connection connection = pool.getConnection()) {
					connection.setAutoCommit(false);
					connection.rollback();
				}
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				assertThat(show(jdbc, "tcp_user_timeout")).isEqualTo("12000");
				assertThat(show(jdbc, "tcp_keepalives_idle")).isEqualTo("6");
				assertThat(show(jdbc, "tcp_keepalives_interval")).isEqualTo("2");
				assertThat(show(jdbc, "tcp_keepalives_count")).isEqualTo("3");
				assertThat(show(jdbc, "client_connection_check_interval")).isEqualTo("2400ms");
			});
	}

	@Test
	void runSendsNothingForIt() {
		DoctorContexts.inTransaction(TestPostgres.url()).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("SET tcp_user_timeout = '7s'");
			context.getBean(DoctorContexts.TransactionJob.class)
				.run(() -> assertThat(show(jdbc, "tcp_user_timeout")).isEqualTo("7000"));
		});
	}

	@Test
	void initSqlOfApplicationIsLeftAloneAndOptionsAreNamed(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withPropertyValues("spring.datasource.hikari.connection-init-sql=SET search_path TO public")
			.run((context) -> {
				assertThat(context.getBean(HikariDataSource.class).getConnectionInitSql())
					.isEqualTo("SET search_path TO public");
				assertThat(output).contains("options=-c%20tcp_keepalives_idle=7%20-c%20tcp_keepalives_interval=1"
						+ "%20-c%20tcp_keepalives_count=3%20-c%20tcp_user_timeout=10000"
						+ "%20-c%20client_connection_check_interval=2000");
			});
	}

	@Test
	void optionsThatAreNamedSilenceTheWarning(CapturedOutput output) {
		String options = "options=-c%20tcp_keepalives_idle=7%20-c%20tcp_keepalives_interval=1"
				+ "%20-c%20tcp_keepalives_count=3%20-c%20tcp_user_timeout=10000"
				+ "%20-c%20client_connection_check_interval=2000";
		DoctorContexts.inTransaction(TestPostgres.url() + (TestPostgres.url().contains("?") ? "&" : "?") + options)
			.withPropertyValues("spring.datasource.hikari.connection-init-sql=SET search_path TO public")
			.run((context) -> {
				assertThat(show(context.getBean(JdbcTemplate.class), "tcp_user_timeout")).isEqualTo("10000");
				assertThat(output).contains("Advisory locks are ready").doesNotContain("dead-client");
			});
	}

	@Test
	void otherPoolGetsOptionsNamed(CapturedOutput output) {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withPropertyValues("spring.datasource.type=" + SimpleDriverDataSource.class.getName())
			.run(LockContextRunner.started(() -> assertThat(output).contains("WARN",
					"options=-c%20tcp_keepalives_idle=7", "advisory-lock.doctor.dead-client")));
	}

	@Test
	void applicationWithoutHikariStarts() {
		DoctorContexts.create(TestPostgres.url())
			.withClassLoader(new FilteredClassLoader("com.zaxxer.hikari"))
			.withPropertyValues("spring.datasource.type=" + SimpleDriverDataSource.class.getName())
			.run((context) -> assertThat(context.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("without-hikari"), (lock) -> true)
				.executed()).isTrue());
	}

	@Test
	void eachOfSeveralPoolsIsPrepared() {
		DoctorContexts.inTransaction(TestPostgres.url())
			.withUserConfiguration(TwoPoolsConfiguration.class)
			.run((context) -> {
				assertThat(context.getBean("first", HikariDataSource.class).getConnectionInitSql())
					.contains("tcp_user_timeout");
				assertThat(context.getBean("second", HikariDataSource.class).getConnectionInitSql())
					.contains("tcp_user_timeout");
			});
	}

	@Test
	void poolOfAnotherDatabaseIsLeftAlone() {
		DoctorContexts.create("jdbc:h2:mem:left-alone")
			.run((context) -> assertThat(context.getBean(HikariDataSource.class).getConnectionInitSql()).isNull());
	}

	private static String show(JdbcTemplate jdbc, String setting) {
		return jdbc.queryForObject("SHOW " + setting, String.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class TwoPoolsConfiguration {

		@Bean
		@Primary
		HikariDataSource first() {
			return TestPostgres.pool(2);
		}

		@Bean
		HikariDataSource second() {
			return TestPostgres.pool(2);
		}

	}

}
