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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NoAlertPresentException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for how the operator page is looked at and used: by keyboard, narrow, light and
 * dark, and with names that are markup.
 */
class OperatorPageLookBrowserTests extends AbstractBrowserTests {

	private static final String JOBS = "?view=jobs";

	private static final String RATES = "currency-rates";

	private static final String HOST = "<b onclick=alert(3)>";

	private static String address;

	@BeforeAll
	static void start() {
		address = fleet
			.start(HOST, "shop.carts=*/2 * * * * *", "shop.markup=*/3 * * * * *", "sample.report.cron=*/5 * * * * *",
					"sample.report.pause-per-day=100ms")
			.address();
		fleet.execute("""
				INSERT INTO advisory_lock_run
				  (namespace, key, scope, instance, fencing_token, started_at, finished_at, outcome)
				SELECT 'sample-app', 'currency-rates', 'TRANSACTION', 'earlier:1', -i, t, t, 'EXECUTED'
				FROM generate_series(1, 60) i, LATERAL (SELECT now() - i * INTERVAL '1 minute' AS t) time
				""");
		OperatorPage.await().until(() -> fleet.runs(MarkupJob.KEY) > 1);
	}

	@BeforeEach
	void lookFromTheStart() {
		browser.resize(1200, 800);
		browser.prefer("light");
		browser.forget();
	}

	@AfterEach
	void pageBreaksNoRule() {
		assertThat(browser.complaints()).isEmpty();
	}

