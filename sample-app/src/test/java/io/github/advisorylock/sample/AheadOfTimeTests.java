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

package io.github.advisorylock.sample;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.github.advisorylock.testsupport.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SampleApplication} on the beans that its build has defined ahead of
 * time, beside an instance that finds them itself.
 */
@Tag("aot")
class AheadOfTimeTests {

	private static final String EVERY_SECOND = "* * * * * *";

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private static final Pattern JOB = Pattern
		.compile("\"key\":\"[^\"]*\"[^{]*\"method\":\"[^\"]*\",\"scope\":\"[^\"]*\"");

	@TempDir
	private static Path directory;

	private static JavaProcess process;

	private static HttpCalls calls;

	private static SampleInstance other;

	@BeforeAll
	static void start() {
		other = SampleInstance.start();
		Map<String, Object> properties = new LinkedHashMap<>(SampleTest.Properties.ALL);
		properties.putAll(Map.of("server.port", "0", "spring.datasource.hikari.maximum-pool-size", "5",
				"sample.report.cron", EVERY_SECOND, "sample.sync.cron", "0 0 0 1 1 *"));
		process = JavaProcess.start(directory.resolve("instance.log"),
				Map.of("JAVA_TOOL_OPTIONS", "-Dspring.aot.enabled=true"), SampleApplication.class,
				properties.entrySet()
					.stream()
					.map((property) -> "--" + property.getKey() + "=" + property.getValue())
					.toArray(String[]::new));
		process.awaitLine("Started SampleApplication");
		assertThat(process.lines()).anyMatch((line) -> line.contains("Starting AOT-processed SampleApplication"));
		MatchResult port = PORT.matcher(process.awaitLine("Tomcat started on port"))
			.results()
			.findFirst()
			.orElseThrow();
		calls = new HttpCalls(Integer.parseInt(port.group(1)));
	}

	@AfterAll
	static void stop() {
		process.close();
		other.close();
	}

	@Test
	void applicationHasTheSameJobs() {
		assertThat(jobs(calls)).hasSizeGreaterThan(3).containsExactlyInAnyOrderElementsOf(jobs(other.calls()));
	}

	@Test
	void methodIsNotRunWhileSomebodyElseHasItsLock() throws Exception {
		try (OutsideLock held = OutsideLock.on("payment:aot")) {
			assertThat(deliver()).contains("in progress");
		}
		assertThat(deliver()).contains("processed");
		assertThat(deliver()).contains("duplicate");
	}

	@Test
	void scheduledMethodIsSkippedWhileSomebodyElseHasItsLock() throws Exception {
		try (OutsideLock held = OutsideLock.on("nightly-report")) {
			awaitOutcome("BUSY");
		}
		awaitOutcome("EXECUTED");
	}

	@Test
	void pageReadsTheEndpoint() {
		assertThat(calls.get("/actuator/advisorylockspage").body()).contains("<html", "<style")
			.contains("data-endpoint=\"advisorylocks\"");
	}

	@Test
	void homePageShowsWhatItsButtonDid() {
		assertThat(calls.press("/try/payment").body()).contains("processed");
		assertThat(calls.get("/").body()).containsSubsequence("Ada has paid", "payment:evt-", "executed");
	}

	private static void awaitOutcome(String outcome) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> calls.get("/actuator/advisorylocks/nightly-report").body().contains("\"" + outcome + "\":"));
	}

	private static String deliver() {
		return calls.post("/webhooks/payments", "{\"id\": \"aot\", \"customer\": \"aot\", \"amount\": 12.50}").body();
	}

	private static List<String> jobs(HttpCalls instance) {
		return JOB.matcher(instance.get("/actuator/advisorylocks").body()).results().map(MatchResult::group).toList();
	}

}
