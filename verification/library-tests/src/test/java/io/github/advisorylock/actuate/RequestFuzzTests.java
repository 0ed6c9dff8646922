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

package io.github.advisorylock.actuate;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.HostileText;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every request to the {@link AdvisoryLocksEndpoint} is answered or refused,
 * and that what is refused changes nothing: 300 of 12,000 requests, and in the profile
 * all of them, made from a seed, written to the socket as they are.
 */
@Tag("slow")
class RequestFuzzTests {

	private static final long SEED = Long.getLong("fuzz.seed", 11);

	private static final int REQUESTS = 12_000;

	private static final int BATCH = 250;

	private static final List<Integer> REFUSALS = List.of(400, 404, 405, 413, 414, 415, 431, 501);

	private static final List<String> FIELDS = List.of("state", "key", "securityContext", "namespaces", "state ",
			"STATE", "");

	private static final List<String> VALUES = List.of("\"paused\"", "\"other\"", "\"running \"", "null", "1", "[]",
			"{}", "[\"paused\"]", "true", "1e400");

	private final HostileText texts = new HostileText(SEED);

	@Test
	void requestIsAnsweredOrRefusedAndChangesNothing() throws IOException {
		send(REQUESTS / 40);
	}

	@Test
	@Tag("chaos")
	void eachOfManyRequestsIsAnsweredOrRefusedAndChangesNothing() throws IOException {
		send(REQUESTS);
	}

	private void send(int requests) throws IOException {
		OperatedApplication.dropTables();
		try (OperatedApplication application = OperatedApplication.start(Jobs.class,
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage",
				"management.endpoint.advisorylocks.access=unrestricted", "server.tomcat.max-keep-alive-requests=-1");
				LogRecorder log = LogRecorder.of("ROOT", "WARN");
				Connection connection = new Connection(application.request("").build().uri())) {
			List<String> before = rows();
			int refused = 0;
			for (int i = 0; i < requests; i++) {
				refused += connection.send(request()) ? 1 : 0;
				if (i % BATCH == 0) {
					assertThat(rows()).as("after request %s, seed %s", i, SEED).isEqualTo(before);
				}
			}
			assertThat(rows()).isEqualTo(before);
			assertThat(refused).isBetween(requests / 4, requests);
			assertThat(TestPostgres.locks()).isEmpty();
			assertThat(log.events()).filteredOn((event) -> event.getLoggerName().startsWith("io.github.advisorylock"))
				.isEmpty();
			assertThat(application.get(EndpointAnswer.ALL + "/report").statusCode()).isEqualTo(200);
		}
	}

	private String request() {
		return switch (this.texts.nextInt(4)) {
			case 0 -> get("/actuator/advisorylocks/" + path());
			case 1 -> get("/actuator/advisorylocks?" + query());
			case 2 -> get("/actuator/advisorylocks/report?" + query());
			default -> post("/actuator/advisorylocks/" + path(), body());
		};
	}

	private static String get(String target) {
		return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
	}

	private static String post(String target, String body) {
		return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
				+ body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body;
	}

	/**
	 * Keys as they are, and as they are encoded. Without what ends the line, and what the
	 * servlet container itself can't decode.
	 */
	private String path() {
		String text = (this.texts.nextInt(3) == 0) ? "report" : this.texts.next();
		return (this.texts.nextInt(2) == 0) ? encode(text) : text.replaceAll("[\\s\\p{Cntrl}]|%(?![0-9a-fA-F]{2})", "");
	}

	private String query() {
		String name = this.texts.pick(List.of("q", "state", "page", "size", "key", "hours", "x"));
		return name + "=" + encode(this.texts.next()) + "&" + encode(this.texts.next()) + "=1";
	}

	private static String encode(String text) {
		return java.net.URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
	}

