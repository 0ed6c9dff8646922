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

import java.net.CookieManager;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the page for operators, as far as they need no browser.
 */
@Tag("slow")
class OperatorPageTests {

	private static final String PAGE = "actuator/advisorylockspage";

	private static final String JOBS = PAGE + "?view=jobs";

	private static final String EXPOSED = "management.endpoints.web.exposure.include=advisorylocks,advisorylockspage";

	private static final String WRITABLE = "management.endpoint.advisorylocks.access=unrestricted";

	private static final String MARKUP = "<script>alert(1)</script>";

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, EXPOSED, WRITABLE, "advisory-lock.page.rows=2",
				"management.endpoint.advisorylocks.show-values=always");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@AfterEach
	@BeforeEach
	void forgetRuns() {
		TestPostgres.execute("DELETE FROM operated_run; DELETE FROM operated_pause");
		TestPostgres.execute("DELETE FROM operated_job WHERE key LIKE '%script%'");
		TestPostgres.execute(
				"UPDATE operated_job SET last_outcome = NULL, " + "last_started_at = NULL, last_finished_at = NULL");
	}

	@Test
	void rowTellsMethodScheduleLastRunAndActions() {
		application.setState("nightly-report", "running");
		String row = row(application.get(JOBS).body(), "shop/nightly-report");
		assertThat(row)
			.contains("OperatorPageTests$Jobs.report", "0 0 3 * * *", "every day at 03:00 (Europe/Berlin)", "EXECUTED",
					"aria-label=\"Last runs: 1 executed\"", "T02:00:00Z", "data-state=\"running\"",
					"data-state=\"paused\"", "100\u00a0% executed")
			.doesNotContain("data-state=\"resumed\"");
	}

	@Test
	void problemsTellWhoPausedAndWhatFailed() {
		application.setState("sales-report", "running");
		setPaused("nightly-report", "now()");
		String page = application.get(PAGE).body();
		assertThat(page).contains("1 job is paused", "data-problem=\"PAUSED\"", "1 job failed",
				"data-problem=\"FAILED\"", "no &lt;b&gt;sales&lt;/b&gt;");
		assertThat(page.indexOf("data-problem=\"FAILED\"")).isLessThan(page.indexOf("data-problem=\"PAUSED\""));
		assertThat(row(application.get(JOBS).body(), "shop/nightly-report"))
			.contains("by Jane", "data-state=\"resumed\"")
			.doesNotContain("data-state=\"running\"");
		setPaused("nightly-report", "NULL");
		assertThat(application.get(PAGE).body()).contains("1 job failed").doesNotContain("data-problem=\"PAUSED\"");
	}

	@Test
	void textFromKeysAndErrorsAndAddressIsNoMarkup() {
		LockRequest request = LockRequest.of(MARKUP).recordedUnder(MARKUP);
		assertThatIllegalStateException()
			.isThrownBy(() -> application.bean(AdvisoryLockOperations.class).execute(request, (lock) -> {
				throw new IllegalStateException(MARKUP);
			}))
			.withMessage("<script>alert(1)</script>");
		for (String address : List.of("?view=jobs&q=script", "?key=shop%2F%3Cscript%3Ealert(1)%3C%2Fscript%3E",
				"?view=timeline&q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")) {
			assertThat(application.get(PAGE + address).body()).contains("&lt;script&gt;alert(1)&lt;/script&gt;")
				.doesNotContain(MARKUP);
		}
	}

	@Test
	void filtersChooseRows() {
		assertThat(application.get(JOBS + "&q=SALES").body()).contains("data-key=\"shop/sales-report\" data-state")
			.doesNotContain("data-key=\"shop/nightly-report\" data-state")
			.contains("value=\"SALES\"", "1 of 4 jobs");
		assertThat(application.get(JOBS + "&q=Jobs.pay").body()).contains("1 of 4 jobs");
		assertThat(application.get(JOBS + "&state=paused").body()).contains("0 of 4 jobs");
		setPaused("sales-report", "now()");
		assertThat(application.get(JOBS + "&state=paused").body()).contains("1 of 4 jobs");
		assertThat(application.get(JOBS + "&state=problem").body()).contains("1 of 4 jobs",
				"<option value=\"problem\" selected>");
		assertThat(application.get(JOBS + "&state=nonsense&sort=nonsense&range=nonsense&page=-1").statusCode())
			.isEqualTo(200);
		assertThat(application.get(PAGE + "?view=nonsense").body()).contains("<h1>Overview</h1>");
	}

	@Test
	void longTableHasPagesWhichKeepTheFilter() {
		String page = application.get(JOBS + "&q=%26o&sort=next").body();
		assertThat(page).contains("0 of 4 jobs");
		page = application.get(JOBS + "&q=o&sort=next").body();
		assertThat(page).contains("4 of 4 jobs", "Page 1 of 2",
				"<a href=\"?view=jobs&amp;q=o&amp;sort=next&amp;page=2\">Next</a>");
		assertThat(application.get(JOBS + "&q=o&sort=next&page=2").body())
			.contains("data-key=\"shop/sales-report\" data-state");
	}

	@Test
	void detailsOfJobListItsRuns() {
		application.setState("nightly-report", "running");
		application.setState("nightly-report", "running");
		String page = application.get(PAGE + "?key=shop/nightly-report").body();
		assertThat(page.split("data-outcome=\"EXECUTED\"")).hasSize(3);
		assertThat(application.get(PAGE + "?key=nix").statusCode()).isEqualTo(200);
		assertThat(application.get(PAGE + "?key=nix").body()).contains("There is no such job");
	}

	@Test
	void timelineHasLaneForEachJobThatRan() {
		application.setState("nightly-report", "running");
		assertThat(application.get(PAGE + "?view=timeline").body())
			.contains("<li class=\"lane\" data-key=\"shop/nightly-report\">", "<title>A ", "The same as a table")
			.doesNotContain("<li class=\"lane\" data-key=\"shop/sales-report\">");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "overview", "jobs", "timeline", "instances", "leaders", "locks", "job&key=nightly-report" })
	void eachViewIsADocumentWithItsNameInTheNavigation(String view) {
		HttpResponse<String> answer = application.get(PAGE + "?view=" + view);
		assertThat(answer.statusCode()).isEqualTo(200);
		assertThat(answer.body()).containsOnlyOnce("<h1>")
			.containsOnlyOnce("aria-current=\"page\"")
			.contains("<nav id=\"views\" aria-label=\"Views\">", "<main id=\"main\"")
			.doesNotContain(" style=", "%s");
	}

	@Test
	void stackTraceOfTheLastFailureIsThereWhateverRunsAreShown() {
		application.setState("sales-report", "running");
		String page = application.get(PAGE + "?key=sales-report&outcome=EXECUTED").body();
		String why = page.substring(page.indexOf("<section id=\"why\""));
		assertThat(why.substring(0, why.indexOf("</section>"))).contains("no &lt;b&gt;sales&lt;/b&gt;",
				"<pre tabindex=\"0\">", "OperatorPageTests$Jobs.sales");
	}

	@Test
	void everythingIsPausedAndResumedFromTwoViews() {
		for (String view : List.of(PAGE, JOBS)) {
			assertThat(application.get(view).body())
				.contains("<div id=\"all\" data-id=\"*\" data-key=\"shop\">", "data-state=\"all-paused\"")
				.doesNotContain("data-state=\"all-resumed\"", "Everything is paused");
		}
		application.post("actuator/advisorylocks", "application/json",
				"{\"state\":\"paused\",\"reason\":\"moving <b>house</b>\"}");
		for (String view : List.of(PAGE, JOBS)) {
			assertThat(application.get(view).body())
				.contains("Everything is paused", "moving &lt;b&gt;house&lt;/b&gt;", "data-state=\"all-resumed\"")
				.doesNotContain("data-state=\"all-paused\"");
		}
		assertThat(row(application.get(JOBS).body(), "shop/nightly-report"))
			.contains("with everything", "data-state=\"resumed\"")
			.doesNotContain("data-state=\"running\"");
		application.post("actuator/advisorylocks", "application/json", "{\"state\":\"resumed\"}");
		assertThat(application.get(PAGE).body()).doesNotContain("Everything is paused");
	}

	@Test
	void scheduleIsToldInWordsWithItsNextFiveTimes() {
		String page = application.get(PAGE + "?key=nightly-report").body();
		String schedule = page.substring(page.indexOf("<section id=\"schedule\""));
		assertThat(schedule).contains("every day at 03:00 (Europe/Berlin)", "<code>0 0 3 * * *</code>");
		assertThat(schedule.substring(0, schedule.indexOf("</section>")).split("<li><time")).hasSize(6);
	}

	@Test
	void runsLeadToTheirLogWhereThatIsKnown() {
		try (OperatedApplication linked = OperatedApplication.start(Jobs.class, EXPOSED, WRITABLE,
				"advisory-lock.page.links.log=https://log.example/?q={instance}+{key}&from={startedAt}",
				"advisory-lock.page.links.trace=https://trace.example/{traceId}")) {
			linked.setState("nightly-report", "running");
			assertThat(linked.get(PAGE + "?key=nightly-report").body()).contains("<a href=\"https://log.example/?q=")
				.contains("+nightly-report&amp;from=20")
				.doesNotContain("https://trace.example");
		}
	}

	@Test
	void policyAllowsTheStyleAndTheScriptOfThePageAndNoOther() throws Exception {
		HttpResponse<String> answer = application.get(PAGE);
		assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/html;charset=UTF-8");
		String page = answer.body();
		assertThat(page).contains("default-src 'none'")
			.contains("style-src 'sha256-" + hash(page, "style") + "'")
			.contains("script-src 'sha256-" + hash(page, "script") + "'")
			.doesNotContain("http://", "https://", " style=", "onclick");
	}

	@Test
	void pageIsReadOnlyUnlessTheEndpointIsExposedAndWritable() {
		try (OperatedApplication readOnly = OperatedApplication.start(Jobs.class, EXPOSED)) {
			assertThat(readOnly.get(JOBS).body()).contains("4 of 4 jobs, read-only", "data-endpoint=\"\"")
				.doesNotContain("<button type=\"button\" data-state");
		}
		try (OperatedApplication pageOnly = OperatedApplication.start(Jobs.class, WRITABLE,
				"management.endpoints.web.exposure.include=advisorylockspage")) {
			assertThat(pageOnly.get(JOBS).body()).contains("read-only");
			assertThat(pageOnly.get("actuator/advisorylocks").statusCode()).isEqualTo(404);
		}
		try (OperatedApplication endpointOnly = OperatedApplication.start(Jobs.class, WRITABLE,
				"management.endpoints.web.exposure.include=advisorylocks")) {
			assertThat(endpointOnly.get(PAGE).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void writesGoToWhereTheEndpointIs() {
		assertThat(application.get(PAGE).body()).contains("data-endpoint=\"advisorylocks\"");
		try (OperatedApplication mapped = OperatedApplication.start(Jobs.class, EXPOSED, WRITABLE,
				"server.servlet.context-path=/shop", "management.endpoints.web.base-path=/manage",
				"management.endpoints.web.path-mapping.advisorylockspage=ops/locks")) {
			assertThat(mapped.get("shop/manage/ops/locks").body()).contains("data-endpoint=\"../advisorylocks\"");
			assertThat(mapped.get("shop/manage/advisorylocks").statusCode()).isEqualTo(200);
		}
	}

	@Test
	void pageCarriesTheTokenOfSpringSecurity() throws Exception {
		try (OperatedApplication secured = OperatedApplication.startSecured(Jobs.class, EXPOSED, WRITABLE,
				"spring.security.user.name=jane", "spring.security.user.password=secret")) {
			assertThat(secured.get(PAGE).statusCode()).isEqualTo(401);
			HttpClient jane = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
			String page = jane.send(authorized(secured, PAGE).build(), HttpResponse.BodyHandlers.ofString()).body();
			HttpRequest.Builder pause = authorized(secured, "actuator/advisorylocks/nightly-report")
				.header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString("{\"state\":\"paused\"}"));
			assertThat(jane.send(pause.build(), HttpResponse.BodyHandlers.ofString()).statusCode()).isIn(401, 403);
			HttpRequest withToken = pause
				.header(attribute(page, "data-csrf-header"), attribute(page, "data-csrf-token"))
				.build();
			assertThat(jane.send(withToken, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(200);
			assertThat(TestPostgres.query("SELECT paused_by FROM operated_pause WHERE key = 'nightly-report'"))
				.containsExactly("jane");
		}
	}

	@Test
	void wrongPropertyIsNamed() {
		assertThatException()
			.isThrownBy(() -> OperatedApplication.start(Jobs.class, EXPOSED, "advisory-lock.page.rows=0").close())
			.havingRootCause()
			.isInstanceOf(InvalidConfigurationPropertyValueException.class)
			.withMessageContaining("advisory-lock.page.rows");
	}

	private static HttpRequest.Builder authorized(OperatedApplication application, String path) {
		String credentials = Base64.getEncoder().encodeToString("jane:secret".getBytes(StandardCharsets.UTF_8));
		return application.request(path).header("Authorization", "Basic " + credentials);
	}

	private static String attribute(String page, String name) {
		Matcher matcher = Pattern.compile(name + "=\"([^\"]+)\"").matcher(page);
		assertThat(matcher.find()).isTrue();
		return matcher.group(1);
	}

	private static void setPaused(String key, String value) {
		TestPostgres.execute("DELETE FROM operated_pause WHERE key = '" + key + "'; INSERT INTO operated_pause "
				+ "SELECT namespace, key, " + value + ", 'Jane' FROM operated_job WHERE key = '" + key + "' AND "
				+ value + " IS NOT NULL");
	}

	private static String row(String page, String key) {
		int start = page.indexOf("<tr data-key=\"" + key + "\"");
		assertThat(start).isPositive();
		return page.substring(start, page.indexOf("</tr>", start));
	}

	private static String hash(String page, String element) throws Exception {
		String content = page.substring(page.indexOf("<" + element + ">") + element.length() + 2,
				page.indexOf("</" + element + ">"));
		return Base64.getEncoder()
			.encodeToString(MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8)));
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")
		@SingleRunner("nightly-report")
		void report() {
		}

		@Scheduled(fixedDelay = 3600_000, initialDelay = 3600_000)
		@SingleRunner("sales-report")
		void sales() {
			throw new IllegalStateException("no <b>sales</b>");
		}

		@SingleRunner("outbox")
		void drain() {
		}

		@SingleRunner("payment-#{#id}")
		void pay(String id) {
		}

	}

}
