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

import java.sql.SQLException;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A pool that one test leaves to the next, as a new connection costs the server more than
 * most tests do. Not for those that change it.
 */
final class KeptPool {

	private static final String TRUSTED_WITHOUT_A_LOOK = "com.zaxxer.hikari.aliveBypassWindowMs";

	private static @Nullable HikariDataSource pool;

	private KeptPool() {
	}

	/**
	 * Return the pool, or a new one if the last test has closed it.
	 */
	static HikariDataSource take() {
		if (pool == null || pool.isClosed()) {
			pool = TestPostgres.pool(4);
			// a test may have ended connections of the one before
			System.setProperty(TRUSTED_WITHOUT_A_LOOK, "0");
			try {
				pool.getConnection().close();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			finally {
				System.clearProperty(TRUSTED_WITHOUT_A_LOOK);
			}
		}
		return pool;
	}

	/**
	 * Close a pool, unless it is this one, of which each connection has to be back.
	 */
	static void giveBack(HikariDataSource used) {
		if (used != pool) {
			used.close();
		}
		else if (!used.isClosed()) {
			Awaitility.await()
				.untilAsserted(() -> assertThat(used.getHikariPoolMXBean().getActiveConnections()).isZero());
		}
	}

}
