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
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the view of the last 24 hours on the operator page, for backfills, and for
 * instances that are drained there.
 */
class RunsViewBrowserTests extends AbstractBrowserTests {

	private static final String RATES = "currency-rates";

	private static final String RUNS = """
			INSERT INTO advisory_lock_run
			  (namespace, key, scope, instance, fencing_token, started_at, finished_at, outcome, error)
			SELECT 'sample-app', 'a-' || CASE WHEN i % 7 = 0 THEN 'bad' ELSE 'good' END, 'TRANSACTION', 'shop-' || i % 2, i,
			  now() - i * INTERVAL '20 minutes', now() - i * INTERVAL '20 minutes' + INTERVAL '90 s',
			  CASE WHEN i % 7 = 0 THEN 'FAILED' ELSE 'EXECUTED' END, CASE WHEN i % 7 = 0 THEN 'java.io.IOException: <b>x</b>' END
			FROM generate_series(1, 100) i
			""";

	private static final String BUSY = """
			INSERT INTO advisory_lock_run
			  (namespace, key, scope, instance, fencing_token, started_at, finished_at, outcome, error)
			SELECT 'sample-app', 'a-busy', 'TRANSACTION', 'shop-' || i % 2, 1000 - i,
			  now() - i * INTERVAL '1 minute', now() - i * INTERVAL '1 minute' + INTERVAL '5 s',
			  CASE WHEN i IN (100, 580) THEN 'FAILED' ELSE 'EXECUTED' END, CASE WHEN i = 580 THEN 'of old' END
			FROM generate_series(1, 600) i UNION ALL
			SELECT 'sample-app', 'b', 'TRANSACTION', 'shop-0', 2000 - i, now() - i * INTERVAL '1 s', now(), 'EXECUTED', NULL
			FROM generate_series(1, 10) i
			""";

	private static final String WHOLE = """
			const mark = document.querySelector("#day li[data-key=a-new] rect");
			return mark.getBoundingClientRect().right <= mark.ownerSVGElement.getBoundingClientRect().right + 1
			""";

	private static Fleet.Member member;

	@BeforeAll
	static void start() {
		member = fleet.start("one", "sample.report.cron=-", "shop.mail=0 0 3 1 1 *");
		member.address();
	}

	@BeforeEach
	void setRuns() {
		fleet.execute("DELETE FROM advisory_lock_run");
		fleet.execute(RUNS);
	}

	@AfterEach
	void pageBreaksNoRule() {
		assertThat(browser.complaints()).isEmpty();
	}

	private static OperatorPage page(String query) {
		OperatorPage page = new OperatorPage(browser, member.address()).open(query);
		page.awaitAnswer();
		return page;
	}

	private static List<WebElement> all(String selector) {
		return browser.driver().findElements(By.cssSelector(selector));
	}

	@Test
	void lastDayHasALaneForEachJobFailuresFirstAndEachMarkLeadsToItsRun() {
		OperatorPage page = page("?view=runs");
		OperatorPage.await().untilAsserted(() -> assertThat(all("#day li[data-key^=a-]")).hasSize(2));
		assertThat(page.element("#day li").getText()).contains("a-bad", "10 runs not executed");
		assertThat(all("#day li:first-child svg a")).hasSize(10);
		assertThat(all("#day li[data-key=a-good] svg a")).hasSize(61);
		assertThat(all("#runs tbody tr").stream().limit(11).map((row) -> row.getDomAttribute("data-outcome")))
			.startsWith("FAILED", "FAILED")
			.endsWith("FAILED", "EXECUTED");
		assertThat(page.element("#runs").getText()).contains("<b>x</b>");
		WebElement mark = page.element("#day li:first-child svg a:last-child");
		assertThat(mark.getAccessibleName()).startsWith("failed, ").endsWith(", 1 min 30 s on shop-0");
		browser.run("arguments[0].focus()", mark);
		page.type(Keys.ENTER);
		OperatorPage.await().until(() -> browser.driver().getCurrentUrl().contains("key=a-bad&run="));
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#meant").getText()).contains("failed", "<b>x</b>", "shop-0"));
	}

