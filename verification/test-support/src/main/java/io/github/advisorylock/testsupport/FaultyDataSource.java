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
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Opens connections whose statements fail when a test says so, after the server has done
 * what it was asked or before, and knows who has used them.
 */
public final class FaultyDataSource extends DriverManagerDataSource {

	private final AtomicReference<@Nullable Fault> fault = new AtomicReference<>();

	private final Set<String> threads = ConcurrentHashMap.newKeySet();

	private volatile @Nullable Interruption interruption;

	private volatile @Nullable Opened opened;

	public FaultyDataSource() {
		super(TestPostgres.url());
	}

	/**
	 * Have the next call of a method of a statement or its answers fail once it is done.
	 * @param method the name of the method
	 * @param sql what the text of the statement contains
	 * @param failure what is thrown
	 */
	public void failAfter(String method, String sql, Throwable failure) {
		this.fault.set(new Fault(false, method, sql, () -> {
			throw failure;
		}));
	}

	/**
	 * Have the next call of a method of a statement or its answers fail without being
	 * done.
	 * @param method the name of the method
	 * @param sql what the text of the statement contains
	 * @param failure what is thrown
	 */
	public void failBefore(String method, String sql, Throwable failure) {
		this.fault.set(new Fault(true, method, sql, () -> {
			throw failure;
		}));
	}

	/**
	 * Have the next call of a method of a statement return late.
	 * @param method the name of the method
	 * @param sql what the text of the statement contains
	 * @param delay how late
	 */
	public void delayAfter(String method, String sql, Duration delay) {
		this.fault.set(new Fault(false, method, sql, () -> {
			long end = System.nanoTime() + delay.toNanos();
			while (System.nanoTime() < end) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
		}));
	}

	/**
	 * Let nothing fail that has not failed yet.
	 */
	public void failNoMore() {
		this.fault.set(null);
	}

	/**
	 * Return whether what was to fail has failed.
	 */
	public boolean hasFailed() {
		return this.fault.get() == null;
	}

	/**
	 * Have the thread interrupted that calls a method of a statement, before the server
	 * is asked.
	 * @param method the name of the method
	 * @param sql what the text of the statement contains
	 * @param call which call of it that is, 1 for the next one
	 */
	public void interruptBefore(String method, String sql, int call) {
		this.interruption = new Interruption(method, sql, new AtomicInteger(call));
	}

	/**
	 * Return the names of the threads that have used a connection.
	 */
	public Set<String> threads() {
		return this.threads;
	}

	/**
	 * Open a connection, once the server has ended the one before, if that is closed:
	 * until then it keeps its locks.
	 */
	@Override
	public Connection getConnection() throws SQLException {
		Opened before = this.opened;
		long start = System.nanoTime();
		while (before != null && before.isLeft() && System.nanoTime() - start < Patience.TIME.toNanos()) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
		}
		Connection connection = TestPostgres.open();
		this.opened = Opened.of(connection);
		return wrap(Connection.class, connection, "");
	}

	private <T> T wrap(Class<T> type, Object target, String sql) {
		return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> invoke(target, method, arguments, sql)));
	}

	private @Nullable Object invoke(Object target, Method method, Object @Nullable [] arguments, String sql)
			throws Throwable {
		this.threads.add(Thread.currentThread().getName());
		Interruption next = this.interruption;
		if (next != null && next.method.equals(method.getName()) && sql.contains(next.sql)
				&& next.calls.decrementAndGet() == 0) {
			Thread.currentThread().interrupt();
		}
		failIfDue(true, method, sql);
		Object result = call(target, method, arguments);
		failIfDue(false, method, sql);
		if (result instanceof PreparedStatement && arguments != null) {
			return wrap(PreparedStatement.class, result, (String) arguments[0]);
		}
		return (result instanceof ResultSet) ? wrap(ResultSet.class, result, sql) : result;
	}

	private void failIfDue(boolean before, Method method, String sql) throws Throwable {
		Fault due = this.fault.get();
		if (due != null && due.before == before && due.method.equals(method.getName()) && sql.contains(due.sql)
				&& this.fault.compareAndSet(due, null)) {
			due.effect.happen();
		}
	}

	private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private record Opened(Connection connection, int backend) {

		static Opened of(Connection connection) throws SQLException {
			try (Statement statement = connection.createStatement();
					ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
				row.next();
				return new Opened(connection, row.getInt(1));
			}
		}

		boolean isLeft() throws SQLException {
			return this.connection.isClosed()
					&& !TestPostgres.query("SELECT 1 FROM pg_stat_activity WHERE pid = " + this.backend).isEmpty();
		}

	}

	private record Interruption(String method, String sql, AtomicInteger calls) {

	}

	private record Fault(boolean before, String method, String sql, Effect effect) {

	}

	private interface Effect {

		void happen() throws Throwable;

	}

}
