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
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The running application, with one key held by itself and one by a foreign session.
 */
@State(Scope.Benchmark)
public class ApplicationState {

	private final AtomicInteger threads = new AtomicInteger();

	private String url;

	private ConfigurableApplicationContext context;

	private DataSource dataSource;

	private AdvisoryLockOperations operations;

	private GuardedJobs jobs;

	private JdbcTemplate jdbcTemplate;

	private TransactionTemplate transactionTemplate;

	private PlainSession foreignSession;

	private HeldLock heldHere;

	/**
	 * Start the application.
	 * @throws SQLException if the server can't be reached
	 */
	@Setup
	public void start() throws SQLException {
		this.url = System.getProperty("postgres");
		CountingSocketFactory.delay(Duration.parse(System.getProperty("benchmarks.wire", "PT0S")));
		this.context = BenchmarkApplication.start(this.url);
		this.dataSource = this.context.getBean(DataSource.class);
		this.operations = this.context.getBean(AdvisoryLockOperations.class);
		this.jobs = this.context.getBean(GuardedJobs.class);
		this.jdbcTemplate = this.context.getBean(JdbcTemplate.class);
		this.transactionTemplate = new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
		this.heldHere = this.operations.tryAcquire(LockRequest.of(GuardedJobs.HELD_HERE)).orElseThrow();
		this.foreignSession = new PlainSession(this.url);
		this.foreignSession.tryLock(heldElsewhere());
	}

	/**
	 * Stop the application.
	 * @throws SQLException if that fails
	 */
	@TearDown
	public void stop() throws SQLException {
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

	TransactionTemplate transactionTemplate() {
		return this.transactionTemplate;
	}

	long heldElsewhere() {
		return AdvisoryLockKey.of(BenchmarkApplication.NAME, GuardedJobs.HELD_ELSEWHERE).value();
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
