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

package io.github.advisorylock.testsupport;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.Properties;
import java.util.logging.Logger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Connections whose driver can't be reached by its classes: nobody but the server knows
 * how their transactions are doing. Their drivers say nothing of a COMMIT that was
 * answered by a ROLLBACK, as old ones don't.
 */
public enum UntoldConnections {

	/**
	 * Of another copy of the driver, in a class loader of its own, as a container has it.
	 */
	FOREIGN_DRIVER {

		@Override
		Connection open(String url) throws SQLException {
			return Foreign.DATA_SOURCE.getConnection();
		}

	},

	/**
	 * Wrapped by what says that there is nothing inside.
	 */
	WRAPPER_OF_NOTHING {

		@Override
		Object answer(Method method) throws SQLException {
			if (method.getName().equals("isWrapperFor")) {
				return false;
			}
			throw new SQLException("This wraps nothing");
		}

	},

	/**
	 * Wrapped by what says that the driver is inside, and does not hand it out.
	 */
	WRAPPER_THAT_KEEPS {

		@Override
		Object answer(Method method) throws SQLException {
			if (method.getName().equals("isWrapperFor")) {
				return true;
			}
			throw new SQLException("This is not handed out");
		}

	},

	/**
	 * Wrapped by what is older than the question.
	 */
	WRAPPER_THAT_THROWS {

		@Override
		Object answer(Method method) {
			throw new AbstractMethodError(method.getName());
		}

	},

	/**
	 * Wrapped by what knows the question only.
	 */
	WRAPPER_THAT_REFUSES {

		@Override
		Object answer(Method method) throws SQLException {
			throw new SQLException("This can't be asked");
		}

	};

	private static final String URL = TestPostgres.url() + "&raiseExceptionOnSilentRollback=false";

	/**
	 * Create a pool of such connections.
	 */
	public HikariDataSource pool(int size) {
		HikariDataSource pool = TestPostgres.pool(size);
		pool.setDataSource(dataSource());
		return pool;
	}

	/**
	 * Create a DataSource of the foreign copy of the driver.
	 */
	public static DataSource createForeignDataSource() {
		try {
			Class<?> type = Foreign.CLASSES.loadClass("org.postgresql.ds.PGSimpleDataSource");
			Object dataSource = type.getDeclaredConstructor().newInstance();
			type.getMethod("setURL", String.class).invoke(dataSource, URL);
			return (DataSource) dataSource;
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Create what opens such connections.
	 */
	public DataSource dataSource() {
		return new AbstractDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				return open(URL);
			}

			@Override
			public Connection getConnection(String username, String password) throws SQLException {
				return getConnection();
			}

		};
	}

	Connection open(String url) throws SQLException {
		return wrap(Connection.class, DriverManager.getConnection(url), null);
	}

	Object answer(Method method) throws SQLException {
		throw new IllegalStateException(method.getName());
	}

	private <T> T wrap(Class<T> type, T target, Connection wrapper) {
		return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> invoke(proxy, target, method, arguments, wrapper)));
	}

	private Object invoke(Object proxy, Object target, Method method, Object[] arguments, Connection wrapper)
			throws Throwable {
		if (method.getDeclaringClass() == Wrapper.class) {
			return answer(method);
		}
		if (method.getName().equals("getConnection")) {
			return wrapper;
		}
		Object result;
		try {
			result = method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
		if (result instanceof PreparedStatement statement) {
			return wrap(PreparedStatement.class, statement, (Connection) proxy);
		}
		return (result instanceof Statement statement) ? wrap(Statement.class, statement, (Connection) proxy) : result;
	}

	/**
	 * Opens connections to the server, and hides the driver that it has them from.
	 */
	public static final class HidingDriver implements Driver {

		public static final String URL = "jdbc:hiding";

		@Override
		public @Nullable Connection connect(String url, Properties info) throws SQLException {
			return acceptsURL(url) ? WRAPPER_OF_NOTHING.open(UntoldConnections.URL) : null;
		}

		@Override
		public boolean acceptsURL(String url) {
			return url.equals(URL);
		}

		@Override
		public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
			return new DriverPropertyInfo[0];
		}

		@Override
		public int getMajorVersion() {
			return 1;
		}

		@Override
		public int getMinorVersion() {
			return 0;
		}

		@Override
		public boolean jdbcCompliant() {
			return false;
		}

		@Override
		public Logger getParentLogger() throws SQLFeatureNotSupportedException {
			throw new SQLFeatureNotSupportedException();
		}

	}

	/**
	 * A copy of the driver whose classes nobody else knows.
	 */
	private static final class Foreign {

		static final ClassLoader CLASSES = new URLClassLoader(
				new URL[] { PGConnection.class.getProtectionDomain().getCodeSource().getLocation() },
				ClassLoader.getPlatformClassLoader());

		static final DataSource DATA_SOURCE = createForeignDataSource();

	}

}
