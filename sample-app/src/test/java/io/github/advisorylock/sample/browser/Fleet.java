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

package io.github.advisorylock.sample.browser;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances of the sample application on a database of their own, which is looked at from
 * outside.
 */
final class Fleet implements AutoCloseable {

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private final String database;

	private final String url;

	private final Path logs;

	private final List<Member> members = new ArrayList<>();

	private Fleet(String database, Path logs) {
		this.database = database;
		this.url = TestPostgres.url().replaceFirst("(//[^/]+/)[^?]*", "$1" + database);
		this.logs = logs;
	}

	/**
	 * Create a database for instances, which is dropped with them. One of that name that
	 * is there already is somebody else's.
	 */
	static Fleet on(String database, Path logs) {
		TestPostgres.execute("CREATE DATABASE " + database);
		return new Fleet(database, logs);
	}

	/**
	 * Start an instance that says that it is on the given host.
	 */
	Member start(String host, String... properties) {
		Path log = this.logs.resolve("instance-" + this.members.size() + ".log");
		String[] arguments = Stream
			.concat(Stream.of("server.port=0", "spring.datasource.url=" + this.url,
					"spring.datasource.hikari.maximum-pool-size=5", "sample.report.orders=3000"), Stream.of(properties))
			.map((property) -> "--" + property)
			.toArray(String[]::new);
		Member member = new Member(host,
				JavaProcess.start(log, Map.of("HOSTNAME", host), BrowserInstance.class, arguments));
		this.members.add(member);
		return member;
	}

	void execute(String sql) {
		TestPostgres.execute(this.url, sql);
	}

	/**
	 * Open a connection to the database, to be closed by the caller.
	 */
	Connection open() throws SQLException {
		return DriverManager.getConnection(this.url);
	}

	/**
	 * Return the first column of a query.
	 */
	List<String> query(String sql) {
		return TestPostgres.query(this.url, sql);
	}

	/**
	 * Return how many runs of a key are in the ledger.
	 */
	int runs(String key) {
		return Integer.parseInt(query("SELECT count(*) FROM advisory_lock_run WHERE key = '" + key + "'").get(0));
	}

	@Override
	public void close() throws InterruptedException {
		for (Member member : this.members) {
			member.process().kill();
		}
		TestPostgres.execute("DROP DATABASE " + this.database + " WITH (FORCE)");
	}

	/**
	 * An instance.
	 */
	record Member(String host, JavaProcess process) {

		/**
		 * Return the name of the instance in ledger and page.
		 */
		String name() {
			return this.host + ":" + this.process.pid();
		}

		/**
		 * Wait for the instance to be up, and return its address.
		 */
		String address() {
			// what the start does at its end may still need the database
			this.process.awaitLine("This is instance");
			Matcher port = PORT.matcher(this.process.awaitLine("Tomcat started on port"));
			assertThat(port.find()).isTrue();
			return "http://127.0.0.1:" + port.group(1);
		}

		/**
		 * Return how often the instance said that it skipped a key for the given reason.
		 */
		long skips(String key, String reason) {
			return this.process.lines()
				.stream()
				.filter((line) -> line.contains("Skipped '") && line.contains("/" + key + "' (")
						&& line.contains(", " + reason + ": "))
				.count();
		}

	}

}
