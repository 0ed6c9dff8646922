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

package io.github.advisorylock.simulation;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGNotification;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * The driver's end of a connection: what it is asked goes to the server, unless something
 * happens on the way.
 */
final class SimulatedConnection {

	private final SimulatedInstance instance;

	private final SimulatedServer server;

	private SimulatedServer.Session session;

	private final BaseConnection driver;

	private long timeoutNanos = 10_000_000_000L;

	private boolean silent;

	private boolean closed;

	SimulatedConnection(SimulatedInstance instance, SimulatedServer server) {
		this.instance = instance;
		this.server = server;
		this.session = server.connect(instance.name());
		this.driver = proxy(BaseConnection.class, this::connection);
	}

	Connection driver() {
		return this.driver;
	}

	private Object connection(Method method, Object[] arguments) throws SQLException {
		String name = method.getName();
		return switch (name) {
			case "prepareStatement", "createStatement" -> statement(arguments);
			case "getAutoCommit" -> this.session.autoCommit;
			case "setAutoCommit" -> {
				if (this.session.autoCommit != (boolean) arguments[0] && !this.session.autoCommit) {
					finish(true);
				}
				this.session.autoCommit = (boolean) arguments[0];
				yield true;
			}
			case "commit", "rollback" -> {
				finish(name.equals("commit"));
				yield true;
			}
			case "close", "abort" -> {
				close();
				yield true;
			}
			case "isClosed" -> this.closed;
			case "isValid" -> !this.closed && this.server.isAlive(this.session);
			case "isWrapperFor" -> arguments[0] == BaseConnection.class;
			case "unwrap" -> this.driver;
			case "setNetworkTimeout" -> {
				this.timeoutNanos = (int) arguments[1] * 1_000_000L;
				yield true;
			}
			case "getNetworkTimeout" -> (int) (this.timeoutNanos / 1_000_000);
			case "getTransactionState" -> !this.session.inTransaction ? TransactionState.IDLE
					: this.session.aborted ? TransactionState.FAILED : TransactionState.OPEN;
			case "getNotifications" -> receive();
			case "getPrepareThreshold" -> 5;
			case "createArrayOf" -> proxy(Array.class, (asked, none) -> true);
			case "getMetaData" -> proxy(DatabaseMetaData.class, (asked, none) -> "PostgreSQL");
			case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
			default -> throw new UnsupportedOperationException("Not known to the model of the driver: " + method);
		};
	}

	private void close() {
		if (!this.closed) {
			this.closed = true;
			if (!this.silent && !this.instance.isDead()) {
				this.server.end(this.session);
			}
		}
	}

	private void finish(boolean commit) throws SQLException {
		if (!this.session.inTransaction && !this.closed) {
			return;
		}
		boolean aborted = this.session.aborted;
		roundTrip(commit ? "COMMIT" : "ROLLBACK", () -> {
			if (commit) {
				this.session.commit();
			}
			else {
				this.session.rollBack();
			}
			return true;
		});
		if (commit && aborted) {
			throw new SQLException("The database returned ROLLBACK", "40000");
		}
	}

	private PGNotification[] receive() throws SQLException {
		if (this.closed || this.silent) {
			return new PGNotification[0];
		}
		if (!this.server.isAlive(this.session)) {
			close();
			throw new SQLException("The connection was closed", "08006");
		}
		PGNotification[] all = this.session.notifications.toArray(PGNotification[]::new);
		this.session.notifications.clear();
		return all;
	}

	private PreparedStatement statement(Object @Nullable [] prepared) {
		List<Object> parameters = new ArrayList<>();
		List<Object[]> results = new ArrayList<>();
		return proxy(PreparedStatement.class, (method, arguments) -> {
			String name = method.getName();
			if (name.startsWith("execute")) {
				String sql = (String) ((prepared != null) ? prepared[0] : arguments[0]);
				results.addAll(roundTrip(sql, () -> this.server.execute(this.session, sql, parameters)));
				if (name.equals("executeUpdate")) {
					return results.isEmpty() ? 1 : ((Number) results.get(0)[0]).intValue();
				}
				return name.equals("executeQuery") ? resultSet(results.get(0)) : true;
			}
			if (name.startsWith("set") && arguments.length > 1) {
				while (parameters.size() < (int) arguments[0]) {
					parameters.add(null);
				}
				parameters.set((int) arguments[0] - 1, name.equals("setNull") ? null : arguments[1]);
			}
			return switch (name) {
				case "getResultSet" -> resultSet(results.get(0));
				case "getMoreResults" -> {
					results.remove(0);
					yield !results.isEmpty();
				}
				case "getConnection" -> this.driver;
				default -> false;
			};
		});
	}

