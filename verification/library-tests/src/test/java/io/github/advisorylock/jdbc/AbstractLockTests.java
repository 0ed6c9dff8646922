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
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.VirtualThreadExecutor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What all tests of locks share: a pool, a template, threads, and that no lock may be
 * left behind.
 */
public abstract class AbstractLockTests {

	public static final String NAMESPACE = "tests";

	protected static final AdvisoryLockKey KEY = AdvisoryLockKey.of(NAMESPACE, "job");

	protected static final Duration SHORT = Duration.ofMillis(100);

	public static final Duration LONG = Duration.ofSeconds(10);

	protected final ExecutorService threads = VirtualThreadExecutor.createWhereAsked();

	protected final Queue<Object> events = new ConcurrentLinkedQueue<>();

	protected final List<LockSession> sessions = new ArrayList<>();

	protected HikariDataSource pool;

	protected PlatformTransactionManager transactionManager;

	protected JdbcTemplate jdbc;

	protected PostgresAdvisoryLockTemplate template;

	@BeforeEach
	void openPool() {
		usePool(KeptPool.take());
	}

	protected final void usePool(HikariDataSource pool) {
		close();
		this.pool = pool;
		this.transactionManager = new JdbcTransactionManager(pool);
		this.jdbc = new JdbcTemplate(pool);
		this.template = createTemplate(pool, this.transactionManager);
	}

	protected final void usePoolWithAutoCommit(boolean autoCommit) {
		HikariDataSource own = TestPostgres.pool(4);
		own.setAutoCommit(autoCommit);
		usePool(own);
	}

	protected PostgresAdvisoryLockTemplate createTemplate(DataSource dataSource,
			PlatformTransactionManager transactionManager) {
		return createTemplate(dataSource, transactionManager, new DriverManagerDataSource(TestPostgres.url()));
	}

	protected PostgresAdvisoryLockTemplate createTemplate(DataSource dataSource,
			PlatformTransactionManager transactionManager, DataSource connectionSource) {
		LockSession session = new LockSession(connectionSource, NAMESPACE, LockSessionSettings.DEFAULT,
				this.events::add);
		this.sessions.add(session);
		return new PostgresAdvisoryLockTemplate(dataSource, transactionManager, session, NAMESPACE,
				AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
	}

	@AfterEach
	final void checkThatNoLockIsLeft() throws InterruptedException {
		this.threads.shutdownNow();
		assertThat(this.threads.awaitTermination(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.holders()).isEmpty());
		close();
		// the next test counts its own
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.connections(NAMESPACE)).isEmpty());
	}

	private void close() {
		if (this.pool != null) {
			this.sessions.forEach(LockSession::close);
			this.sessions.clear();
			KeptPool.giveBack(this.pool);
		}
	}

	protected TransactionTemplate transaction() {
		return new TransactionTemplate(this.transactionManager);
	}

	protected TransactionTemplate transaction(int propagation) {
		TransactionTemplate transaction = transaction();
		transaction.setPropagationBehavior(propagation);
		return transaction;
	}

	/**
	 * Return whether another thread of the application stands in the way of this one.
	 */
	protected static boolean isBusyLocally(PostgresAdvisoryLockTemplate template, LockRequest request) {
		try (TwoPhaseLockOperations.Admission call = template.admit(request.waitFor(Duration.ZERO))) {
			return call.outcome() == LockOutcome.BUSY;
		}
	}

	protected LockRequest request(LockScope scope) {
		return LockRequest.of("job").scope(scope);
	}

	/**
	 * Run under a lock on another thread until this one has done its part.
	 */
	protected void whileAnotherThreadRuns(LockRequest request, Callable<?> meanwhile) throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		Future<LockResult<Boolean>> other = this.threads.submit(() -> this.template.execute(request, (lock) -> {
			running.countDown();
			return end.await(Patience.SECONDS, TimeUnit.SECONDS);
		}));
		try {
			assertThat(running.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			meanwhile.call();
		}
		finally {
			end.countDown();
		}
		assertThat(other.get(Patience.SECONDS, TimeUnit.SECONDS).value()).isTrue();
	}

}
