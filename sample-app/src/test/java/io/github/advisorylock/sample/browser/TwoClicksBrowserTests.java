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

import java.util.Optional;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that who has never seen the operator page finds there what matters with two
 * clicks, by what is written on it.
 */
class TwoClicksBrowserTests extends AbstractBrowserTests {

	private static final String REPORT = "nightly-report";

	private static Fleet.Member member;

	private OperatorPage page;

	@BeforeAll
	static void start() {
		member = fleet.start("one", "sample.report.cron=-", "sample.report.pause-per-day=2s", "shop.mail=0 0 3 * * *");
		member.address();
		fleet.execute(
				"""
						INSERT INTO advisory_lock_run (namespace, key, tick, scope, instance, fencing_token, started_at,
						  finished_at, outcome, error, error_class)
						SELECT 'sample-app', 'newsletter', t, 'TRANSACTION', 'one:1', 1, t, t + INTERVAL '2 seconds', 'FAILED',
						  'java.lang.IllegalStateException: The mail server refused the connection', 'java.lang.IllegalStateException'
						FROM (SELECT date_trunc('day', now()) - INTERVAL '21 hours' AS t) night;
						UPDATE advisory_lock_job SET last_outcome = 'FAILED', last_started_at = now() - INTERVAL '10 hours',
						  last_finished_at = now() - INTERVAL '10 hours' WHERE key = 'newsletter'
						""");
	}

	@BeforeEach
	void startFromTheOverview() {
		this.page = new OperatorPage(browser, member.address()).open("");
	}

	@Test
	void whoRunsTheReportNow() {
		this.page.openJobs().act(REPORT, "running", "is running");
		this.page.open("");
		click("link", REPORT);
		OperatorPage.await().until(() -> text("Now").contains("on " + member.name()));
	}

	@Test
	void whyLastNightsFailed() {
		click("link", "newsletter");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(text("Why the last run failed"))
				.contains("The mail server refused the connection"));
	}

	@Test
	void howToRunItAgain() {
		click("link", "newsletter");
		click("button", "Run now");
		assertThat(this.page.element("#confirm").getText()).contains("It runs once, now");
	}

	/**
	 * Click on what says something, wherever it is.
	 */
	private static void click(String role, String label) {
		OperatorPage.await().untilAsserted(() -> {
			Optional<WebElement> found = browser.driver()
				.findElements(By.cssSelector(role.equals("link") ? "main a" : "main button"))
				.stream()
				.filter((element) -> element.isDisplayed() && element.getText().equals(label))
				.findFirst();
			assertThat(found).as(label).isPresent();
			found.orElseThrow().click();
		});
	}

	/**
	 * Return what is written below a heading.
	 */
	private static String text(String heading) {
		return browser.driver().findElement(By.xpath("//section[h2[normalize-space()='" + heading + "']]")).getText();
	}

}