	private static ResultSet resultSet(Object[] row) {
		boolean[] state = new boolean[2];
		return proxy(ResultSet.class, (method, arguments) -> {
			if (method.getName().equals("next")) {
				boolean first = !state[0] && row.length > 0;
				state[0] = true;
				return first;
			}
			if (method.getName().equals("wasNull")) {
				return state[1];
			}
			// Who asks by name asks for the only column
			Object value = method.getName().startsWith("get") ? row[(arguments[0] instanceof Integer i) ? i - 1 : 0]
					: null;
			state[1] = value == null;
			Class<?> type = method.getReturnType();
			return (type == String.class) ? ((value != null) ? value.toString() : null)
					: (type == boolean.class) ? (value != null && (boolean) value) : (type == int.class)
							? ((value != null) ? ((Number) value).intValue() : 0)
							: (type == long.class) ? ((value != null) ? ((Number) value).longValue() : 0L) : value;
		});
	}

	/**
	 * Ask the server. What is lost on the way, the question or the answer, is known to
	 * nobody; a network that is silent shows itself by nothing but the time.
	 */
	<T> T roundTrip(String what, Callable<T> work) throws SQLException {
		this.instance.checkLives();
		if (this.closed) {
			throw new SQLException("This connection has been closed.", "08003");
		}
		Fault fault = this.instance.nextFault();
		this.instance.step(fault, what, this.session.process);
		this.instance.pause(this.instance.latency());
		if (fault == Fault.SILENT) {
			fallSilent();
		}
		if (this.silent) {
			throw timeOut();
		}
		if (fault == Fault.MOVED && this.session.autoCommit) {
			move();
		}
		if (fault == Fault.KILLED) {
			this.server.end(this.session);
		}
		if (!this.server.isAlive(this.session)) {
			throw lose();
		}
		T answer = null;
		if (fault != Fault.CANCELLED || this.session.autoCommit) {
			answer = ask(work);
		}
		if (fault == Fault.CANCELLED) {
			this.session.aborted = !this.session.autoCommit;
			throw new SQLException("canceling statement due to statement timeout", "57014");
		}
		if (fault == Fault.ANSWER_LOST) {
			this.server.end(this.session);
			throw lose();
		}
		if (fault == Fault.SILENT_ANSWER) {
			fallSilent();
			throw timeOut();
		}
		this.instance.pause(this.instance.latency());
		return answer;
	}

	/**
	 * A proxy hands the client to another process, and keeps the one before for a while.
	 */
	private void move() {
		SimulatedServer.Session before = this.session;
		this.session = this.server.connect(this.instance.name());
		this.server.endLater((session) -> session == before, SimulatedInstance.DEAD_CLIENT);
	}

	private static <T> T ask(Callable<T> work) throws SQLException {
		try {
			return work.call();
		}
		catch (SQLException | RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private SQLException lose() {
		this.closed = true;
		return new SQLException("An I/O error occurred while sending to the backend.", "08006");
	}

	void fallSilent() {
		if (!this.silent) {
			this.silent = true;
			this.server.endLater((session) -> session == this.session, SimulatedInstance.DEAD_CLIENT);
		}
	}

	private SQLException timeOut() {
		this.instance.pause(this.timeoutNanos);
		return lose();
	}

	boolean isClosed() {
		return this.closed;
	}

	@SuppressWarnings("unchecked")
	private static <T> T proxy(Class<T> type, Handler handler) {
		return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "hashCode" -> System.identityHashCode(proxy);
					case "equals" -> proxy == arguments[0];
					case "toString" -> type.getSimpleName();
					default -> {
						Object result = handler.invoke(method, arguments);
						yield (method.getReturnType() == void.class) ? null : result;
					}
				});
	}

	/**
	 * What happens on the way to the server or back.
	 */
	enum Fault {

		NONE, SILENT, KILLED, CANCELLED, ANSWER_LOST, SILENT_ANSWER, MOVED

	}

	/**
	 * A notification, as the driver has it.
	 */
	record Notification(int process, String channel, String text) implements PGNotification {

		@Override
		public int getPID() {
			return this.process;
		}

		@Override
		public String getName() {
			return this.channel;
		}

		@Override
		public String getParameter() {
			return this.text;
		}

	}

	private interface Handler {

		@Nullable Object invoke(Method method, Object[] arguments) throws SQLException;

	}

}
