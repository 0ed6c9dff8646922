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

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the home page of the sample application, with two instances: its buttons, its
 * refresh and its look.
 */
class HomePageBrowserTests extends AbstractBrowserTests {

	private static final String[] PROPERTIES = { "sample.instances.say-every=10s", "sample.export.pause-per-day=60ms",
			"advisory-lock.jobs.[payment:#{#event.id}].wait-for=20s" };

	private static final String FAILED = "failed: attempt 2 comes after";

	private static Fleet.Member one;

	private static Fleet.Member two;

	private HomePage page;

	@BeforeAll
	static void start() {
		one = fleet.start("one", PROPERTIES);
		two = fleet.start("two", PROPERTIES);
		one.address();
		two.address();
	}

	@BeforeEach
	void openPage() {
		browser.resize(1200, 800);
		browser.prefer("light");
		browser.forget();
		this.page = new HomePage(browser).open(one.address());
		this.page.awaitText("fleet", one.name(), two.name());
	}

	@AfterEach
	void pageBreaksNoRuleAndAsksThisInstanceOnly() {
		assertThat(browser.complaints()).isEmpty();
		assertThat(browser.requests()).isNotEmpty()
			.allSatisfy((request) -> assertThat(request).contains(" " + one.address() + "/"));
	}

	@Test
	void webhookThatIsDeliveredFiveTimesTakesEffectOnce() {
		BigDecimal before = paid();
		this.page.press("Deliver the same webhook five times");
		List<String> answers = this.page.answers("payment", 5);
		assertThat(answers).filteredOn((answer) -> answer.contains("processed")).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.contains("duplicate")).hasSize(4);
		assertThat(answers).anyMatch((answer) -> answer.contains(one.name()))
			.anyMatch((answer) -> answer.contains(two.name()));
		assertThat(paid()).isEqualTo(before.add(new BigDecimal("12.50")));
		this.page.awaitText("payments", "Ada has paid " + paid(), "executed", "skipped, already ran");
	}

	@Test
	void secondExportOfOneUserIsRefused() {
		this.page.press("Export twice");
		List<String> answers = this.page.answers("export", 3);
		assertThat(answers).filteredOn((answer) -> answer.startsWith("429"))
			.hasSize(1)
			.allMatch((answer) -> answer.contains("/exports/ada"));
		assertThat(answers).filteredOn((answer) -> answer.startsWith("200")).hasSize(2);
		this.page.awaitText("exports", "export:ada", "export:grace", "executed", "skipped, busy");
	}

	@Test
	void reportThatFailsIsTriedAgain() throws IOException {
		this.page.press("Fail the next report");
		// the next tick may come before the page is drawn again
		await().until(() -> this.page.text("report-next"),
				(next) -> next.contains("The first attempt at the next tick will fail") || next.contains(FAILED));
		await().untilAsserted(() -> assertThat(this.page.text("report-next")).contains(FAILED));
		assertThat(this.page.text("reports")).contains("The home page has asked this report to fail");
		await().untilAsserted(() -> assertThat(fleet.query("""
				SELECT attempt || ' ' || outcome FROM advisory_lock_run WHERE key = 'nightly-report'
				AND tick = (SELECT tick FROM advisory_lock_run WHERE outcome = 'FAILED') ORDER BY id
				""")).containsExactly("1 FAILED", "2 EXECUTED"));
		OperatorPage.await().untilAsserted(() -> assertThat(this.page.text("report-next")).doesNotContain("fail"));
		assertThat(fleet.query("SELECT asked_at FROM report_failure")).isEmpty();
		browser.screenshot(); // which hides the scroll bars
		browser.resize(1350, 900, 1200 / 1350.0);
		picture("light");
	}

	@Test
	void pictureShowsWhichInstanceLeadsWhichShardAndThatEachSendsItsOwn() {
		OperatorPage.await()
			.untilAsserted(() -> assertThat(browser.run("return ['.of-A', '.of-B', '.nobody'].map((leader) => "
					+ "document.querySelectorAll('.shards ' + leader).length).join(' ')"))
				.isEqualTo("4 4 0"));
		this.page.press("Place 16 orders");
		OperatorPage.await().untilAsserted(() -> assertThat(fleet.query("""
				SELECT sent_by || ' ' || count(DISTINCT order_no % 8) || ' ' || count(*) FROM order_message
				GROUP BY sent_by
				""")).containsExactlyInAnyOrder(one.name() + " 4 24", two.name() + " 4 24"));
		this.page.awaitText("shards", "relay#0", "relay#7", "0 wait", one.name(), two.name(), "24");
	}

	@Test
	void pageRefreshesUntilThatIsStopped() {
		String before = this.page.text("about");
		OperatorPage.await().until(() -> !this.page.text("about").equals(before));
		WebElement live = this.page.element("#live");
		live.click();
		assertThat(live.getDomAttribute("aria-pressed")).isEqualTo("false");
		live.click();
		String stopped = this.page.text("about");
		OperatorPage.await().until(() -> !this.page.text("about").equals(stopped));
	}

	@Test
	void instanceHasOneNameOnBothPagesAndInTheLog() {
		String line = two.process().awaitLine("Look at http://localhost:");
		assertThat(line).contains("This is instance " + two.name() + ". ", "for what to try",
				two.address().replace("127.0.0.1", "localhost") + "/actuator/advisorylockspage");
		this.page.element("nav a:not([aria-current])").click();
		assertThat(browser.driver().getCurrentUrl()).endsWith(OperatorPage.PATH);
		OperatorPage.await().until(() -> browser.driver().findElement(By.id("view")).getText().contains(two.name()));
	}

	@Test
	void pageIsAccessibleInBothThemesAndNotScrolledSideways() throws IOException {
		this.page.press("Deliver the same webhook five times");
		this.page.answers("payment", 5);
		this.page.press("Export twice");
		this.page.answers("export", 3);
		for (int width : new int[] { 360, 700, 1200, 3840 }) {
			browser.resize(width, 1000);
			browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
			assertThat(browser.overflow()).as("%d px", width).isZero();
		}
		for (int width : new int[] { 360, 1200 }) {
			for (String colorScheme : List.of("light", "dark")) {
				browser.resize(width, 1000);
				browser.prefer(colorScheme);
				browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
				assertThat(Contrast.background(browser) > 127).isEqualTo(colorScheme.equals("light"));
				assertThat(Contrast.tooLow(browser)).isEmpty();
				assertThat(Accessibility.violations(browser)).isEmpty();
				browser.run("document.querySelectorAll('details').forEach((one) => one.open = false)");
				browser.run("scrollTo(0, 0)");
				picture(colorScheme + "-" + width);
				browser.run("document.getElementById('payment').scrollIntoView()");
				picture(colorScheme + "-" + width + "-answers");
				browser.run("document.getElementById('relay').scrollIntoView()");
				picture(colorScheme + "-" + width + "-shards");
			}
		}
	}

	@Test
	void questionWhetherToKillIsAccessibleAndNamesWhoTakesOver() {
		this.page.press("Kill this instance");
		assertThat(this.page.element("#confirm").getText()).contains("Kill " + one.name(), two.name() + " lives");
		assertThat(Accessibility.violations(browser)).isEmpty();
		this.page.press("Leave it alone");
		assertThat(this.page.element("#confirm").isDisplayed()).isFalse();
		assertThat(browser.requests()).noneMatch((request) -> request.startsWith("POST"));
	}

	@Test
	void pageIsReadWithoutScripts() {
		try (Chromium plain = Chromium.startWithoutScripts()) {
			HomePage read = new HomePage(plain).open(one.address());
			assertThat(read.element("main").getText()).contains("A webhook that comes five times", two.name(),
					"need scripts");
			assertThat(read.buttons()).isNotEmpty().noneMatch(WebElement::isDisplayed);
		}
	}

	private static BigDecimal paid() {
		return new BigDecimal(fleet.query("SELECT coalesce(sum(paid), 0.00) FROM account").get(0));
	}

	/**
	 * A report is written each minute, and tried again half a minute later.
	 */
	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofMinutes(3)).pollInterval(Duration.ofMillis(500));
	}

	private static void picture(String name) throws IOException {
		Path target = Files.createDirectories(Path.of("target", "screenshots"));
		Files.write(target.resolve("sample-home-" + name + ".png"), browser.screenshot());
	}

}
