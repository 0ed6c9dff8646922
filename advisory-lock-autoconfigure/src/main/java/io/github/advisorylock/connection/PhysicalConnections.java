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

import java.sql.SQLException;
import java.util.Properties;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * Reads how a DataSource opens physical connections, where all of it can be read: a
 * connection that is opened with less than the pool's has perhaps no TLS. Spring Boot
 * finds the driver of a URL without showing the URL to any driver.
 */
final class PhysicalConnections {

	private static final Log logger = LogFactory.getLog(PhysicalConnections.class);

	private static final String DRIVERS_OWN = "org.postgresql.ds.PGSimpleDataSource";

	private static final String TOMCAT_POOL = "org.apache.tomcat.jdbc.pool.DataSource";

	private PhysicalConnections() {
	}

	/**
	 * Return whether a DataSource, or what it wraps, chooses another one each time. Asks
	 * for the wrapped type, so that no target is looked up.
	 */
	static boolean isRouting(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A " + dataSource.getClass().getName() + " does not tell what it wraps", ex);
			return false;
		}
	}

	/**
	 * Return what opens connections as something does that opens physical connections
	 * itself, as of each call.
	 * @return {@code null} if that can't be found out
	 */
	static @Nullable Supplier<DataSource> of(DataSource opener) {
		if (opener.getClass() == SimpleDriverDataSource.class || opener.getClass() == DriverManagerDataSource.class) {
			return () -> copy((AbstractDriverBasedDataSource) opener);
		}
		if (isA(DRIVERS_OWN, opener)) {
			return () -> derive(opener);
		}
		if (isA(TOMCAT_POOL, opener) && property(opener, "dataSource") == null) {
			return () -> fromTomcat(opener);
		}
		return null;
	}

	/**
	 * Return where something that opens physical connections itself opens them, without
	 * opening any.
	 * @return {@code null} if that can't be found out
	 */
	static @Nullable String addressOf(DataSource opener) {
		if (opener instanceof AbstractDriverBasedDataSource described) {
			return described.getUrl();
		}
		return isA(DRIVERS_OWN, opener) ? Driver.urlOf(opener) : null;
	}

	/**
	 * Return whether a DataSource is of exactly that class. Of a container's own copy of
	 * it Spring Boot reads nothing.
	 */
	private static boolean isA(String className, DataSource opener) {
		Class<?> type = opener.getClass();
		ClassLoader classLoader = PhysicalConnections.class.getClassLoader();
		return type.getName().equals(className) && ClassUtils.isPresent(className, classLoader)
				&& type == ClassUtils.resolveClassName(className, classLoader);
	}

	/**
	 * Return what opens connections to a URL.
	 */
	static SimpleDriverDataSource of(@Nullable String driverClassName, String url) {
		DataSourceBuilder<SimpleDriverDataSource> builder = DataSourceBuilder.create()
			.type(SimpleDriverDataSource.class)
			.url(url);
		return ((driverClassName != null) ? builder.driverClassName(driverClassName) : builder).build();
	}

	private static SimpleDriverDataSource copy(AbstractDriverBasedDataSource source) {
		SimpleDriverDataSource copy = derive(source);
		Properties properties = new Properties();
		if (source.getConnectionProperties() != null) {
			properties.putAll(source.getConnectionProperties());
		}
		copy.setConnectionProperties(properties);
		return copy;
	}

	/**
	 * The pool keeps what its two properties for the driver say in one place, and tells
	 * its password nowhere else.
	 */
	private static SimpleDriverDataSource fromTomcat(DataSource pool) {
		SimpleDriverDataSource result = derive(pool);
		Properties driverProperties = new Properties();
		if (property(pool, "dbProperties") instanceof Properties configured) {
			driverProperties.putAll(configured);
		}
		result.setConnectionProperties(driverProperties);
		result.setPassword((String) property(pool, "poolProperties.password"));
		return result;
	}

	private static @Nullable Object property(DataSource pool, String name) {
		return PropertyAccessorFactory.forBeanPropertyAccess(pool).getPropertyValue(name);
	}

	private static SimpleDriverDataSource derive(DataSource dataSource) {
		return DataSourceBuilder.derivedFrom(dataSource).type(SimpleDriverDataSource.class).build();
	}

	/**
	 * The driver, which need not be there. Asked for often, so without reflection.
	 */
	private static final class Driver {

		private static @Nullable String urlOf(DataSource opener) {
			return ((PGSimpleDataSource) opener).getUrl();
		}

	}

}
