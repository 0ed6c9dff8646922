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

import java.util.Objects;
import java.util.Properties;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PhysicalConnections}: a connection of our own is opened with all that
 * a DataSource has for its own.
 */
class PhysicalConnectionsTests {

	private static final String URL = "jdbc:postgresql://database:5433/shop?ApplicationName=shop";

	@Test
	void connectionIsOpenedAsByPoolOfTomcat() {
		org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
		pool.setDriverClassName(Driver.class.getName());
		pool.setUrl(URL);
		pool.setUsername("worker");
		pool.setPassword("correct horse");
		pool.getDbProperties().setProperty("sslmode", "verify-full");
		assertOpensAsWorker(pool, "correct horse");
		pool.setPassword("battery staple");
		assertOpensAsWorker(pool, "battery staple");
	}

	@Test
	void connectionIsOpenedAsByDataSourcesOfSpring() {
		for (AbstractDriverBasedDataSource source : new AbstractDriverBasedDataSource[] {
				new SimpleDriverDataSource(new Driver(), URL), new DriverManagerDataSource(URL) }) {
			source.setUsername("worker");
			source.setPassword("correct horse");
			Properties properties = new Properties();
			properties.setProperty("sslmode", "verify-full");
			source.setConnectionProperties(properties);
			assertOpensAsWorker(source, "correct horse");
			source.setPassword("battery staple");
			assertOpensAsWorker(source, "battery staple");
			Objects.requireNonNull(open(source).getConnectionProperties()).clear();
			assertThat(properties).as("of the application").isNotEmpty();
		}
	}

	@Test
	void connectionIsOpenedAsByDataSourceOfTheDriver() {
		PGSimpleDataSource source = new PGSimpleDataSource();
		source.setUrl(URL);
		source.setUser("worker");
		source.setPassword("correct horse");
		source.setSslMode("verify-full");
		SimpleDriverDataSource opened = open(source);
		assertThat(opened.getUrl()).startsWith("jdbc:postgresql://database:5433/shop?")
			.contains("ApplicationName=shop", "sslmode=verify-full");
		assertThat(opened.getUsername()).isEqualTo("worker");
		assertThat(opened.getPassword()).isEqualTo("correct horse");
	}

	@Test
	void nothingIsGuessedAtOfWhatMayOpenConnectionsInItsOwnWay() {
		assertThat(PhysicalConnections.of(new DriverManagerDataSource(URL) {
		})).isNull();
		assertThat(PhysicalConnections.of(new PGSimpleDataSource() {
		})).isNull();
		org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
		pool.setUrl(URL);
		pool.setDataSource(new PGSimpleDataSource());
		assertThat(PhysicalConnections.of(pool)).isNull();
	}

	private static void assertOpensAsWorker(DataSource source, String password) {
		SimpleDriverDataSource opened = open(source);
		assertThat(opened.getDriver()).isInstanceOf(Driver.class);
		assertThat(opened.getUrl()).isEqualTo(URL);
		assertThat(opened.getUsername()).isEqualTo("worker");
		assertThat(opened.getPassword()).isEqualTo(password);
		assertThat(opened.getConnectionProperties()).containsEntry("sslmode", "verify-full");
	}

	private static SimpleDriverDataSource open(DataSource source) {
		return (SimpleDriverDataSource) Objects.requireNonNull(PhysicalConnections.of(source)).get();
	}

}
