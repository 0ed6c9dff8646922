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

import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import javax.management.JMException;
import javax.management.ObjectName;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for what another connection, or the heap, shows of runs at a moment between two
 * steps.
 */
class SeenFromOutsideTests extends AbstractLockTests {

	private static final Instant TICK = Instant.parse("2026-11-22T02:00:00Z");

	private static final int RUNS = 200;

	@ParameterizedTest
	@CsvSource({ "TRANSACTION, 1", "TRANSACTION, 2", "SESSION, 1", "SESSION, 2" })
	void permitThatWasGrantedIsTheOneThatIsCheckedAndReleased(LockScope scope, int taken) {
		LockRequest request = request(scope).permits(2);
		try (ForeignSession worker = ForeignSession.holding(KEY.permit(taken))) {
			for (int i = 0; i < 10; i++) {
				assertThat(this.template.execute(request, (lock) -> {
					assertThatNoException().isThrownBy(lock::checkHeld);
					return ForeignSession.holders(KEY.permit(3 - taken)).size();
				}).value()).isOne();
				assertThat(ForeignSession.isHeld(KEY.permit(3 - taken))).isFalse();
			}
			assertThat(worker.unlock(KEY.permit(taken))).isTrue();
		}
	}

	/**
	 * Who has waited for the key sees at that moment what the lock of the tick says. The
	 * server may let go of what the connection before has held after its close.
	 */
	@Test
	void tickIsKnownAsRunBeforeItsKeyIsFree() throws Exception {
		for (int i = 0; i < 20; i++) {
			Instant tick = TICK.plusSeconds(i);
			Future<Boolean> known = this.threads.submit(() -> false);
			try (Connection waiting = TestPostgres.open()) {
				LockRequest request = request(LockScope.SESSION).waitFor(Patience.TIME)
					.rememberTick(tick, Duration.ofMinutes(1));
				known = this.template.execute(request, (lock) -> {
					Future<Boolean> answer = this.threads
						.submit(() -> waitFor(waiting, KEY, TickMemory.key(KEY, tick)));
					Awaitility.await()
						.until(() -> TestPostgres.query("SELECT pid FROM pg_locks WHERE NOT granted"),
								(pids) -> !pids.isEmpty());
					return answer;
				}).orElseThrow();
				assertThat(known.get(Patience.SECONDS, TimeUnit.SECONDS)).as("tick %s is shared", tick).isTrue();
			}
		}
		this.sessions.forEach(LockSession::close);
	}

	private static boolean waitFor(Connection connection, AdvisoryLockKey key, AdvisoryLockKey tick)
			throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet answer = statement.executeQuery("SELECT pg_advisory_lock(" + key.value()
						+ "), pg_try_advisory_lock_shared(" + tick.value() + ")")) {
			answer.next();
			return answer.getBoolean(2);
		}
	}

	/**
	 * As a pooler in session mode hands the server process of one client to the next.
	 */
	@Test
	void locksThatAnotherClientHasLeftInTheServerProcessAreReleased() {
		AdvisoryLockKey left = AdvisoryLockKey.of(NAMESPACE, "left");
		DriverManagerDataSource used = new DriverManagerDataSource(TestPostgres.url()) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				try (Statement statement = connection.createStatement()) {
					statement.execute("SELECT pg_advisory_lock(" + left.value() + ")");
				}
				return connection;
			}

		};
		try (HeldLock held = createTemplate(this.pool, this.transactionManager, used)
			.tryAcquire(request(LockScope.SESSION))
			.orElseThrow()) {
			assertThat(held.isHeld()).isTrue();
			assertThat(ForeignSession.isHeld(KEY)).isTrue();
			assertThat(ForeignSession.isHeld(left)).isFalse();
		}
	}

	@ParameterizedTest
	@EnumSource
	void runsWithALongLimitAreForgottenWhenTheyEnd(LockScope scope) throws Exception {
		LockRequest request = request(scope).maxRun(Duration.ofHours(1));
		run(request);
		long before = ours();
		for (int i = 0; i < RUNS; i++) {
			run(request);
		}
		assertThat(ours() - before).isLessThan(RUNS / 2);
	}

	private void run(LockRequest request) {
		assertThat(this.template.execute(request, LockContext::key).executed()).isTrue();
		if (request.scope() == LockScope.SESSION) {
			this.template.tryAcquire(request).orElseThrow().close();
		}
	}

	/**
	 * Return how many objects of the library are left after a collection.
	 */
	private static long ours() throws JMException {
		String histogram = (String) ManagementFactory.getPlatformMBeanServer()
			.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
					new Object[] { null }, new String[] { String[].class.getName() });
		return histogram.lines()
			.filter((line) -> line.contains("io.github.advisorylock.jdbc."))
			.mapToLong((line) -> Long.parseLong(line.strip().split("\\s+")[1]))
			.sum();
	}

}