	@Test
	void markupInKeyErrorAndInstanceIsShownAsText() {
		OperatorPage page = page(JOBS);
		assertThat(page.of(MarkupJob.KEY, "job")).contains(MarkupJob.KEY);
		assertThat(page.element("#problems").getText()).contains(MarkupJob.KEY, MarkupJob.ERROR);
		page.awaitRefresh();
		page.element("tr[data-key=\"sample-app/" + MarkupJob.KEY + "\"] a.key").click();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#runs tbody tr[data-outcome=FAILED]").getText())
				.contains(MarkupJob.ERROR, HOST));
		page.awaitRefresh();
		assertThatNoMarkupIsThere();
		page.open("?view=runs");
		OperatorPage.await()
			.untilAsserted(
					() -> assertThat(page.element("#view").getText()).contains(MarkupJob.KEY, MarkupJob.ERROR, HOST));
		assertThatNoMarkupIsThere();
		page.open("?view=instances");
		OperatorPage.await().untilAsserted(() -> assertThat(page.element("#instances").getText()).contains(HOST));
		assertThatNoMarkupIsThere();
		assertThatExceptionOfType(NoAlertPresentException.class).isThrownBy(() -> browser.driver().switchTo().alert());
	}

	private static void assertThatNoMarkupIsThere() {
		assertThat(
				browser.run("return document.querySelectorAll('main :is(script, img, [onclick], [onerror])').length"))
			.isEqualTo(0L);
	}

	@Test
	void jobWithMarkupInItsKeyIsPausedAndResumed() {
		OperatorPage page = page(JOBS);
		page.act(MarkupJob.KEY, "paused", "is paused");
		assertThat(fleet.query("SELECT key FROM advisory_lock_pause WHERE paused_at IS NOT NULL"))
			.containsExactly(MarkupJob.KEY);
		page.act(MarkupJob.KEY, "resumed", "is resumed");
	}

	@Test
	void filtersAreKeptInAddressByReloadAndBackButton() {
		OperatorPage page = page(JOBS);
		int all = page.keys().size();
		page.element("input[name=q]").sendKeys("rates", Keys.ENTER);
		OperatorPage.await().untilAsserted(() -> assertThat(page.keys()).containsExactly(RATES));
		assertThat(browser.driver().getCurrentUrl()).contains("q=rates");
		browser.driver().navigate().refresh();
		OperatorPage.await().untilAsserted(() -> assertThat(page.keys()).containsExactly(RATES));
		assertThat(page.element("input[name=q]").getDomProperty("value")).isEqualTo("rates");
		browser.driver().navigate().back();
		OperatorPage.await().untilAsserted(() -> assertThat(page.keys()).hasSize(all));
		assertThat(browser.driver().getCurrentUrl()).doesNotContain("q=");
		assertThat(page.element("input[name=q]").getDomProperty("value")).isEmpty();
	}

	@Test
	void filterByStateAppliesAtOnce() {
		OperatorPage page = page(JOBS);
		page.element("select[name=state] option[value=problem]").click();
		// on a busy machine others are late
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.keys()).contains(MarkupJob.KEY)
				.doesNotContain("newsletter", "partner-prices"));
		assertThat(browser.driver().getCurrentUrl()).contains("state=problem");
	}

	@Test
	void keyboardAlonePausesAndResumesAndKeepsItsPlace() {
		OperatorPage page = page("").openJob(RATES);
		OperatorPage.await().untilAsserted(() -> page.tabTo(RATES + " paused"));
		page.awaitRefresh();
		page.awaitRefresh();
		assertThat(page.focus()).isEqualTo(RATES + " paused");
		page.type(Keys.ENTER);
		assertThat(page.isAsking()).isTrue();
		page.tabTo("confirm-yes");
		page.type(Keys.ENTER);
		OperatorPage.await().until(() -> page.status(RATES).contains("is paused"));
		OperatorPage.await().untilAsserted(() -> page.tabTo(RATES + " resumed"));
		page.type(Keys.ENTER);
		page.tabTo("confirm-yes");
		page.type(Keys.ENTER);
		OperatorPage.await().until(() -> page.status(RATES).contains("is resumed"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?view=jobs&q=nothing-is-like-that", "?view=instances", "?view=leaders", "?view=runs",
			"?view=job&key=currency-rates" })
	void viewIsAccessibleInBothThemesAndNotScrolledSideways(String query) {
		page(query).awaitAnswer();
		for (int width : new int[] { 360, 390, 1200, 3840 }) {
			browser.resize(width, 800);
			browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
			assertThat(browser.overflow()).as("%d px", width).isZero();
		}
		for (int width : new int[] { 360, 1200 }) {
			for (String colorScheme : List.of("light", "dark")) {
				browser.resize(width, 800);
				browser.prefer(colorScheme);
				browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
				assertThat(Contrast.background(browser) > 127).isEqualTo(colorScheme.equals("light"));
				assertThat(Contrast.tooLow(browser)).isEmpty();
				assertThat(Accessibility.violations(browser)).isEmpty();
			}
		}
	}

	@Test
	void dialogIsAccessibleAndSaysWhatItsButtonWillDo() {
		OperatorPage page = page(JOBS);
		page.press(RATES, "paused");
		assertThat(page.element("#confirm").getText()).contains("No instance runs it", "Pause job",
				"Leave it as it is");
		assertThat(Accessibility.violations(browser)).isEmpty();
		page.refuse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "light", "dark" })
	void eachDialogIsAccessible(String colorScheme) {
		OperatorPage page = page(JOBS);
		browser.prefer(colorScheme);
		browser.resize(360, 800);
		for (String state : List.of("running", "paused", "rescheduled", "backfilled")) {
			page.press(RATES, state);
			assertThat(browser.overflow()).isZero();
			assertThat(Contrast.tooLow(browser)).isEmpty();
			browser.run("document.getElementById('confirm-over').textContent = 'That run has ended.'");
			assertThat(Accessibility.violations(browser)).isEmpty();
			page.refuse();
		}
	}

	@Test
	void missingLabelIsAViolation() {
		page(JOBS).awaitAnswer();
		browser
			.run("document.querySelector('input[name=q]').parentElement.replaceWith(document.createElement('input'))");
		assertThat(Accessibility.violations(browser))
			.anySatisfy((violation) -> assertThat(violation).contains("label"));
	}

	@Test
	void buttonSaysInWhichZoneTimesAre() {
		OperatorPage page = page(JOBS);
		assertThat(page.element("#zone").getText()).isEqualTo("Times in UTC");
		page.element("#zone").click();
		String zone = String.valueOf(browser.run("return Intl.DateTimeFormat().resolvedOptions().timeZone"));
		OperatorPage.await().until(() -> page.element("#zone").getText().equals("Times in " + zone));
		page.element("#zone").click();
		OperatorPage.await().until(() -> page.element("#zone").getText().equals("Times in UTC"));
	}

	private static OperatorPage page(String query) {
		return new OperatorPage(browser, address).open(query);
	}

}
