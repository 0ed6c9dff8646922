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
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.util.ClassUtils;

/**
 * Reads how a pool of HikariCP opens its connections, at the moment when one is needed.
 */
final class HikariConnections implements Supplier<DataSource> {

	/**
	 * Has the pool ask methods that a subclass may have overridden.
	 */
	private static final String OVERRIDDEN_CREDENTIALS = "com.zaxxer.hikari.legacy.supportUserPassDataSourceOverride";

	private final HikariDataSource pool;

	private final @Nullable JdbcConnectionDetails details;

	private final @Nullable Credentials detailsAtStart;

	private HikariConnections(HikariDataSource pool, @Nullable JdbcConnectionDetails details) {
		this.pool = pool;
		this.details = (details != null && details.getJdbcUrl().equals(pool.getJdbcUrl())) ? details : null;
		this.detailsAtStart = (this.details != null) ? of(this.details) : null;
	}

	/**
	 * Return what reads a pool.
	 * @param details the connection details of the application, which need not be those
	 * of this pool
	 * @return {@code null} if it is no pool of HikariCP, or nobody can tell which
	 * connections it pools
	 */
	static @Nullable Supplier<DataSource> of(DataSource dataSource, @Nullable JdbcConnectionDetails details) {
		HikariDataSource pool = DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class,
				HikariDataSource.class);
		if (pool == null || (pool.getDataSource() == null && pool.getDataSourceClassName() == null
				&& pool.getJdbcUrl() == null)) {
			return null;
		}
		if (pool.getDataSource() != null && PhysicalConnections.isRouting(pool.getDataSource())) {
			return null;
		}
		return new HikariConnections(pool, details);
	}

	@Override
	public DataSource get() {
		Credentials credentials = credentials();
		if (this.pool.getDataSource() != null) {
			return withCredentials(this.pool.getDataSource(), credentials);
		}
		if (this.pool.getDataSourceClassName() != null) {
			DataSource opener = (DataSource) BeanUtils
				.instantiateClass(ClassUtils.resolveClassName(this.pool.getDataSourceClassName(), null));
			PropertyElf.setTargetFromProperties(opener, this.pool.getDataSourceProperties());
			return withCredentials(opener, credentials);
		}
		SimpleDriverDataSource opener = PhysicalConnections.of(this.pool.getDriverClassName(),
				Objects.requireNonNull(this.pool.getJdbcUrl()));
		Properties properties = new Properties();
		properties.putAll(this.pool.getDataSourceProperties());
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
	private Credentials credentials() {
		HikariCredentialsProvider provider = this.pool.getCredentialsProvider();
		if (provider != null) {
			return provider.getCredentials();
		}
		if (this.details != null) {
			Credentials current = of(this.details);
			if (!isSame(current, Objects.requireNonNull(this.detailsAtStart))) {
				return current;
			}
		}
		return Boolean.getBoolean(OVERRIDDEN_CREDENTIALS)
				? Credentials.of(this.pool.getUsername(), this.pool.getPassword()) : this.pool.getCredentials();
	}

	private static Credentials of(JdbcConnectionDetails details) {
		return Credentials.of(details.getUsername(), details.getPassword());
	}

	private static boolean isSame(Credentials one, Credentials other) {
		return Objects.equals(one.getUsername(), other.getUsername())
				&& Objects.equals(one.getPassword(), other.getPassword());
	}

}
