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

import java.time.Duration;

/**
 * How PostgreSQL is told to notice a vanished client within a time.
 *
 * @param idle seconds of silence before the first probe
 * @param interval seconds between probes
 * @param probes how many unanswered probes end a session
 * @param userTimeoutMillis how long sent data may stay unacknowledged
 * @param checkIntervalMillis how often to look for the client while executing
 * @since 0.1.0
 */
public record DeadClientSettings(long idle, long interval, int probes, long userTimeoutMillis,
		long checkIntervalMillis) {

	private static final int PROBES = 3;

	/**
	 * Return settings by which the server notices in time.
	 * @param timeout within which time
	 * @return the settings
	 */
	public static DeadClientSettings within(Duration timeout) {
		long seconds = Math.max(PROBES + 1, timeout.toSeconds());
		long interval = Math.max(1, seconds / (2 * PROBES));
		long idle = seconds - PROBES * interval;
		return new DeadClientSettings(idle, interval, PROBES, timeout.toMillis(), Math.max(1, timeout.toMillis() / 5));
	}

	/**
	 * Return SQL that gives a new connection these settings for good.
	 * @param autoCommit whether the connection commits by itself; a setting that is not
	 * committed is undone by the first rollback
	 * @return the SQL, which does not mind what the server can't be set to
	 */
	public String toInitSql(boolean autoCommit) {
		return PostgresAdvisoryLockFunctions.detectDeadClient(this.idle, this.interval, this.probes,
				this.userTimeoutMillis, this.checkIntervalMillis) + (autoCommit ? "" : "; COMMIT");
	}

	/**
	 * Return the parameter of a JDBC URL that does the same.
	 * @return the parameter, with its name
	 */
	public String urlParameter() {
		return "options=-c%20tcp_keepalives_idle=" + this.idle + "%20-c%20tcp_keepalives_interval=" + this.interval
				+ "%20-c%20tcp_keepalives_count=" + this.probes + "%20-c%20tcp_user_timeout=" + this.userTimeoutMillis
				+ "%20-c%20client_connection_check_interval=" + this.checkIntervalMillis;
	}

}
