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

import java.nio.file.Path;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NoAlertPresentException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for how the operator page is looked at and used: by keyboard, narrow, without
 * scripts, light and dark, and with names that are markup.
 */
@Tag("browser")
class OperatorPageLookBrowserTests {

	private static final String RATES = "currency-rates";

	private static final String HOST = "<b onclick=alert(3)>";

	@TempDir
	private static Path directory;

	private static Fleet fleet;

	private static Chromium browser;

	private static String address;

	@BeforeAll
	static void start() {
		fleet = Fleet.on("operator_page_look", directory);
		browser = Chromium.start(directory.resolve("profile"));
		address = fleet
			.start(HOST, "shop.carts=*/2 * * * * *", "shop.markup=*/3 * * * * *", "sample.report.pause-per-day=100ms")
			.address();
		fleet.execute("""
				INSERT INTO advisory_lock_run
				  (namespace, key, scope, instance, fencing_token, started_at, finished_at, outcome)
				SELECT 'sample-app', 'currency-rates', 'TRANSACTION', 'earlier:1', -i, t, t, 'EXECUTED'
				FROM generate_series(1, 60) i, LATERAL (SELECT now() - i * INTERVAL '1 minute' AS t) time
				""");
		OperatorPage.await().until(() -> fleet.runs(MarkupJob.KEY) > 1);
	}

	@AfterAll
	static void stop() throws InterruptedException {
		browser.close();
		fleet.close();
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
		OperatorPage page = page("");
		assertThat(page.of(MarkupJob.KEY, "key")).contains(MarkupJob.KEY);
		assertThat(page.element("#problems").getText()).contains(MarkupJob.KEY, MarkupJob.ERROR, HOST);
		page.awaitRefresh();
		page.element("tr[data-key=\"sample-app/" + MarkupJob.KEY + "\"] td.key a").click();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#runs tbody tr[data-outcome=FAILED]").getText())
				.contains(MarkupJob.ERROR, HOST));
		page.awaitRefresh();
		assertThat(browser.run("return document.querySelectorAll('main :is(script, img, b)').length")).isEqualTo(0L);
		assertThatExceptionOfType(NoAlertPresentException.class).isThrownBy(() -> browser.driver().switchTo().alert());
	}

	@Test
	void jobWithMarkupInItsKeyIsPausedAndResumed() {
		OperatorPage page = page("");
		page.act(MarkupJob.KEY, "paused", "is paused");
		assertThat(fleet.query("SELECT key FROM advisory_lock_job WHERE paused_at IS NOT NULL"))
			.containsExactly(MarkupJob.KEY);
		page.act(MarkupJob.KEY, "resumed", "is resumed");
	}

	@Test
	void filtersAreKeptInAddressByReloadAndBackButton() {
		OperatorPage page = page("");
		int all = page.keys().size();
		page.element("input[name=q]").sendKeys("rates", Keys.ENTER);
		OperatorPage.await().untilAsserted(() -> assertThat(page.keys()).containsExactly(RATES));
		assertThat(browser.driver().getCurrentUrl()).contains("q=rates");
		browser.driver().navigate().refresh();
		assertThat(page.keys()).containsExactly(RATES);
		assertThat(page.element("input[name=q]").getDomProperty("value")).isEqualTo("rates");
		browser.driver().navigate().back();
		OperatorPage.await().untilAsserted(() -> assertThat(page.keys()).hasSize(all));
		assertThat(browser.driver().getCurrentUrl()).doesNotContain("q=");
		assertThat(page.element("input[name=q]").getDomProperty("value")).isEmpty();
	}

	@Test
	void filterByStateAppliesAtOnceAndShowsTheListAgainFromOneJob() {
		OperatorPage page = page("?key=sample-app/" + RATES);
		assertThat(page.keys()).containsExactly(RATES);
		assertThat(page.element("#job").getText()).contains(RATES);
		page.element("select[name=state] option[value=problem]").click();
		OperatorPage.await().untilAsserted(() -> assertThat(page.keys()).containsExactly(MarkupJob.KEY));
		assertThat(browser.driver().getCurrentUrl()).contains("state=problem");
		assertThat(browser.driver().findElements(By.id("job"))).isEmpty();
	}

	@Test
	void keyboardAlonePausesAndResumesAndKeepsItsPlace() {
		OperatorPage page = page("");
		page.tabTo(RATES + " paused");
		page.awaitRefresh();
		page.awaitRefresh();
		assertThat(page.focus()).isEqualTo(RATES + " paused");
		page.type(Keys.ENTER);
		assertThat(page.isAsking()).isTrue();
		page.tabTo("confirm-yes");
		page.type(Keys.ENTER);
		OperatorPage.await().until(() -> page.focus().equals(RATES + " resumed"));
		page.type(Keys.ENTER);
		page.tabTo("confirm-yes");
		page.type(Keys.ENTER);
		OperatorPage.await().until(() -> page.status().contains("is resumed"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?key=sample-app/currency-rates" })
	void pageOf400PixelsIsNotScrolledSideways(String query) {
		browser.resize(400, 800);
		OperatorPage page = page(query);
		page.element("#locks summary").click();
		assertThat(page.element("tr button[data-state=paused]").isDisplayed()).isTrue();
		assertThat(browser.run("return document.scrollingElement.scrollWidth"))
			.isEqualTo(browser.run("return document.scrollingElement.clientWidth"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "light", "dark" })
	void textsHaveEnoughContrast(String colorScheme) {
		browser.prefer(colorScheme);
		OperatorPage page = page("");
		page.element("#locks summary").click();
		assertThat(Contrast.background(browser) > 127).isEqualTo(colorScheme.equals("light"));
		assertThat(Contrast.tooLow(browser)).isEmpty();
	}

	@Test
	void pageIsReadAndFilteredWithoutScripts() {
		try (Chromium plain = Chromium.startWithoutScripts(directory.resolve("profile-without-scripts"))) {
			plain.driver()
				.get("data:text/html,<p>off</p><script>document.querySelector('p').innerText = 'on'</script>");
			assertThat(plain.driver().findElement(By.tagName("p")).getText()).isEqualTo("off");
			plain.driver().get(address + OperatorPage.PATH);
			assertThat(plain.driver().findElement(By.id("jobs")).getText()).contains(RATES, MarkupJob.KEY,
					"0 0 3 * * *");
			assertThat(plain.driver().findElements(By.cssSelector("#jobs button")))
				.noneMatch((button) -> button.isDisplayed());
			plain.driver().findElement(By.name("q")).sendKeys("rates");
			plain.driver().findElement(By.cssSelector("#filter button[type=submit]")).click();
			Awaitility.await().until(() -> plain.driver().getCurrentUrl().contains("q=rates"));
			assertThat(plain.driver().findElements(By.cssSelector("#jobs tbody tr"))).hasSize(1);
		}
	}

	private static OperatorPage page(String query) {
		return new OperatorPage(browser, address).open(query);
	}

}
