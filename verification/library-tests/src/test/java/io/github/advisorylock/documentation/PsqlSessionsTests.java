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

package io.github.advisorylock.documentation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.advisorylock.testsupport.TestPostgres;
import io.github.advisorylock.testsupport.Tool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the two sessions that a reader opens: each statement answers what stands
 * behind it.
 */
@Tag("gate")
class PsqlSessionsTests {

	private static final Pattern STATEMENT = Pattern.compile("([^;]+);(?: -- (\\w+))?");

	private static final String END = "end of the answer";

	@Test
	void statementsAnswerWhatTheDocumentSays() throws Exception {
		checkIn(JdbcSession::new);
	}

	@Test
	void statementsAnswerThatInPsql() throws Exception {
		Tool.assumeRuns("psql", "--version");
		checkIn(PsqlSession::new);
	}

	private static void checkIn(Opening opening) throws Exception {
		List<CodeBlock> blocks = Documentation.codeBlocks()
			.stream()
			.filter((block) -> block.use().startsWith("session="))
			.toList();
		assertThat(blocks).hasSizeGreaterThan(6);
		Map<String, Session> sessions = new TreeMap<>();
		try {
			for (CodeBlock block : blocks) {
				if (!sessions.containsKey(block.use())) {
					sessions.put(block.use(), opening.open());
				}
				Session session = sessions.get(block.use());
				List<String> expected = new ArrayList<>();
				List<String> answers = new ArrayList<>();
				STATEMENT.matcher(block.text()).results().forEach((statement) -> {
					if (statement.group(2) != null) {
						expected.add(statement.group(2));
					}
					answers.addAll(session.run(statement.group(1)));
				});
				assertThat(answers).as(block.toString()).isEqualTo(expected);
			}
		}
		finally {
			for (Session session : sessions.values()) {
				session.close();
			}
		}
	}

	/**
	 * Leave out what only the JDBC driver knows.
	 */
	static String libpq(String url) {
		String[] parts = url.split("\\?", 2);
		return parts[0] + Arrays.stream((parts.length > 1) ? parts[1].split("&") : new String[0])
			.filter((parameter) -> parameter.startsWith("user=") || parameter.startsWith("password="))
			.collect(Collectors.joining("&", "?", ""));
	}

	/**
	 * Opens a session.
	 */
	@FunctionalInterface
	private interface Opening {

		Session open() throws Exception;

	}

	/**
	 * What a reader types into.
	 */
	private interface Session extends AutoCloseable {

		List<String> run(String statement);

	}

	/**
	 * Types by JDBC.
	 */
	private static final class JdbcSession implements Session {

		private final Connection connection = TestPostgres.open();

		@Override
		public List<String> run(String sql) {
			List<String> answers = new ArrayList<>();
			try (Statement statement = this.connection.createStatement()) {
				if (statement.execute(sql)) {
					ResultSet rows = statement.getResultSet();
					while (rows.next()) {
						answers.add(rows.getString(1));
					}
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(sql, ex);
			}
			return answers;
		}

		@Override
		public void close() throws SQLException {
			this.connection.close();
		}

	}

	/**
	 * Types into the program.
	 */
	private static final class PsqlSession implements Session {

		private final Process process;

		private final PrintStream input;

		private final BufferedReader output;

		PsqlSession() throws IOException {
			String url = TestPostgres.url().substring("jdbc:".length());
			this.process = new ProcessBuilder("psql", "-X", "-q", "-A", "-t", libpq(url)).redirectErrorStream(true)
				.start();
			this.input = new PrintStream(this.process.getOutputStream(), true, StandardCharsets.UTF_8);
			this.output = new BufferedReader(
					new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8));
		}

		@Override
		public List<String> run(String statement) {
			this.input.println(statement + ";\n\\echo " + END);
			List<String> answers = new ArrayList<>();
			try {
				for (String line = this.output.readLine(); !END.equals(line); line = this.output.readLine()) {
					assertThat(line).as("the output of psql").isNotNull();
					answers.add(line);
				}
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
			return answers;
		}

		@Override
		public void close() throws InterruptedException {
			this.input.close();
			this.process.waitFor();
		}

	}

}
