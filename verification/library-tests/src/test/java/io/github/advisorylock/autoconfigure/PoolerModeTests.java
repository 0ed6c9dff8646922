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

package io.github.advisorylock.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.testsupport.TestPgBouncer;
import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.TestServer;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose PgBouncer is told to hand out its server processes by the
 * transaction while they have session locks.
 */
@Tag("servers")
@ExtendWith(OutputCaptureExtension.class)
class PoolerModeTests {

	private static TestServer server;

	private TestPgBouncer pooler;

	/**
	 * A lock that nobody refers to is released when the garbage collector finds it.
	 */
	private final List<HeldLock> kept = new ArrayList<>();

	@BeforeAll
	static void startServer(@TempDir Path directory) {
		server = TestServer.start(directory.resolve("server"), Map.of());
	}

	@AfterAll
	static void stopServer() {
		server.close();
	}

	@BeforeEach
	void startPooler(@TempDir Path directory) {
		this.pooler = TestPgBouncer.start(server, "session", "default_pool_size = 20", directory);
	}

	@AfterEach
	void stopPooler() {
		this.pooler.close();
	}

	private ApplicationContextRunner application() {
		return DoctorContexts.create(this.pooler.url() + "&prepareThreshold=0")
			.withPropertyValues("advisory-lock.session.heartbeat=300ms",
					"advisory-lock.session.dead-client-timeout=2s");
	}

	@Test
	void nobodyGetsALockThatAnotherInstanceHasWhenTheModeChanges(CapturedOutput output) {
		application().run((one) -> application().run((other) -> {
			HeldLock first = tryAcquire(one, "first").orElseThrow();
			HeldLock second = tryAcquire(other, "second").orElseThrow();
			this.pooler.change("transaction");
			Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> {
				boolean secondHeld = second.isHeld();
				assertThat(tryAcquire(one, "second").isPresent() && secondHeld).as("second is held twice").isFalse();
				boolean firstHeld = first.isHeld();
				assertThat(tryAcquire(other, "first").isPresent() && firstHeld).as("first is held twice").isFalse();
				return !first.isHeld() || !second.isHeld();
			});
			ApplicationContext loser = first.isHeld() ? other : one;
			assertThatExceptionOfType(UnsupportedDatabaseException.class)
				.isThrownBy(() -> loser.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of("refused")))
				.withMessageContainingAll("pooler in transaction mode", "advisory-lock.session.url");
			assertThat(output).contains("pg_terminate_backend", "RECONNECT");
		}));
	}

	@Test
	void nobodyLeadsBesideAnotherWhenTheModeChanges() {
		application().run((one) -> application().run((other) -> {
			LeaderElection first = one.getBean(LeaderElection.class);
			LeaderElection second = other.getBean(LeaderElection.class);
			Awaitility.await().until(() -> first.isLeader("reports") | second.isLeader("reports"));
			HeldLock firstKept = tryAcquire(one, "kept").orElseThrow();
			HeldLock secondKept = tryAcquire(other, "kept-too").orElseThrow();
			this.pooler.change("transaction");
			Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> {
				boolean firstLeads = first.isLeader("reports");
				boolean secondLeads = second.isLeader("reports");
				assertThat(firstLeads && secondLeads).as("both lead").isFalse();
				return !firstKept.isHeld() || !secondKept.isHeld();
			});
		}));
	}

	/**
	 * PgBouncer hands out the process that came back latest.
	 */
	@Test
	void closingLeavesTheLocksOfAnotherInstanceWhenTheModeHasChanged() {
		String quiet = "advisory-lock.session.heartbeat=1h";
		String patient = "advisory-lock.session.dead-client-timeout=3h";
		application().withPropertyValues(quiet, patient).run((one) -> {
			application().withPropertyValues(quiet, patient).run((other) -> {
				assertThat(tryAcquire(one, "kept")).isPresent();
				assertThat(tryAcquire(other, "left")).isPresent();
				this.pooler.change("transaction");
				assertThat(tryAcquire(other, "left-too")).isPresent();
				assertThat(tryAcquire(one, "kept-too")).isPresent();
			});
			assertThat(isLocked("kept")).isTrue();
			assertThat(isLocked("kept-too")).isTrue();
		});
	}

	@Test
	void locksThatStayInThePoolerAreToldToWhoOpensAroundIt(CapturedOutput output) {
		AtomicReference<String> left = new AtomicReference<>();
		application().run((one) -> application().run((other) -> {
			HeldLock first = tryAcquire(one, "first").orElseThrow();
			HeldLock second = tryAcquire(other, "second").orElseThrow();
			this.pooler.change("transaction");
			Awaitility.await().until(() -> !first.isHeld() || !second.isHeld());
			left.set(first.isHeld() ? "second" : "first");
		}));
		assertThat(isLocked(left.get())).isTrue();
		application().withPropertyValues("advisory-lock.session.url=" + server.url()).run((next) -> {
			assertThat(tryAcquire(next, left.get())).isEmpty();
			Awaitility.await().until(() -> output.toString().contains("are no lock session"));
			assertThat(output.toString().lines().filter((line) -> line.contains("are no lock session")))
				.singleElement(as(InstanceOfAssertFactories.STRING))
				.contains("WARN", "RECONNECT", "pg_terminate_backend",
						server.query("SELECT min(pid)::text FROM pg_locks l WHERE " + condition(left.get())));
			server.execute("SELECT pg_terminate_backend(pid) FROM pg_locks l WHERE " + condition(left.get()));
			Awaitility.await().until(() -> tryAcquire(next, left.get()).isPresent());
		});
	}

	private Optional<HeldLock> tryAcquire(ApplicationContext context, String key) {
		try {
			Optional<HeldLock> lock = context.getBean(AdvisoryLockOperations.class).tryAcquire(LockRequest.of(key));
			lock.ifPresent(this.kept::add);
			return lock;
		}
		catch (DataAccessException ex) {
			return Optional.empty();
		}
	}

	private static boolean isLocked(String key) {
		return TestPostgres.query(server.url(), "SELECT count(*) > 0 FROM pg_locks l WHERE " + condition(key))
			.contains("t");
	}

	private static String condition(String key) {
		AdvisoryLockKey lock = AdvisoryLockKey.of("doctor", key);
		return "l.locktype = 'advisory' AND l.classid::bigint = " + Integer.toUnsignedLong(lock.classId())
				+ " AND l.objid::bigint = " + Integer.toUnsignedLong(lock.objectId());
	}

}
