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

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.CountingSocketFactory;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.Driver;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.util.function.ThrowingConsumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ConnectionOpening}.
 */
class ConnectionOpeningTests {

	private static final Log logger = LogFactory.getLog(ConnectionOpeningTests.class);

	private static final LockSessionSettings SHORT = new LockSessionSettings(Duration.ofMillis(300),
			Duration.ofMillis(1500), WhenLost.INTERRUPT);

	private final List<Socket> accepted = new CopyOnWriteArrayList<>();

	private ServerSocket server;

	@BeforeEach
	void listen() throws IOException {
		this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
	}

	@AfterEach
	void stop() throws IOException {
		this.server.close();
		for (Socket socket : this.accepted) {
			socket.close();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&sslmode=disable", "&socketTimeout=300&connectTimeout=0" })
	void callersOfSilentServerFailTogetherInTime(String parameters) {
		accept((socket) -> {
		});
		try (LockSession session = session(url() + parameters, SHORT)) {
			List<CompletableFuture<Throwable>> callers = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				callers.add(tryLock(session, "silent-" + i));
			}
			assertThat(callers).hasSize(100)
				.allSatisfy((caller) -> assertThat(caller.get(Patience.SECONDS, TimeUnit.SECONDS))
					.hasMessageContaining("silent-"));
			assertThat(this.accepted).hasSizeLessThan(4);
		}
	}

	@Test
	void serverThatTalksOnAndOnDoesNotLetUsWaitForEver() {
		accept((socket) -> {
			socket.getOutputStream().write(new byte[] { 'E', 0, 0, 100, 0 });
			while (!socket.isClosed()) {
				socket.getOutputStream().write('S');
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
			}
		});
		try (LockSession session = session(url() + "&sslmode=disable", SHORT)) {
			assertThat(tryLock(session, "talkative")).succeedsWithin(Patience.TIME)
				.satisfies((failure) -> assertThat(failure).hasStackTraceContaining("did not let us in within 1500 ms")
					.rootCause()
					.isInstanceOf(SocketException.class)
					// two messages of the JDK for one thing
					.extracting(Throwable::getMessage)
					.isIn("Socket closed", "Socket is closed"));
		}
	}

	@Test
	void closeEndsConnectionThatIsBeingOpened() {
		accept((socket) -> {
		});
		LockSession session = session(url(),
				new LockSessionSettings(Duration.ofSeconds(1), Duration.ofMinutes(5), WhenLost.INTERRUPT));
		CompletableFuture<Throwable> caller = tryLock(session, "closing");
		Awaitility.await().atMost(Patience.TIME).until(() -> !this.accepted.isEmpty());
		assertThat(CompletableFuture.runAsync(session::close)).succeedsWithin(Patience.TIME);
		assertThat(caller).succeedsWithin(Patience.TIME)
			.satisfies((failure) -> assertThat(failure).hasStackTraceContaining("shutting down"));
	}

	@Test
	void inputIsKnownWithoutReadingIt() {
		List<String> heard = new CopyOnWriteArrayList<>();
		try (LockSession session = session(TestPostgres.url(), LockSessionSettings.DEFAULT)) {
			assertThat(session.notifications().hasInput()).isFalse();
			session.notifications().listen("advisory_lock_test", () -> {
			}, (text, process) -> heard.add(text));
			assertThat(tryLock(session, "input")).succeedsWithin(Patience.TIME).isNull();
			session.notifications().receive();
			assertThat(session.notifications().hasInput()).isFalse();
			TestPostgres.execute("NOTIFY advisory_lock_test, 'to ConnectionOpeningTests'");
			Awaitility.await().atMost(Patience.TIME).until(session.notifications()::hasInput);
			session.notifications().receive();
			assertThat(heard).contains("to ConnectionOpeningTests");
			assertThat(session.notifications().hasInput()).isFalse();
		}
	}

	@Test
	void socketFactoryOfTheApplicationIsUsed() {
		try (LockSession session = session(CountingSocketFactory.addTo(TestPostgres.url()),
				LockSessionSettings.DEFAULT)) {
			long before = CountingSocketFactory.sockets();
			assertThat(tryLock(session, "factory")).succeedsWithin(Patience.TIME).isNull();
			assertThat(CountingSocketFactory.sockets()).isGreaterThan(before);
		}
	}

	@ParameterizedTest
	@MethodSource
	void urlThatTheDriverPrintsIsToldWithoutItsSecrets(DataSource source) {
		assertThatExceptionOfType(SQLException.class).isThrownBy(source::getConnection)
			.withMessageContaining("hunter2");
		try (LockSession session = new LockSession(source, "test", SHORT, (event) -> {
		})) {
			assertThat(tryLock(session, "secret")).succeedsWithin(Patience.TIME).satisfies((failure) -> {
				StringWriter trace = new StringWriter();
				failure.printStackTrace(new PrintWriter(trace));
				assertThat(trace).asString().contains("password=***").doesNotContain("hunter2");
			});
		}
	}

	/**
	 * The driver prints a URL that it can't parse, and the JDK one that no driver knows.
	 */
	static List<DataSource> urlThatTheDriverPrintsIsToldWithoutItsSecrets() {
		return List.of(new SimpleDriverDataSource(new Driver(), "jdbc:postgresql://host:port/db?password=hunter2"),
				new DriverManagerDataSource("jdbc:nobody://host/db?password=hunter2") {
				});
	}

	@Test
	void refusedServerIsLeftAloneForAWhile() {
		AtomicInteger attempts = new AtomicInteger();
		DriverManagerDataSource other = new DriverManagerDataSource("jdbc:h2:mem:refused") {

			@Override
			public java.sql.Connection getConnection() throws java.sql.SQLException {
				attempts.incrementAndGet();
				return super.getConnection();
			}

		};
		ServerJudge judge = (connection, another, comparison) -> {
			throw new UnsupportedDatabaseException("it is another one");
		};
		try (LockSession session = new LockSession(() -> other, "test", null, LockSessionSettings.DEFAULT, judge,
				(event) -> {
				}, LockScheduler.Threads.ofCurrent())) {
			for (int i = 0; i < 20; i++) {
				assertThatExceptionOfType(UnsupportedDatabaseException.class)
					.isThrownBy(() -> session.tryLock(hold("refused")));
			}
			assertThat(attempts).hasValueLessThan(10);
		}
	}

	private String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.server.getLocalPort() + "/postgres?user=postgres&password=secret";
	}

	private static LockSession session(String url, LockSessionSettings settings) {
		return new LockSession(new DriverManagerDataSource(url), "test", settings, (event) -> {
		});
	}

	private static CompletableFuture<Throwable> tryLock(LockSession session, String key) {
		CompletableFuture<Throwable> failure = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				session.tryLock(hold(key));
				failure.complete(null);
			}
			catch (Throwable ex) {
				failure.complete(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return failure;
	}

	private static Hold hold(String key) {
		return new Hold.InSession(AdvisoryLockKey.of("opening", key), LockMode.EXCLUSIVE, LockScheduler.Ticker.SYSTEM,
				() -> {
				});
	}

	private void accept(ThrowingConsumer<Socket> behaviour) {
		Thread thread = new Thread(() -> {
			while (!this.server.isClosed()) {
				try {
					Socket socket = this.server.accept();
					this.accepted.add(socket);
					behaviour.accept(socket);
				}
				catch (Exception ex) {
					logger.debug("The client has gone", ex);
				}
			}
		}, "silent-server");
		thread.setDaemon(true);
		thread.start();
	}

}
