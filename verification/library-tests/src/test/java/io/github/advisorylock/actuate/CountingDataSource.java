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

package io.github.advisorylock.actuate;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.testsupport.TestPostgres;

import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Counts the statements of its connections.
 */
class CountingDataSource extends AbstractDataSource {

	private final AtomicInteger statements = new AtomicInteger();

	/**
	 * Return how many statements something takes.
	 */
	int statements(Runnable question) {
		int before = this.statements.get();
		question.run();
		return this.statements.get() - before;
	}

	@Override
	public Connection getConnection() {
		Connection connection = TestPostgres.open();
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					// the first round of the housekeeping comes at any time
					if (method.getName().endsWith("Statement")
							&& !Thread.currentThread().getName().equals("advisory-lock-worker")) {
						this.statements.incrementAndGet();
					}
					try {
						return method.invoke(connection, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	@Override
	public Connection getConnection(String user, String password) {
		return getConnection();
	}

}
