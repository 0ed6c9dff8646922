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

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The running application, with one key held by itself and one by a foreign session.
 */
class ApplicationState {

	private final AtomicInteger threads = new AtomicInteger();

	private final String url;

	private final ConfigurableApplicationContext context;

	private final DataSource dataSource;

	private final AdvisoryLockOperations operations;

	private final GuardedJobs jobs;

	private final JdbcTemplate jdbcTemplate;

	private final PlainSession foreignSession;

	private final HeldLock heldHere;

	ApplicationState(String url) throws SQLException {
		this.url = url;
		this.context = BenchmarkApplication.start(this.url);
		this.dataSource = this.context.getBean(DataSource.class);
		this.operations = this.context.getBean(AdvisoryLockOperations.class);
		this.jobs = this.context.getBean(GuardedJobs.class);
		this.jdbcTemplate = this.context.getBean(JdbcTemplate.class);
		this.heldHere = this.operations.tryAcquire(LockRequest.of(GuardedJobs.HELD_HERE)).orElseThrow();
		this.foreignSession = new PlainSession(this.url);
		holdElsewhere(GuardedJobs.HELD_ELSEWHERE);
	}

	/**
	 * Stop the application.
	 */
	void stop() throws SQLException {
		this.heldHere.close();
		this.foreignSession.close();
		this.context.close();
	}

	String url() {
		return this.url;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	AdvisoryLockOperations operations() {
		return this.operations;
	}

	GuardedJobs jobs() {
		return this.jobs;
	}

	JdbcTemplate jdbcTemplate() {
		return this.jdbcTemplate;
	}

	long heldElsewhere() {
		return number(GuardedJobs.HELD_ELSEWHERE);
	}

	/**
	 * Have a foreign session hold a lock.
	 * @return the number of its key
	 */
	long holdElsewhere(String name) throws SQLException {
		this.foreignSession.tryLock(number(name));
		return number(name);
	}

	private static long number(String name) {
		return AdvisoryLockKey.of(BenchmarkApplication.NAME, name).value();
	}

	/**
	 * Return a key that no other thread has.
	 */
	String nextKey() {
		return "thread-" + this.threads.incrementAndGet();
	}

	/**
	 * Open a connection that the pool does not know.
	 */
	Connection open() throws SQLException {
		return DriverManager.getConnection(this.url);
	}

}
