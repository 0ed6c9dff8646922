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

package io.github.advisorylock.jdbc.server;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JdbcUrl}.
 */
class JdbcUrlTests {

	@ParameterizedTest
	@ValueSource(strings = { "postgres://worker:hunter2@host/db", "postgresql://worker:hunter2@host:5432/db?a=b",
			"jdbc:postgresql://worker:hunter2@host/db", "jdbc:postgresql://host/db?user=worker&password=hunter2",
			"jdbc:postgresql://host/db?PASSWORD=hunter2&a=b", "jdbc:postgresql://host/db?sslpassword=hunter2",
			"jdbc:postgresql://host/db?password=a@hunter2", "jdbc:sqlserver://host;password=hunter2;a=b",
			"postgres:worker:hunter2@host", "postgres://worker:a/b?hunter2@host/db", "worker:hunter2@host",
			"Unable to parse URL jdbc:postgresql://host/db?password=hunter2", "user=x,accessToken=hunter2",
			"jdbc:postgresql://host/db?sslpassphrase=hunter2", "jdbc:postgresql://host/db?PASSWD=hunter2",
			"jdbc:postgresql://host/db?a=b&pwd=hunter2", "jdbc:postgresql://host/db?client.secret=hunter2",
			"jdbc:postgresql://host/db?credentials=hunter2" })
	void secretIsHidden(String url) {
		assertThat(JdbcUrl.redact(url)).doesNotContain("hunter2").contains("***");
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:postgresql://host:5432,other:5432/db?sslmode=verify-full&user=worker",
			"jdbc:postgresql:db", "nonsense", "" })
	void urlWithoutSecretIsLeftAlone(String url) {
		assertThat(JdbcUrl.redact(url)).isEqualTo(url);
	}

	@ParameterizedTest
	@CsvSource({ "jdbc:postgresql://host/db?a=b&sslmode=disable&c=d, jdbc:postgresql://host/db?a=b&c=d",
			"jdbc:postgresql://host/db, jdbc:postgresql://host/db",
			"jdbc:postgresql://host/db?sslmode, jdbc:postgresql://host/db?" })
	void parameterIsRemoved(String url, String expected) {
		assertThat(JdbcUrl.without(url, List.of("sslmode"))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(delimiter = ' ',
			value = { "jdbc:postgresql://host:5432,other/db true", "jdbc:postgresql://host,other true",
					"jdbc:postgresql://host/db false", "jdbc:postgresql://host/a,b false",
					"jdbc:postgresql://host?options=a,b false", "jdbc:postgresql:a,b false" })
	void severalServersAreSeenAmongTheHosts(String url, boolean several) {
		assertThat(JdbcUrl.namesSeveralServers(url)).isEqualTo(several);
	}

	@Test
	void userInformationIsLookedForBeforeTheParameters() {
		assertThat(JdbcUrl.hasUserInformation("jdbc:postgresql://worker@host/db")).isTrue();
		assertThat(JdbcUrl.hasUserInformation("jdbc:postgresql://host/db?user=worker@host")).isFalse();
	}

}
