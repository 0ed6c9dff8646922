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

package io.github.advisorylock.sample.home;

import java.util.List;

import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.LedgerRun;
import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleTest;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HomeController}, {@link ActivityLog}, {@link AddressLog},
 * {@link ShardView} and {@link KillController}.
 */
@SampleTest
@ExtendWith(OutputCaptureExtension.class)
class HomeControllerTests {

	@Autowired
	private Instance instance;

	@Autowired
	private AdvisoryLockLedger ledger;

	@Autowired
	private AddressLog addresses;

	@Test
	void pageNamesInstanceAndItsAddressOfEachScenario() {
		String page = new HttpCalls(this.instance.port()).get("/").body();
		assertThat(page).contains(this.instance.name());
		assertThat(List.of("/reports", "/webhooks/payments", "/exports/$user", "/partner/prices", "/tenants"))
			.allSatisfy((path) -> assertThat(page).contains("http://localhost:" + this.instance.port() + path));
	}

	@Test
	void runsOfTheReportAreShownFromTheLedger() {
		this.ledger.runNow("nightly-report", "test");
		LedgerRun run = this.ledger.runs("nightly-report", 1).get(0);
		assertThat(new HttpCalls(this.instance.port()).get("/").body()).containsSubsequence("Attempts, from the ledger",
				run.instance(), "EXECUTED");
	}

	@Test
	void runAndSkipAreShownAndLoggedInOneLineEach(CapturedOutput output) throws Exception {
		HttpCalls calls = new HttpCalls(this.instance.port());
		calls.post("/exports/home-user", "");
		try (OutsideLock held = OutsideLock.on("export:home-user")) {
			assertThat(calls.post("/exports/home-user", "").statusCode()).isEqualTo(429);
		}
		assertThat(output.getOut().lines()).filteredOn((line) -> line.contains("export:home-user'"))
			.hasSize(2)
			.satisfiesExactly((line) -> assertThat(line).contains("Ran 'sample-app/export:home-user'"),
					(line) -> assertThat(line).contains("Skipped 'sample-app/export:home-user'", "busy"));
		assertThat(calls.get("/").body()).containsSubsequence("export:home-user", "skipped, busy", "export:home-user",
				this.instance.name(), "executed");
	}

	@Test
	void shardOfAKilledInstanceIsShownAsItsOwnUntilItIsFree() {
		HttpCalls calls = new HttpCalls(this.instance.port());
		TestPostgres.execute("INSERT INTO sample_instance (name, port, seen_at) VALUES ('killed:1', 1, '2026-01-01')");
		TestPostgres.execute("INSERT INTO leadership (role, term, instance) "
				+ "VALUES ('relay#5', 9000000000000000000, 'killed:1')");
		assertThat(calls.get("/").body()).containsSubsequence("relay#5", "killed:1, gone", "relay#6");
		TestPostgres.execute("UPDATE leadership SET until = now() WHERE instance = 'killed:1'");
		assertThat(calls.get("/").body()).containsSubsequence("relay#5", "nobody leads it", "relay#6");
		TestPostgres.execute("DELETE FROM leadership WHERE instance = 'killed:1'");
		TestPostgres.execute("DELETE FROM sample_instance WHERE name = 'killed:1'");
	}

	@Test
	void instanceHasTheNameThatTheLibraryHasForIt() {
		assertThat(new HttpCalls(this.instance.port()).get("/actuator/advisorylocks").body())
			.contains("\"instance\":\"" + this.instance.name() + "\"");
	}

	@Test
	void pageMayLoadNothingFromElsewhereAndRunNoScriptOfItsText() {
		assertThat(new HttpCalls(this.instance.port()).get("/").headers().firstValue("Content-Security-Policy"))
			.hasValueSatisfying((policy) -> assertThat(policy).contains("default-src 'none'", "script-src 'self'")
				.doesNotContain("unsafe"));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "/try/kill", "/try/failure", "/try/payment", "/try/export", "/try/courier", "/try/orders" })
	void pageOfAnotherSiteCanPressNoButton(String path) {
		HttpCalls calls = new HttpCalls(this.instance.port());
		assertThat(calls.get("/").body() + calls.get("/home.js").body()).as("its own button").contains(path);
		assertThat(calls.post(path, "").statusCode()).isEqualTo(404);
	}

	@Test
	void logSaysWhereThePagesAre(CapturedOutput output) {
		this.addresses.tell();
		assertThat(output).contains("This is instance " + this.instance.name() + ". Look at ");
		HttpCalls calls = new HttpCalls(this.instance.port());
		for (String path : List.of("/", "/actuator/advisorylockspage")) {
			assertThat(output).contains("http://localhost:" + this.instance.port() + path + " for ");
			assertThat(calls.get(path).statusCode()).isEqualTo(200);
		}
	}

}
