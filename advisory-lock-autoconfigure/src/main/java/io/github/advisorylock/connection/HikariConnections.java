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
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.PropertyElf;
import io.github.advisorylock.jdbc.server.ConnectionSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * Reads how a pool of HikariCP opens its connections, at the moment when one is needed.
 */
final class HikariConnections implements ConnectionSource {

	/**
	 * Has the pool ask methods that a subclass may have overridden.
	 */
	private static final String OVERRIDDEN_CREDENTIALS = "com.zaxxer.hikari.legacy.supportUserPassDataSourceOverride";

	private final DataSource dataSource;

	private final @Nullable JdbcConnectionDetails details;

	private final @Nullable Credentials detailsAtStart;

	private HikariConnections(DataSource dataSource, HikariDataSource pool, @Nullable JdbcConnectionDetails details) {
		this.dataSource = dataSource;
		this.details = (details != null && details.getJdbcUrl().equals(pool.getJdbcUrl())) ? details : null;
		this.detailsAtStart = (this.details != null) ? of(this.details) : null;
	}

	static boolean opensByUrl(DataSource dataSource) {
		HikariDataSource pool = unwrap(dataSource);
		return pool != null && pool.getJdbcUrl() != null && pool.getDataSource() == null;
	}

	/**
	 * Return what reads a pool.
	 * @param details the connection details of the application, which need not be those
	 * of this pool
	 * @return {@code null} if it is no pool of HikariCP, or nobody can tell which
	 * connections it pools
	 */
	static @Nullable ConnectionSource of(DataSource dataSource, @Nullable JdbcConnectionDetails details) {
		HikariDataSource pool = unwrap(dataSource);
		if (pool == null || (pool.getDataSource() == null && pool.getDataSourceClassName() == null
				&& pool.getJdbcUrl() == null)) {
			return null;
		}
		if (pool.getDataSource() != null && PhysicalConnections.isRouting(pool.getDataSource())) {
			return null;
		}
		return new HikariConnections(dataSource, pool, details);
	}

	private static @Nullable HikariDataSource unwrap(DataSource dataSource) {
		return DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
	}

	/**
	 * Return the pool of now: what is around it may have got another one.
	 */
	private HikariDataSource current() {
		HikariDataSource pool = unwrap(this.dataSource);
		Assert.state(pool != null, () -> "A " + this.dataSource.getClass().getName() + " has no pool of HikariCP now");
		return pool;
	}

	@Override
	public @Nullable Object address() {
		HikariDataSource pool = current();
		DataSource opener = pool.getDataSource();
		return (opener != null) ? PhysicalConnections.addressOf(opener) : pool.getJdbcUrl();
	}

	@Override
	public DataSource get() {
		HikariDataSource pool = current();
		Credentials credentials = credentials(pool);
		if (pool.getDataSource() != null) {
			return withCredentials(pool.getDataSource(), credentials);
		}
		if (pool.getDataSourceClassName() != null) {
			DataSource opener = (DataSource) BeanUtils
				.instantiateClass(ClassUtils.resolveClassName(pool.getDataSourceClassName(), null));
			PropertyElf.setTargetFromProperties(opener, pool.getDataSourceProperties());
			return withCredentials(opener, credentials);
		}
		SimpleDriverDataSource opener = PhysicalConnections.of(pool.getDriverClassName(),
				Objects.requireNonNull(pool.getJdbcUrl()));
		Properties properties = new Properties();
		properties.putAll(pool.getDataSourceProperties());
		opener.setConnectionProperties(properties);
		return withCredentials(opener, credentials);
	}

	private static DataSource withCredentials(DataSource opener, Credentials credentials) {
		Supplier<DataSource> known = PhysicalConnections.of(opener);
		if (known != null && known.get() instanceof SimpleDriverDataSource described) {
			if (credentials.getUsername() != null) {
				described.setUsername(credentials.getUsername());
			}
			if (credentials.getPassword() != null) {
				described.setPassword(credentials.getPassword());
			}
			return described;
		}
		if (credentials.getUsername() == null) {
			return opener;
		}
		UserCredentialsDataSourceAdapter adapter = new UserCredentialsDataSourceAdapter();
		adapter.setTargetDataSource(opener);
		adapter.setUsername(credentials.getUsername());
		adapter.setPassword((credentials.getPassword() != null) ? credentials.getPassword() : "");
		return adapter;
	}

	/**
	 * The pool's, as it asks for them itself; but it has copied those of connection
	 * details, which may have changed since.
	 */
	private Credentials credentials(HikariDataSource pool) {
		HikariCredentialsProvider provider = pool.getCredentialsProvider();
		if (provider != null) {
			return provider.getCredentials();
		}
		if (this.details != null) {
			Credentials current = of(this.details);
			if (!isSame(current, Objects.requireNonNull(this.detailsAtStart))) {
				return current;
			}
		}
		return Boolean.getBoolean(OVERRIDDEN_CREDENTIALS) ? Credentials.of(pool.getUsername(), pool.getPassword())
				: pool.getCredentials();
	}

	private static Credentials of(JdbcConnectionDetails details) {
		return Credentials.of(details.getUsername(), details.getPassword());
	}

	private static boolean isSame(Credentials one, Credentials other) {
		return Objects.equals(one.getUsername(), other.getUsername())
				&& Objects.equals(one.getPassword(), other.getPassword());
	}

}
