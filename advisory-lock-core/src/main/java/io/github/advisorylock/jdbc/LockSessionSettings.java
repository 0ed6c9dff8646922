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

package io.github.advisorylock.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import io.github.advisorylock.jdbc.server.PgDriver;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.util.Assert;

/**
 * How the connection that carries session locks is watched.
 *
 * @param heartbeat how often it is checked while it carries locks
 * @param deadClientTimeout within which time the server is to notice that this
 * application has vanished
 * @param whenLost what happens to threads that run under a lost lock
 * @param idleTimeout for how long it is kept when it carries nothing
 * @since 0.1.0
 */
public record LockSessionSettings(Duration heartbeat, Duration deadClientTimeout, WhenLost whenLost,
		Duration idleTimeout) {

	/**
	 * The defaults: a heartbeat every 2 seconds, 10 seconds for a dead client, and an
	 * interrupt.
	 */
	public static final LockSessionSettings DEFAULT = new LockSessionSettings(Duration.ofSeconds(2),
			Duration.ofSeconds(10), WhenLost.INTERRUPT);

	public LockSessionSettings {
		Assert.isTrue(heartbeat.toMillis() > 0, "The heartbeat must be a millisecond or more.");
		if (heartbeat.compareTo(deadClientTimeout) >= 0) {
			throw new IllegalArgumentException("The heartbeat must be shorter than "
					+ "'advisory-lock.session.dead-client-timeout', which is " + deadClientTimeout + ".");
		}
	}

	/**
	 * Create settings by which a connection that carries nothing is kept for five
	 * minutes.
	 * @param heartbeat how often it is checked while it carries locks
	 * @param deadClientTimeout within which time the server is to notice that this
	 * application has vanished
	 * @param whenLost what happens to threads that run under a lost lock
	 */
	public LockSessionSettings(Duration heartbeat, Duration deadClientTimeout, WhenLost whenLost) {
		this(heartbeat, deadClientTimeout, whenLost, Duration.ofMinutes(5));
	}

	/**
	 * Return how long to wait for an answer: with the heartbeats before and after, a loss
	 * of the network is noticed here before the server gives our locks to others.
	 * @return the time in milliseconds
	 */
	public int answerTimeoutMillis() {
		long left = this.deadClientTimeout.minus(this.heartbeat.multipliedBy(2)).toMillis();
		return Math.toIntExact(Math.min(Integer.MAX_VALUE, Math.max(left, this.heartbeat.toMillis())));
	}

	/**
	 * Return how long a statement may take when the server is silent: the connection is
	 * given up, and another one can't be opened.
	 */
	Duration longestAnswer() {
		return this.deadClientTimeout.plusMillis(answerTimeoutMillis());
	}

	/**
	 * Return after which time the server gives up a statement of the session: well before
	 * the answer is given up here, which would cost all locks of the connection.
	 * @return the time in milliseconds
	 */
	int statementTimeoutMillis() {
		return (answerTimeoutMillis() + 1) / 2;
	}

	/**
	 * Return for how long a feature trusts what it knew when the server was last asked.
	 */
	public Duration trust() {
		Duration half = this.deadClientTimeout.dividedBy(2);
		Duration beats = this.heartbeat.multipliedBy(2);
		return (half.compareTo(beats) > 0) ? half : beats;
	}

	/**
	 * Return SQL by which a new connection has the server notice a vanished client in
	 * time, for good.
	 * @param autoCommit whether the connection commits by itself; a setting that is not
	 * committed is undone by the first rollback
	 * @return the SQL, which does not mind what the server can't be set to
	 */
	public String deadClientSql(boolean autoCommit) {
		return DeadClientDetection.within(this.deadClientTimeout).toInitSql(autoCommit);
	}

	/**
	 * Return the parameter of a JDBC URL that does the same.
	 * @return the parameter, with its name
	 */
	public String deadClientUrlParameter() {
		return DeadClientDetection.within(this.deadClientTimeout).urlParameter();
	}

	/**
	 * What happens to a thread that runs under a session lock when that lock is lost.
	 */
	public enum WhenLost {

		/**
		 * The thread is interrupted, besides being told.
		 */
		INTERRUPT,

		/**
		 * The loss is reported only: through the context, listeners and an event.
		 */
		REPORT

	}

	/**
	 * Tells a server to notice within a time that the client of a session has vanished,
	 * instead of the hours that TCP takes by itself, and never to end a session for being
	 * quiet.
	 *
	 * @param idle seconds of silence before the first probe
	 * @param interval seconds between probes
	 * @param probes how many unanswered probes end a session
	 * @param userTimeoutMillis how long sent data may stay unacknowledged
	 * @param checkIntervalMillis how often to look for the client while executing
	 * @see <a href=
	 * "https://www.postgresql.org/docs/current/runtime-config-connection.html#RUNTIME-CONFIG-TCP-SETTINGS">PostgreSQL
	 * manual, section "TCP Settings"</a>
	 */
	record DeadClientDetection(long idle, long interval, int probes, long userTimeoutMillis, long checkIntervalMillis) {

		private static final Log logger = LogFactory.getLog(DeadClientDetection.class);

		private static final int PROBES = 3;

		/**
		 * Return settings by which the server notices in time.
		 */
		static DeadClientDetection within(Duration timeout) {
			long seconds = Math.max(PROBES + 1, timeout.toSeconds());
			long interval = Math.max(1, seconds / (2 * PROBES));
			long idle = seconds - PROBES * interval;
			return new DeadClientDetection(idle, interval, PROBES, timeout.toMillis(),
					Math.max(1, timeout.toMillis() / 5));
		}

		/**
		 * Set them for a session, with its name and its limit for a statement.
		 * @return what tells its process from others
		 */
		SessionConnection.Mark enable(Connection connection, String applicationName, int statementTimeoutMillis)
				throws SQLException {
			String text = "/" + Long.toHexString(ThreadLocalRandom.current().nextLong());
			SessionConnection.Mark mark;
			try (PreparedStatement statement = connection
				.prepareStatement(PostgresAdvisoryLockFunctions.PREPARE_SESSION)) {
				statement.setString(1, text);
				statement.setString(2, applicationName);
				statement.setString(3, Long.toString(statementTimeoutMillis));
				statement.setString(4, Long.toString(this.idle));
				statement.setString(5, Long.toString(this.interval));
				statement.setString(6, Integer.toString(this.probes));
				statement.setString(7, Long.toString(this.userTimeoutMillis));
				statement.execute();
				try (ResultSet row = statement.getResultSet()) {
					row.next();
					mark = new SessionConnection.Mark(row.getInt(1), text);
				}
			}
			checkWhileExecuting(connection);
			return mark;
		}

		/**
		 * Not every platform of the server can do this.
		 */
		private void checkWhileExecuting(Connection connection) throws SQLException {
			try (PreparedStatement statement = connection
				.prepareStatement(PostgresAdvisoryLockFunctions.CHECK_CLIENT_WHILE_EXECUTING)) {
				statement.setString(1, Long.toString(this.checkIntervalMillis));
				statement.execute();
			}
			catch (SQLException ex) {
				if (connection.isClosed() || PgDriver.endsConnection(ex)) {
					throw ex;
				}
				logger.debug("The server can't check for a dead client while it executes: " + ex);
			}
		}

		/**
		 * Return SQL that gives a new connection these settings for good.
		 */
		String toInitSql(boolean autoCommit) {
			return PostgresAdvisoryLockFunctions.detectDeadClient(this.idle, this.interval, this.probes,
					this.userTimeoutMillis, this.checkIntervalMillis) + (autoCommit ? "" : "; COMMIT");
		}

		/**
		 * Return the parameter of a JDBC URL that does the same.
		 */
		String urlParameter() {
			return "options=-c%20tcp_keepalives_idle=" + this.idle + "%20-c%20tcp_keepalives_interval=" + this.interval
					+ "%20-c%20tcp_keepalives_count=" + this.probes + "%20-c%20tcp_user_timeout="
					+ this.userTimeoutMillis + "%20-c%20client_connection_check_interval=" + this.checkIntervalMillis;
		}

	}

}
