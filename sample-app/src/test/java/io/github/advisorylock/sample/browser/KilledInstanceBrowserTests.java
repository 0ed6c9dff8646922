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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the button of the home page that kills its instance. Their pictures make a
 * moving one, which goes into the documents with {@code -Dscreenshots=write}.
 */
class KilledInstanceBrowserTests extends AbstractBrowserTests {

	private static final String SAY_EVERY = "sample.instances.say-every=4s";

	@Test
	void pageOfKilledInstanceLeadsToTheOneThatTakesOver() throws IOException {
		Fleet.Member one = fleet.start("one", SAY_EVERY);
		HomePage page = new HomePage(browser).open(one.address());
		page.awaitText("fleet", "No. 1", "now");
		Fleet.Member two = fleet.start("two", SAY_EVERY);
		two.address();
		page.awaitText("fleet", two.name());
		MovingPicture takeover = new MovingPicture();
		browser.resize(1200, 800, 0.75);
		takeover.add(browser.screenshot());
		page.press("Kill this instance");
		takeover.add(browser.screenshot());
		page.element("#confirm-yes").click();
		OperatorPage.await()
			.until(() -> ProcessHandle.of(one.process().pid()).filter(ProcessHandle::isAlive).isEmpty());
		OperatorPage.await().until(() -> page.element("#gone").isDisplayed());
		assertThat(page.text("gone")).contains("does not answer", two.name());
		assertThat(Accessibility.violations(browser)).isEmpty();
		takeover.add(picture("gone"));
		page.element("#others a").click();
		page.awaitText("about", two.name());
		page.awaitText("fleet", one.name(), "without a word", "No. 2", "killed, could not say", "after");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(browser.run("return document.querySelectorAll('.shards .alive').length"))
				.isEqualTo(8L));
		page.awaitText("shards", "0, 1, 2, 3, 4, 5, 6, 7");
		browser.run("document.getElementById('relay').scrollIntoView()");
		picture("shards-taken-over");
		assertThat(two.process().lines()).anyMatch((line) -> line.contains("Leading role 'metrics'"));
		browser.run("scrollTo(0, 0)");
		takeover.add(picture("taken-over"));
		write(takeover.toGif());
		page.press("Kill this instance");
		assertThat(page.element("#confirm").getText()).contains("No other instance is there to take over");
	}

	private static byte[] picture(String name) throws IOException {
		byte[] png = browser.screenshot();
		write(Path.of("target", "screenshots"), "sample-home-" + name + ".png", png);
		return png;
	}

	private static void write(byte[] gif) throws IOException {
		assertThat(gif.length).isBetween(50_000, 1_000_000);
		write(Path.of("target", "screenshots"), "takeover.gif", gif);
		if (System.getProperty("screenshots", "").equals("write")) {
			write(Path.of("..", "docs", "images"), "takeover.gif", gif);
		}
	}

	private static void write(Path directory, String name, byte[] picture) throws IOException {
		Files.write(Files.createDirectories(directory).resolve(name), picture);
	}

}
