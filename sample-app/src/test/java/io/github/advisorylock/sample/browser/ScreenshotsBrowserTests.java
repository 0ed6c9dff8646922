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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Takes pictures of the operator page of a shop that has a past. They go to
 * {@code target/screenshots}, and with {@code -Dscreenshots=write} into the documents.
 */
class ScreenshotsBrowserTests extends AbstractBrowserTests {

	private static final String[] PROPERTIES = { "spring.application.name=shop", "sample.report.cron=0 */30 * * * *",
			"sample.sync.cron=0 */10 * * * *", "shop.carts=0 */15 * * * *", "shop.rates=0 0 * * * *",
			"shop.search=0 */20 * * * *", "shop.archive=0 0 * * * *", "shop.mail=0 */30 * * * *" };

	private static final List<String> DOCUMENTED = List.of("jobs-light", "jobs-dark", "jobs-narrow", "job-light");

	private static OperatorPage page;

	@BeforeAll
	static void start() {
		Fleet.Member one = fleet.start("shop-6c9d-1", PROPERTIES);
		Fleet.Member two = fleet.start("shop-6c9d-2", PROPERTIES);
		page = new OperatorPage(browser, one.address(), "shop");
		two.address();
		ShopHistory.write(fleet, one.name(), two.name());
		page.act("search-index", "running", "is running");
	}

	@ParameterizedTest
	@ValueSource(strings = { "jobs", "instances", "leaders", "job&key=newsletter" })
	void eachViewIsPicturedLightDarkAndNarrow(String view) throws IOException {
		String name = view.replaceFirst("&.*", "");
		browser.resize(1350, 900, 1200 / 1350.0);
		browser.prefer("light");
		page.open("?view=" + view).awaitAnswer();
		picture(name + "-light");
		browser.prefer("dark");
		picture(name + "-dark");
		browser.prefer("light");
		browser.resize(360, 800);
		picture(name + "-narrow");
	}

	@Test
	void statesAreThoseOfTheHistory() {
		page.openJobs();
		assertThat(page.of("archive-orders", "state")).isEqualTo("paused");
		assertThat(page.of("newsletter", "state")).isEqualTo("failing");
	}

	@Test
	void emptyPageIsPictured() throws IOException {
		browser.resize(1350, 900, 1200 / 1350.0);
		page.open("?view=jobs&q=nothing-is-called-like-that").awaitAnswer();
		assertThat(page.element(".empty").getText()).contains("No job is like that");
		picture("jobs-empty");
	}

	@Test
	void pageOfAnInstanceThatIsGoneSaysSo() throws IOException {
		Fleet.Member three = fleet.start("shop-6c9d-3", PROPERTIES);
		OperatorPage gone = new OperatorPage(browser, three.address(), "shop").open("").awaitAnswer();
		three.process().kill();
		OperatorPage.await().until(() -> gone.element("#alarm").getText().startsWith("No answer since "));
		picture("jobs-failure");
	}

	private static void picture(String name) throws IOException {
		byte[] png = browser.screenshot();
		assertThat(png.length).isBetween(10_000, 250_000);
		write(Path.of("target", "screenshots"), name, png);
		if (System.getProperty("screenshots", "").equals("write") && DOCUMENTED.contains(name)) {
			write(Path.of("..", "docs", "images"), name, png);
		}
	}

	private static void write(Path directory, String name, byte[] png) throws IOException {
		Files.createDirectories(directory);
		Files.write(directory.resolve("operator-page-" + name + ".png"), png);
	}

}
