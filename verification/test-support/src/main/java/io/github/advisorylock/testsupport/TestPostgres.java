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

package io.github.advisorylock.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

import org.springframework.util.Assert;

/**
 * The PostgreSQL that tests run on, one for each JVM: a container where a Docker engine
 * answers and embedded binaries where none does, or as {@code -Dpostgres} says:
 * {@code embedded}, {@code testcontainers} or a JDBC URL with user and password in it.
 */
public final class TestPostgres {

	private static final String OF_WORK = "WHERE locktype = 'advisory' AND granted "
			+ "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
			+ "AND NOT EXISTS (SELECT FROM pg_stat_activity m WHERE m.pid = l.pid AND "
			+ family("split_part(substr(m.application_name, 4), '@', 1)") + ")";

	private static final Log logger = LogFactory.getLog(TestPostgres.class);

	private static final Duration LONGEST_SHUTDOWN = Duration.ofSeconds(20);

	/**
	 * A class loader of a test's own meets the server that is running.
	 */
	private static final String URL = (String) System.getProperties()
		.computeIfAbsent(TestPostgres.class.getName(), (name) -> startForAll());

	private static final OutsideConnections outside = new OutsideConnections(URL);

	private TestPostgres() {
	}

	/**
	 * Return the JDBC URL of the server, with everything that is needed to connect.
	 */
	public static String url() {
		return URL;
	}

	/**
	 * Open a connection that no pool knows, to look at locks from outside.
	 */
	public static Connection open() {
		try {
			return DriverManager.getConnection(URL);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Open a raw connection to the server.
	 */
	public static Socket socket() throws IOException {
		URI uri = URI.create(URL.substring("jdbc:".length()));
		return new Socket(uri.getHost(), uri.getPort());
	}

	/**
	 * Create a pool on the server.
	 */
	public static HikariDataSource pool(int size) {
		return pool(URL, size);
	}

	/**
	 * Create a pool on a URL that leads to the server.
	 */
	public static HikariDataSource pool(String url, int size) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setMaximumPoolSize(size);
		pool.setConnectionTimeout(5000);
		return pool;
	}

	/**
	 * Wait until an application has looked at the locks of transactions that it holds
	 * now: one that it has not seen is not missed.
	 * @param application its name
	 * @param heartbeat how often it looks
	 */
	public static void awaitLook(String application, Duration heartbeat) {
		String since = query("SELECT clock_timestamp() + INTERVAL '" + heartbeat.multipliedBy(2).toMillis() + " ms'")
			.get(0);
		Awaitility.await()
			.atMost(Patience.TIME)
			.until(() -> !query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'al:" + application
					+ "@%' AND query LIKE '%string_agg%' AND query_start > '" + since + "'")
				.isEmpty());
	}

	/**
	 * Run a statement from outside.
	 */
	public static void execute(String sql) {
		execute(url(), sql);
	}

	/**
	 * Run a statement on any database.
	 */
	public static void execute(String url, String sql) {
		ask(url, (statement) -> statement.execute(sql));
	}

	/**
	 * Return the first column of a query from outside, as text.
	 */
	public static List<String> query(String sql) {
		return query(url(), sql);
	}

	/**
	 * Return the first column of a query on any database, as text.
	 */
	public static List<String> query(String url, String sql) {
		return ask(url, (statement) -> {
			try (ResultSet rows = statement.executeQuery(sql)) {
				List<String> result = new ArrayList<>();
				while (rows.next()) {
					result.add(rows.getString(1));
				}
				return result;
			}
		});
	}

