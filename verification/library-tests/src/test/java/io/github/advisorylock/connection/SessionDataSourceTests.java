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

package io.github.advisorylock.connection;

import java.util.Map;

import javax.sql.DataSource;

import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.UntoldConnections;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SessionDataSource}.
 */
class SessionDataSourceTests {

	private static final SessionDataSource.Overrides NONE = new SessionDataSource.Overrides("advisory-lock.session",
			null, null, null, Map.of());

	@Test
	void dataSourceOfTheDriverIsRead() {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setURL(TestPostgres.url());
		SessionDataSource session = SessionDataSource.create(NONE, dataSource, null);
		assertThat(session).isNotNull();
		assertThat(session.get()).hasFieldOrPropertyWithValue("url", dataSource.getURL());
	}

	@Test
	void dataSourceOfForeignDriverIsNotTakenForReadable() {
		DataSource dataSource = UntoldConnections.createForeignDataSource();
		try (LogRecorder log = LogRecorder.of(SessionDataSource.class.getName(), "INFO")) {
			assertThat(SessionDataSource.create(NONE, dataSource, null)).isNull();
			assertThat(log.messages()).singleElement()
				.asString()
				.contains("org.postgresql.ds.PGSimpleDataSource", "set 'advisory-lock.session.url'");
		}
	}

}
