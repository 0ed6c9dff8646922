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

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the operator page says of an act what the answer says, and of what it shows
 * when that was so.
 */
class ActsBrowserTests extends AbstractBrowserTests {

	private static final String RATES = "currency-rates";

	private static final String MAIL = "newsletter";

	private static Fleet.Member member;

	@BeforeAll
	static void start() {
		member = fleet.start("one", "sample.report.cron=-", "shop.mail=0 0 3 1 1 *");
		member.address();
	}

	/**
	 * What comes instead of an answer where the session of the operator has expired, as a
	 * proxy and Spring Security send it.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "Object.defineProperty(new Response('{}'), 'redirected', { value: true })",
			"new Response('<html></html>', { headers: { 'Content-Type': 'text/html' } })",
			"new Response('', { status: 401 })", "new Response('', { status: 403 })" })
	void actWithoutALogInIsNotCalledDone(String response) {
		OperatorPage page = page();
		page.press(RATES, "paused");
		browser.run("const real = window.fetch; window.fetch = (target, options) => options.method === 'POST' ? "
				+ "Promise.resolve(" + response + ") : real(target, options)");
		page.confirm();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.status(RATES)).contains("was not changed: you are logged out"));
		assertThat(fleet.query("SELECT key FROM advisory_lock_pause WHERE paused_at IS NOT NULL")).isEmpty();
	}

	@Test
	void answerThatDoesNotSayWhatWasAskedForIsNotCalledDone() {
		OperatorPage page = page();
		page.press(RATES, "paused");
		browser.run("window.fetch = () => Promise.resolve(new Response('{\"state\":\"resumed\"}'))");
		page.confirm();
		OperatorPage.await().untilAsserted(() -> assertThat(page.status(RATES)).contains("does not say that"));
	}

	@Test
	void openTickIsShownAfterARunByHandAndNamedBeforeIt() {
		fleet.execute("""
				UPDATE advisory_lock_job SET open_tick = '2026-01-01 03:00:00Z', attempts = 1, given_up = true,
				  last_outcome = 'EXECUTED', last_started_at = now(), last_finished_at = now() WHERE key = 'newsletter'
				""");
		OperatorPage page = page();
		page.openJob(MAIL);
		OperatorPage.await()
			.untilAsserted(
					() -> assertThat(page.element("#open").getText()).contains("2026-01-01", "was tried 1 time"));
		page.press(MAIL, "running");
		assertThat(page.element("#confirm-about").getText()).contains("2026-01-01", "stays open");
	}

	@Test
	void anotherScheduleShowsItsNextTimesBeforeItIsConfirmed() {
		OperatorPage page = page();
		page.press(MAIL, "rescheduled");
		assertThat(page.element("#confirm-about").getText()).contains("In the annotation:", "0 0 3 1 1 *");
		when(page, "nonsense");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#confirm-over").getText()).contains("no cron expression"));
		assertThat(page.element("#confirm-yes").isEnabled()).isFalse();
		when(page, "0 30 4 1 2 *");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#confirm-times").getText().split("-02-01 ")).hasSize(6));
		assertThat(fleet.query("SELECT expression FROM advisory_lock_schedule")).isEmpty();
		page.confirm();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.status(MAIL)).contains("has that schedule from", "on"));
		assertThat(fleet.query("SELECT expression FROM advisory_lock_schedule")).containsExactly("0 30 4 1 2 *");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#chosen").getText()).contains("0 30 4 1 2 *", "on, since"));
		fleet.execute("DELETE FROM advisory_lock_schedule");
	}

	private static void when(OperatorPage page, String text) {
		WebElement field = page.element("#confirm-when");
		field.clear();
		field.sendKeys(text);
	}

	@Test
	void timeStaysThatOfWhatIsShownWhileTextIsSelected() {
		OperatorPage page = page();
		page.openJob(RATES).awaitAnswer();
		browser.run("getSelection().selectAllChildren(document.querySelector('#about-job dd'))");
		fleet.execute("UPDATE advisory_lock_job SET last_outcome = 'FAILED', last_tick = now(), open_tick = now() "
				+ "WHERE key = 'currency-rates'");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#kept").getText())
				.isEqualTo("Not refreshed while text is selected."));
		String shown = page.updated();
		browser.run("getSelection().removeAllRanges()");
		OperatorPage.await().until(() -> !page.updated().equals(shown));
		assertThat(page.element("#kept").getText()).isEmpty();
	}

	@Test
	void jobsThatGoOnWhileEverythingIsPausedAreMarked() {
		fleet.execute("INSERT INTO advisory_lock_pause (namespace, key, paused_at, paused_by) "
				+ "VALUES ('sample-app', '', now(), 'alice')");
		try {
			OperatorPage page = page();
			page.openJobs();
			OperatorPage.await().untilAsserted(() -> {
				assertThat(page.element("#all .paused").getText()).contains("is paused");
				assertThat(page.element("#goes-on").getText()).contains("go on");
				assertThat(page.of(RATES, "state")).isEqualTo("paused");
				assertThat(browser.run("return document.querySelectorAll('#jobs tr .goes-on').length").toString())
					.isNotEqualTo("0");
			});
		}
		finally {
			fleet.execute("DELETE FROM advisory_lock_pause");
		}
	}

	private static OperatorPage page() {
		return new OperatorPage(browser, member.address());
	}

}
