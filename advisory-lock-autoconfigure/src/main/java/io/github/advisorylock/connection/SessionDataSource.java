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
import java.util.Properties;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.jdbc.server.ConnectionSource;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Says how to open a connection of our own, never one of the application's pool: exactly
 * as the pool that locks are taken on opens its own, with the same driver, its properties
 * and the credentials of that moment, unless properties say otherwise.
 *
 * @since 0.1.0
 */
public final class SessionDataSource implements ConnectionSource {

	private static final Log logger = LogFactory.getLog(SessionDataSource.class);

	private static final boolean HIKARI_PRESENT = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			SessionDataSource.class.getClassLoader());

	private static final String POSTGRESQL = "jdbc:postgresql:";

	private final Overrides overrides;

	private final @Nullable ConnectionSource source;

	private final @Nullable DataSource pool;

	private SessionDataSource(Overrides overrides, @Nullable ConnectionSource source, @Nullable DataSource pool) {
		this.overrides = overrides;
		this.source = source;
		this.pool = pool;
	}

	/**
	 * Create what says how to open a connection.
	 * @param overrides what the application says of it
	 * @param dataSource the one that locks are taken on
	 * @param details connection details of the application, used where they are that
	 * DataSource's own
	 * @return {@code null} when that DataSource can't be looked into and no URL is set
	 */
	public static @Nullable SessionDataSource create(Overrides overrides, DataSource dataSource,
			@Nullable JdbcConnectionDetails details) {
		boolean routing = isRouting(dataSource);
		ConnectionSource source = routing ? null : read(dataSource, details);
		if (overrides.url() != null) {
			check(overrides.url(), overrides.prefix());
		}
		if (overrides.url() == null && source == null) {
			logger.info("Advisory locks of scope SESSION and leader roles can't be used: how a "
					+ dataSource.getClass().getName() + " opens its connections can't be read; set " + "'"
					+ overrides.prefix() + ".url', 'username', 'password' and 'properties' to use them");
			return null;
		}
		return new SessionDataSource(overrides, source, routing ? null : dataSource);
	}

	private static @Nullable ConnectionSource read(DataSource dataSource, @Nullable JdbcConnectionDetails details) {
		ConnectionSource pool = HIKARI_PRESENT ? HikariConnections.of(dataSource, details) : null;
		return (pool != null) ? pool
				: (PhysicalConnections.of(unwrap(dataSource)) != null) ? new Unpooled(dataSource) : null;
	}

	/**
	 * Return whether a DataSource opens connections to another one each time, as it is
	 * needed at that moment: nobody can tell beforehand which.
	 * @param dataSource the DataSource, or a proxy for it
	 * @return {@code true} if it is an {@code AbstractRoutingDataSource}
	 */
	public static boolean isRouting(DataSource dataSource) {
		return PhysicalConnections.isRouting(dataSource);
	}

	/**
	 * Return whether a DataSource is a pool that opens all its connections by one URL.
	 * @param dataSource the DataSource, or a proxy for it
	 * @return {@code true} if it is one of HikariCP, with no DataSource of its own
	 */
	public static boolean opensByUrl(DataSource dataSource) {
		return HIKARI_PRESENT && HikariConnections.opensByUrl(dataSource);
	}

	/**
	 * Return what is behind wrappers and proxies. Spring Boot 4.0 does so only for a type
	 * that is known beforehand.
	 */
	private static DataSource unwrap(DataSource dataSource) {
		Object target = (dataSource instanceof DelegatingDataSource wrapper) ? wrapper.getTargetDataSource()
				: AopProxyUtils.getSingletonTarget(dataSource);
		return (target instanceof DataSource inner) ? unwrap(inner) : dataSource;
	}

	/**
	 * Return what opens one connection.
	 */
	@Override
	public DataSource get() {
		DataSource pooled = (this.source != null) ? this.source.get() : null;
		if (this.overrides.url() == null && pooled != null && !(pooled instanceof SimpleDriverDataSource)) {
			return pooled;
		}
		SimpleDriverDataSource result = (pooled instanceof SimpleDriverDataSource described) ? described
				: new SimpleDriverDataSource();
		if (this.overrides.url() != null) {
			SimpleDriverDataSource configured = PhysicalConnections.of(null, this.overrides.url());
			result.setDriver(configured.getDriver());
			result.setUrl(configured.getUrl());
		}
		override(result);
		return result;
	}

	/**
	 * Return where the DataSource opens connections, unless the application has said
	 * where the session is to be.
	 */
	@Override
	public @Nullable Object address() {
		return (this.overrides.url() == null && this.source != null) ? this.source.address() : null;
	}

	@Override
	public @Nullable DataSource pool() {
		return this.pool;
	}

	private void override(SimpleDriverDataSource result) {
		if (this.overrides.username() != null) {
			result.setUsername(this.overrides.username());
		}
		if (this.overrides.password() != null) {
			result.setPassword(this.overrides.password());
		}
		Properties properties = new Properties();
		if (StringUtils.startsWithIgnoreCase(result.getUrl(), POSTGRESQL)) {
			// for a connection that is held for long, and grants locks
			properties.setProperty("tcpKeepAlive", "true");
			if (JdbcUrl.namesSeveralServers(result.getUrl())) {
				// chooses among them; takes a primary with read-only transactions for
				// none
				properties.setProperty("targetServerType", "primary");
			}
			result.setUrl(JdbcUrl.without(result.getUrl(), this.overrides.properties().keySet()));
		}
		if (result.getConnectionProperties() != null) {
			properties.putAll(result.getConnectionProperties());
		}
		properties.putAll(this.overrides.properties());
		result.setConnectionProperties(properties);
	}

	private static void check(String url, String prefix) {
		boolean understood = false;
		try {
			understood = !JdbcUrl.hasUserInformation(url) && JdbcUrl.isUnderstood(PhysicalConnections.of(null, url));
		}
		catch (RuntimeException ex) {
			// says what it was given, with the password; there is no such driver
		}
		if (!understood) {
			throw new AdvisoryLockConfigurationException(
					"No JDBC driver understands '" + prefix + ".url', which is '" + JdbcUrl.redact(url) + "'",
					"Set it to a URL of the form 'jdbc:postgresql://host:port/database', and user and password to "
							+ "'" + prefix + ".username' and '" + prefix + ".password'.");
		}
	}

	/**
	 * What the application says of the connection.
	 *
	 * @param prefix what the names of the properties begin with that say it
	 * @param url the JDBC URL, {@code null} for that of the pool
	 * @param username the user, {@code null} for that of the pool
	 * @param password the password, {@code null} for that of the pool
	 * @param properties properties of the driver, besides those of the pool
	 */
	public record Overrides(String prefix, @Nullable String url, @Nullable String username, @Nullable String password,
			Map<String, String> properties) {

		/**
		 * Tells no password.
		 */
		@Override
		public String toString() {
			return "Overrides[" + ((this.url != null) ? JdbcUrl.redact(this.url) : "") + "]";
		}

	}

	/**
	 * What a DataSource other than HikariCP's opens, which may be another one at any
	 * time.
	 *
	 * @param dataSource the DataSource, or a proxy for it
	 */
	private record Unpooled(DataSource dataSource) implements ConnectionSource {

		@Override
		public DataSource get() {
			Supplier<DataSource> opener = PhysicalConnections.of(unwrap(this.dataSource));
			Assert.state(opener != null, () -> "How a " + this.dataSource.getClass().getName()
					+ " opens its connections can't be read any more");
			return opener.get();
		}

		@Override
		public @Nullable Object address() {
			return PhysicalConnections.addressOf(unwrap(this.dataSource));
		}

	}

}
