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

import org.openqa.selenium.By;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The home page of an instance, as a browser shows it.
 */
final class HomePage {

	private final Chromium browser;

	HomePage(Chromium browser) {
		this.browser = browser;
	}

	HomePage open(String instanceAddress) {
		this.browser.driver().get(instanceAddress + "/");
		return this;
	}

	WebElement element(String css) {
		return this.browser.driver().findElement(By.cssSelector(css));
	}

	/**
	 * Press the button that has a text.
	 */
	void press(String label) {
		OperatorPage.await()
			.ignoreException(StaleElementReferenceException.class)
			.until(() -> buttons().stream()
				.filter((button) -> button.isDisplayed() && button.getText().equals(label))
				.findFirst()
				.map((button) -> {
					button.click();
					return true;
				})
				.orElse(false));
	}

	List<WebElement> buttons() {
		return this.browser.driver().findElements(By.tagName("button"));
	}

	/**
	 * Return what is shown in a part of the page now.
	 */
	String text(String id) {
		return String.valueOf(this.browser.run("return document.getElementById(arguments[0]).innerText", id));
	}

	/**
	 * Return the lines of the answers that a button got, once there are so many.
	 */
	List<String> answers(String section, int number) {
		String script = "return [...document.querySelectorAll('#' + arguments[0] + ' .answers li')]"
				+ ".map((line) => line.innerText)";
		return OperatorPage.await()
			.until(() -> ((List<?>) this.browser.run(script, section)).stream().map(String::valueOf).toList(),
					(lines) -> lines.size() == number);
	}

	/**
	 * Wait for the page to show all of some texts in one of its parts.
	 */
	void awaitText(String id, String... texts) {
		OperatorPage.await().untilAsserted(() -> assertThat(text(id)).contains(texts));
	}

}
