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

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the operator page shows and does, with two instances of the sample
 * application.
 */
class OperatorPageBrowserTests extends AbstractBrowserTests {

	private static final String CARTS = "abandoned-carts";

	private static final String RATES = "currency-rates";

	private static final String REPORT = "nightly-report";

	private static final String[] PROPERTIES = { "shop.carts=*/2 * * * * *", "shop.markup=*/3 * * * * *",
			"sample.report.cron=*/5 * * * * *", "sample.report.pause-per-day=1s" };

	private static Fleet.Member one;

	private static Fleet.Member two;

	@BeforeAll
	static void start() {
		one = fleet.start("one", PROPERTIES);
		two = fleet.start("two", PROPERTIES);
		two.address();
		one.address();
	}

	@BeforeEach
	void forgetRequests() {
		browser.forget();
	}

	@AfterEach
	void pageNeedsNothingElseAndBreaksNoRule() {
		assertThat(browser.complaints()).isEmpty();
		assertThat(browser.requests()).isNotEmpty()
			.allSatisfy((request) -> assertThat(request).matches("(GET|POST) http://127\\.0\\.0\\.1:\\d+/actuator/.*"));
	}

	@Test
	void tableShowsEachJobWithItsMethodScheduleAndRuns() {
		OperatorPage page = page(one);
		assertThat(page.keys()).contains(CARTS, RATES, REPORT, "newsletter", "partner-prices");
		assertThat(page.of(RATES, "place")).contains("ShopJobs.fetchRates");
		assertThat(page.of(RATES, "job")).contains("0 0 3 * * *", "Europe/Berlin");
		OperatorPage.await().untilAsserted(() -> {
			assertThat(page.of(CARTS, "last")).contains("executed", " ms");
			assertThat(page.of(MarkupJob.KEY, "last")).contains("failed");
		});
		assertThat(page.element("#problems li[data-problem=FAILED]").getText()).contains(MarkupJob.ERROR);
		page.openJob(CARTS);
		OperatorPage.await().untilAsserted(() -> {
			assertThat(page.element("svg.lanes").getAriaRole()).isEqualTo("image");
			assertThat(page.element("svg.bars").getDomAttribute("aria-label")).contains("that executed took");
			assertThat(page.element("#statistics").getText()).containsPattern("Median\\s+\\d+ ms");
		});
	}

	@Test
	void everythingIsPausedAndResumedWithoutALoad() {
		OperatorPage page = page(one);
		for (String state : List.of("all-paused", "all-resumed")) {
			OperatorPage.await().untilAsserted(() -> {
				page.element("#all button[data-state=" + state + "]").click();
				assertThat(page.isAsking()).isTrue();
			});
			page.confirm();
		}
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#all button[data-state=all-paused]").isDisplayed()).isTrue());
		assertThat(fleet.query("SELECT namespace FROM advisory_lock_pause WHERE key = ''")).isEmpty();
	}

	/**
	 * The report would run for 90 seconds.
	 */
	@Test
	void holderIsAnotherInstanceSoonAfterKillInMidJob() throws Exception {
		OperatorPage page = page(one);
		OperatorPage.await().until(() -> page.of(REPORT, "state").equals("running"));
		boolean oneHolds = page.of(REPORT, "holder").contains(one.name());
		Fleet.Member holder = oneHolds ? one : two;
		Fleet.Member other = oneHolds ? two : one;
		OperatorPage otherPage = page(other);
		assertThat(otherPage.of(REPORT, "holder")).contains(holder.name());
		holder.process().kill();
		OperatorPage.await().until(() -> otherPage.of(REPORT, "holder").contains(other.name()));
		one = other;
		two = fleet.start("next", PROPERTIES);
		two.address();
	}

	@Test
	void pauseOnOnePageStopsAllInstancesUntilResumed() {
		page(one).act(CARTS, "paused", "is paused");
		OperatorPage page = page(two);
		// a run that was under way is not paused
		OperatorPage.await().until(() -> page.of(CARTS, "state").equals("paused"));
		long skips = one.skips(CARTS, "paused");
		long otherSkips = two.skips(CARTS, "paused");
		int runs = fleet.runs(CARTS);
		OperatorPage.await()
			.until(() -> one.skips(CARTS, "paused") > skips + 1 && two.skips(CARTS, "paused") > otherSkips + 1);
		assertThat(fleet.runs(CARTS)).isEqualTo(runs);
		assertThat(fleet.query("SELECT paused_by FROM advisory_lock_pause WHERE paused_at IS NOT NULL"))
			.containsExactly("unauthenticated");
		page.act(CARTS, "resumed", "is resumed");
		OperatorPage.await().until(() -> fleet.runs(CARTS) > runs + 1);
	}

	@Test
	void runNowRunsOnceOnTheInstanceOfThePage() {
		int runs = fleet.runs(RATES);
		OperatorPage page = page(two);
		page.act(RATES, "running", "ended: EXECUTED");
		page.awaitRefresh();
		page.awaitRefresh();
		assertThat(fleet.runs(RATES)).isEqualTo(runs + 1);
		assertThat(fleet.query("SELECT instance FROM advisory_lock_run WHERE key = 'currency-rates' "
				+ "ORDER BY fencing_token DESC LIMIT 1"))
			.containsExactly(two.name());
		assertThat(page.status(RATES)).contains("ended: EXECUTED");
		assertThat(page.of(RATES, "last")).contains("executed");
	}

	@Test
	void confirmationThatIsRefusedChangesNothing() {
		OperatorPage page = page(one);
		page.press(RATES, "paused");
		page.type(Keys.ESCAPE);
		OperatorPage.await().until(() -> !page.isAsking());
		page.press(RATES, "running");
		page.refuse();
		assertThat(page.isAsking()).isFalse();
		page.awaitRefresh();
		assertThat(browser.requests()).noneMatch((request) -> request.startsWith("POST"));
		assertThat(page.of(RATES, "state")).isNotEqualTo("paused");
	}

	private static OperatorPage page(Fleet.Member member) {
		return new OperatorPage(browser, member.address()).openJobs();
	}

}