	/**
	 * Other databases may be dropped, and other servers stopped: they are asked on a
	 * connection that is closed.
	 */
	private static <T> T ask(String url, OutsideConnections.Use<T> use) {
		try {
			if (url.equals(URL)) {
				return outside.call(use);
			}
			return PlatformThread.call(() -> {
				try (Connection connection = DriverManager.getConnection(url);
						Statement statement = connection.createStatement()) {
					return use.apply(statement);
				}
			});
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Return the process ids of the connections of ours that say this name: that of an
	 * application for sessions, that of a key for transactions.
	 */
	public static List<String> connections(String name) {
		return query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'al:" + name + "@%'");
	}

	/**
	 * Have the server end the {@linkplain #connections connections} of a name, and wait
	 * until they are gone with their locks: a client is told before that.
	 * @return how many there were
	 */
	public static int terminate(String name) {
		List<String> pids = connections(name);
		for (String pid : pids) {
			execute("SELECT pg_terminate_backend(" + pid + ")");
			long start = System.nanoTime();
			while (!query("SELECT 1 FROM pg_stat_activity WHERE pid = " + pid).isEmpty()) {
				Assert.state(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10),
						() -> "Process " + pid + " of the server does not end");
			}
		}
		return pids.size();
	}

	/**
	 * Return the advisory locks of this database that are granted, as
	 * {@code classid/objid/objsubid}, but for those that members have by being there.
	 */
	public static List<String> locks() {
		return query("SELECT classid || '/' || objid || '/' || objsubid FROM pg_locks l " + OF_WORK);
	}

	/**
	 * As {@link #locks()}, each with the process that has it and what that is at: for
	 * tests that are to say who has left one behind.
	 */
	public static List<String> holders() {
		return query("SELECT concat(classid, '/', objid, '/', objsubid, ' of ', l.pid, ' ', application_name, ', ', "
				+ "state, ' since ', clock_timestamp() - state_change, ', ', wait_event, ', last asked ', query) "
				+ "FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid " + OF_WORK);
	}

	/**
	 * Return the processes that are members of a namespace, as the lock table tells.
	 */
	public static List<String> members(String namespace) {
		return ofMembers("pid", namespace);
	}

	/**
	 * Return the locks of all members of a namespace, as the lock table tells.
	 */
	public static List<String> memberLocks(String namespace) {
		return ofMembers("objid", namespace);
	}

	private static List<String> ofMembers(String column, String namespace) {
		return query("SELECT DISTINCT " + column
				+ " FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock' "
				+ "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "
				+ family("'" + namespace + "'"));
	}

	private static String family(String namespace) {
		return "classid::bigint = ('x' || left(encode(sha256(convert_to(ltrim(" + namespace
				+ " || '/advisory-lock:members', '/'), 'UTF8')), 'hex'), 8))::bit(32)::bigint";
	}

	/**
	 * Whoever asks first may have a class loader of its own, and the classes of the
	 * server are found by that of the thread.
	 */
	private static String startForAll() {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		thread.setContextClassLoader(TestPostgres.class.getClassLoader());
		try {
			return start();
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private static String start() {
		String choice = System.getProperty("postgres", "auto");
		if (choice.startsWith("jdbc:")) {
			logger.info("Tests run on the PostgreSQL at the given JDBC URL");
			return choice;
		}
		boolean container = choice.equals("testcontainers")
				|| (!choice.equals("embedded") && DockerClientFactory.instance().isDockerAvailable());
		logger.info("Tests run on " + (container ? "a PostgreSQL container" : "embedded PostgreSQL binaries")
				+ " (-Dpostgres=" + choice + ")");
		return container ? startContainer() : startEmbedded();
	}

	private static String startContainer() {
		PostgreSQLContainer container = new PostgreSQLContainer(System.getProperty("postgres.image", "postgres:18"));
		container.withCommand("postgres", "-c", "max_connections=200");
		container.start();
		closeAfterApplications(container);
		String separator = container.getJdbcUrl().contains("?") ? "&" : "?";
		return container.getJdbcUrl() + separator + "user=" + container.getUsername() + "&password="
				+ container.getPassword();
	}

	private static String startEmbedded() {
		try {
			EmbeddedPostgres server = EmbeddedPostgres.builder()
				.setServerConfig("max_connections", "200")
				.setServerConfig("listen_addresses", "localhost")
				.setPort(FreePort.find())
				.setRegisterShutdownHook(false)
				.start();
			closeAfterApplications(server);
			return server.getJdbcUrl("postgres", "postgres");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Applications that tests leave open are closed by a hook of the JVM, side by side
	 * with this one, and wait for the time of a shutdown phase if their database is gone.
	 */
	private static void closeAfterApplications(AutoCloseable server) {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			try {
				// All hooks are started at the same time: that one may not be there yet
				Pause.of(Duration.ofMillis(100));
				for (Thread hook : Thread.getAllStackTraces().keySet()) {
					if (hook.getName().equals("SpringApplicationShutdownHook")) {
						hook.join(LONGEST_SHUTDOWN.toMillis());
					}
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			try {
				server.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("Failed to stop the PostgreSQL of the tests", ex);
			}
		}));
	}

}
