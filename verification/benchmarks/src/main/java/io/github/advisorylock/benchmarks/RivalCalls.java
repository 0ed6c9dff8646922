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

package io.github.advisorylock.benchmarks;

import java.time.Duration;
import java.time.Instant;

import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * Calls that ShedLock guards, by a row that it locks and unlocks in a transaction each,
 * on the pool of the application: its whole cycle, with the clock of the database, as its
 * manual recommends, and no shortest time for the lock.
 */
final class RivalCalls {

	private static final Duration AT_MOST = Duration.ofMinutes(10);

	private static final String HELD_ELSEWHERE = "held-elsewhere";

	private final LockingTaskExecutor executor;

	private final String name;

	private long key = System.currentTimeMillis() * 1000;

	RivalCalls(JdbcTemplate jdbcTemplate) {
		this(jdbcTemplate, "rival");
	}

	/**
	 * Create calls.
	 * @param name the name of the lock
	 */
	RivalCalls(JdbcTemplate jdbcTemplate, String name) {
		this.name = name;
		jdbcTemplate.execute("CREATE TABLE IF NOT EXISTS shedlock (name varchar(64) PRIMARY KEY, "
				+ "lock_until timestamp NOT NULL, locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL)");
		this.executor = new DefaultLockingTaskExecutor(new JdbcTemplateLockProvider(
				JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(jdbcTemplate).usingDbTime().build()));
	}

	void empty() throws Exception {
		execute(this.name, Duration.ZERO, true);
	}

	/**
	 * Have another instance hold what {@link #skip()} asks for.
	 */
	static void holdElsewhere(JdbcTemplate jdbcTemplate) {
		jdbcTemplate.update("INSERT INTO shedlock VALUES (?, 'infinity', now(), 'another') ON CONFLICT DO NOTHING",
				HELD_ELSEWHERE);
	}

	void skip() throws Exception {
		execute(HELD_ELSEWHERE, Duration.ZERO, false);
	}

	/**
	 * Run something that shall not run again soon, under a name that is new each time.
	 */
	void oncePerKey() throws Exception {
		execute(this.name + "-" + this.key++, AT_MOST, true);
	}

	private void execute(String name, Duration atLeast, boolean expected) throws Exception {
		LockConfiguration configuration = new LockConfiguration(Instant.now(), name, AT_MOST, atLeast);
		try {
			LockingTaskExecutor.TaskResult<Boolean> result = this.executor.executeWithLock(() -> true, configuration);
			Assert.state(result.wasExecuted() == expected, "A call did not do what it is to measure");
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

}