	/**
	 * JSON that never says what may be done: an unknown field is always there, or a state
	 * that there is not.
	 */
	private String body() {
		return switch (this.texts.nextInt(5)) {
			case 0 -> this.texts.next();
			case 1 -> "{\"state\":" + this.texts.pick(VALUES.subList(1, VALUES.size())) + "}";
			case 2 -> "{\"state\":\"" + escape(this.texts.next()) + "x\"}";
			case 3 -> "{\"state\":\"paused\",\"" + escape(this.texts.next()) + "x\":1}";
			default -> "{\"state\":\"paused\",\"" + this.texts.pick(FIELDS.subList(1, FIELDS.size())) + "\":"
					+ this.texts.pick(VALUES) + "}";
		};
	}

	private static String escape(String text) {
		StringBuilder escaped = new StringBuilder();
		text.chars().forEach((character) -> escaped.append(String.format("\\u%04x", character)));
		return escaped.toString();
	}

	private static List<String> rows() {
		return TestPostgres.query("SELECT namespace || '/' || key || coalesce(last_outcome, '') FROM operated_job "
				+ "UNION ALL SELECT key || coalesce(paused_by, '') FROM operated_pause UNION ALL SELECT 'run ' || count(*) FROM operated_run ORDER BY 1");
	}

	/**
	 * A connection that is opened again whenever the server has closed it.
	 */
	private static final class Connection implements AutoCloseable {

		private final URI server;

		private Socket socket;

		Connection(URI server) throws IOException {
			this.server = server;
			this.socket = new Socket(server.getHost(), server.getPort());
		}

		/**
		 * Send a request, and look at its answer.
		 * @return whether it was refused
		 */
		boolean send(String request) throws IOException {
			this.socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
			InputStream answer = this.socket.getInputStream();
			String head = readHead(answer);
			String body = readBody(head, answer);
			int status = Integer.parseInt(head.substring(9, 12));
			assertThat(status).as("%s\nwas answered %s%s, seed %s", request, head, body, SEED)
				.satisfiesAnyOf((code) -> assertThat(code).isEqualTo(200), (code) -> assertThat(code).isIn(REFUSALS));
			assertThat(body).as("%s, seed %s", request, SEED)
				.doesNotContain("\tat ", "PSQLException", "SELECT ")
				.hasSizeLessThan(60_000);
			if (head.toLowerCase(java.util.Locale.ROOT).contains("connection: close")) {
				this.socket.close();
				this.socket = new Socket(this.server.getHost(), this.server.getPort());
			}
			return status != 200;
		}

		private static String readHead(InputStream answer) throws IOException {
			StringBuilder head = new StringBuilder();
			while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
				int next = answer.read();
				assertThat(next).as("end of the answer '%s'", head).isNotNegative();
				head.append((char) next);
			}
			return head.toString();
		}

		private static String readBody(String head, InputStream answer) throws IOException {
			String lower = head.toLowerCase(java.util.Locale.ROOT);
			if (lower.contains("transfer-encoding: chunked")) {
				StringBuilder body = new StringBuilder();
				for (int size = readSize(answer); size > 0; size = readSize(answer)) {
					body.append(new String(answer.readNBytes(size), StandardCharsets.UTF_8));
					answer.readNBytes(2);
				}
				answer.readNBytes(2);
				return body.toString();
			}
			int start = lower.indexOf("content-length: ");
			return (start < 0) ? ""
					: new String(
							answer.readNBytes(Integer.parseInt(head.substring(start + 16, head.indexOf('\r', start)))),
							StandardCharsets.UTF_8);
		}

		private static int readSize(InputStream answer) throws IOException {
			StringBuilder line = new StringBuilder();
			while (line.indexOf("\r\n") < 0) {
				line.append((char) answer.read());
			}
			return Integer.parseInt(line.toString().strip(), 16);
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

		@SingleRunner("other")
		void other() {
		}

		@SingleRunner(key = "payment:#{#id}", minInterval = "1ms")
		void pay(String id) {
		}

	}

}