	@Test
	void failureIsSeenAndFoundBehindManyRunsOfTheSameJob() {
		fleet.execute("DELETE FROM advisory_lock_run");
		fleet.execute(BUSY);
		OperatorPage page = page("?view=runs");
		OperatorPage.await().untilAsserted(() -> assertThat(all("#day li[data-key=a-busy]")).hasSize(1));
		assertThat(page.element("#day .note").getText()).contains("Runs that executed before", "are left out");
		assertThat(page.element("#day li").getText()).contains("a-busy", "2 runs not executed");
		assertThat(page.element("#runs tbody tr").getDomAttribute("data-outcome")).isEqualTo("FAILED");
		assertThat(browser.run("""
				return [...document.querySelectorAll("#day li:first-child rect.FAILED")].filter((mark) => {
				  mark.scrollIntoView({ block: "center" });
				  const { left, top, width } = mark.getBoundingClientRect();
				  return document.elementFromPoint(left + width / 2, top + 3) === mark;
				}).length
				""")).isEqualTo(2L);
		page.element("#day li:first-child a:has(rect.FAILED):nth-child(2)").sendKeys(Keys.ENTER);
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#meant").getText()).contains("failed", "of old"));
		assertThat(page.element("#runs").getText()).doesNotContain("of old");
	}

	@Test
	void runThatJustBeganIsSeen() {
		fleet.execute("""
				INSERT INTO advisory_lock_run (namespace, key, scope, instance, fencing_token, started_at)
				VALUES ('sample-app', 'a-new', 'TRANSACTION', 'shop-1', 1000, now())
				""");
		page("?view=runs");
		OperatorPage.await().untilAsserted(() -> assertThat(all("#day li[data-key=a-new] rect")).hasSize(1));
		assertThat(browser.run(WHOLE)).isEqualTo(true);
	}

	@Test
	void runsOfOneOutcomeAndOneInstanceAreShown() {
		page("?view=runs&outcome=FAILED");
		OperatorPage.await().untilAsserted(() -> assertThat(all("#day li[data-key^=a-]")).hasSize(1));
		OperatorPage page = page("?view=runs&instance=shop-1");
		OperatorPage.await().untilAsserted(() -> assertThat(all("#runs tbody tr")).hasSize(36));
		assertThat(all("#runs .instance")).extracting(WebElement::getText).containsOnly("shop-1");
		page.element("#runs a.instance").click();
		OperatorPage.await().until(() -> browser.driver().getCurrentUrl().endsWith("?view=runs&instance=shop-1"));
		OperatorPage.await().untilAsserted(() -> page.element(".zoom a:nth-child(2)").click());
		OperatorPage.await().until(() -> browser.driver().getCurrentUrl().contains("outcome=FAILED&instance=shop-1"));
		OperatorPage.await().untilAsserted(() -> assertThat(all("#runs tbody tr")).hasSize(5));
	}

	@Test
	void forecastShowsWhatComesNext() {
		OperatorPage page = page("?view=runs");
		OperatorPage.await().untilAsserted(() -> assertThat(page.element("#next").getText()).contains("Next", RATES));
	}

	@Test
	void instanceIsDrainedAndResumed() {
		OperatorPage page = page("?view=instances");
		press(page, "of-drained");
		assertThat(page.element("#confirm").getText()).contains("Drain \"" + member.name() + "\"?",
				"It begins no guarded run");
		page.confirm();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#instances").getText()).contains("is drained", "drained",
					"by unauthenticated"));
		assertThat(fleet.query("SELECT drained_by FROM advisory_lock_instance WHERE drained_at IS NOT NULL"))
			.containsExactly("unauthenticated");
		press(page, "of-resumed");
		page.confirm();
		OperatorPage.await()
			.until(() -> fleet.query("SELECT instance FROM advisory_lock_instance WHERE drained_at IS NOT NULL")
				.isEmpty());
	}

	private static void press(OperatorPage page, String state) {
		OperatorPage.await().untilAsserted(() -> {
			page.element("#instances button[data-state=" + state + "]").click();
			assertThat(page.isAsking()).isTrue();
		});
	}

	@Test
	void ticksOfATimeSpanAreRunAgain() {
		OperatorPage page = page("?view=jobs");
		page.press(RATES, "backfilled");
		browser.run("""
				document.getElementById("confirm-from").value = "2026-03-01T00:00:00";
				document.getElementById("confirm-to").value = "2026-03-04T00:00:00"
				""");
		page.confirm();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#backfill").getText()).contains("3 of 3 ticks"));
		assertThat(fleet.query("SELECT tick FROM advisory_lock_run WHERE tick < '2026-04-01' AND outcome = 'EXECUTED'"))
			.hasSize(3);
	}

}
