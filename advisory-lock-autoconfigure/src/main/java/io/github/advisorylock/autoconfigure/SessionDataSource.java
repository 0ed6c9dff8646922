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

import java.util.Properties;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.PostgresDoctor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.StringUtils;

/**
 * Finds out how to open a connection of our own: never one of the application's pool, and
 * from the connection details rather than from properties, so that Testcontainers and
 * Docker Compose lead to the same database.
 */
final class SessionDataSource {

	private SessionDataSource() {
	}

	/**
	 * Create a DataSource that opens a new physical connection each time.
	 * @return the DataSource, or {@code null} when the application's one can't be looked
	 * into and no URL is set
	 */
	static @Nullable DataSource create(AdvisoryLockProperties.Session session, DataSource dataSource,
			@Nullable JdbcConnectionDetails details) {
		SimpleDriverDataSource result = (details != null) ? from(details) : from(dataSource);
		if (session.getUrl() != null) {
			SimpleDriverDataSource configured = from(session.getUrl());
			if (result != null) {
				configured.setUsername(result.getUsername());
				configured.setPassword(result.getPassword());
			}
			result = configured;
		}
		if (result == null) {
			return null;
		}
		if (session.getUsername() != null) {
			result.setUsername(session.getUsername());
		}
		if (session.getPassword() != null) {
			result.setPassword(session.getPassword());
		}
		if (StringUtils.startsWithIgnoreCase(result.getUrl(), "jdbc:postgresql:")) {
			result.setConnectionProperties(driverProperties());
		}
		return result;
	}

	private static SimpleDriverDataSource from(String url) {
		try {
			SimpleDriverDataSource dataSource = DataSourceBuilder.create()
				.type(SimpleDriverDataSource.class)
				.url(url)
				.build();
			if (PostgresDoctor.isUnderstood(dataSource)) {
				return dataSource;
			}
		}
		catch (RuntimeException ex) {
			InvalidConfigurationPropertyValueException invalid = invalid(url);
			// Spring Boot 4.0 takes no cause, and a cause can't be given later
			invalid.addSuppressed(ex);
			throw invalid;
		}
		throw invalid(url);
	}

	private static InvalidConfigurationPropertyValueException invalid(String url) {
		return new InvalidConfigurationPropertyValueException("advisory-lock.session.url", url,
				"No JDBC driver understands it; a URL of PostgreSQL is 'jdbc:postgresql://host:port/database'.");
	}

	private static SimpleDriverDataSource from(JdbcConnectionDetails details) {
		return DataSourceBuilder.create()
			.type(SimpleDriverDataSource.class)
			.driverClassName(details.getDriverClassName())
			.url(details.getJdbcUrl())
			.username(details.getUsername())
			.password(details.getPassword())
			.build();
	}

	private static @Nullable SimpleDriverDataSource from(DataSource dataSource) {
		try {
			return DataSourceBuilder.derivedFrom(dataSource).type(SimpleDriverDataSource.class).build();
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	/**
	 * What a connection that is held for long, and grants locks, needs of the driver; the
	 * URL has the last word.
	 */
	private static Properties driverProperties() {
		Properties properties = new Properties();
		properties.setProperty("tcpKeepAlive", "true");
		properties.setProperty("targetServerType", "primary");
		return properties;
	}

}
