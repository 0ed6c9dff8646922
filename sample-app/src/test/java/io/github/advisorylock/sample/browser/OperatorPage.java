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

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.advisorylock.testsupport.Patience;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.Actions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The operator page of an instance, as a browser shows it.
 */
final class OperatorPage {

	static final String PATH = "/actuator/advisorylockspage";

	private final Chromium browser;

	private final String address;

	private final String namespace;

	OperatorPage(Chromium browser, String instanceAddress) {
		this(browser, instanceAddress, "sample-app");
	}

	OperatorPage(Chromium browser, String instanceAddress, String namespace) {
		this.browser = browser;
		this.address = instanceAddress + PATH;
		this.namespace = namespace + "/";
	}

	/**
	 * Open the page, with a query as {@code ?q=x}.
	 */
	OperatorPage open(String query) {
		this.browser.driver().get(this.address + query);
		return this;
	}

	/**
	 * Return the keys in the table, without their namespace.
	 */
	List<String> keys() {
		await().until(() -> !this.browser.driver().findElements(By.cssSelector("#jobs, .empty")).isEmpty()
				&& !element("#view").getText().equals("Asking ..."));
		return texts("#jobs tbody tr").stream().map((key) -> key.substring(this.namespace.length())).toList();
	}

	/**
	 * Open the table of jobs.
	 */
	OperatorPage openJobs() {
		return open("?view=jobs");
	}

	/**
	 * Open the view of one job.
	 */
	OperatorPage openJob(String key) {
		String namespace = this.namespace.substring(0, this.namespace.length() - 1);
		return open("?view=job&namespace=" + namespace + "&key=" + URLEncoder.encode(key, StandardCharsets.UTF_8));
	}

	/**
	 * Return the state of a job in the table, or the text of one of its cells.
	 */
	String of(String key, String name) {
		if (this.browser.driver().findElements(By.id("jobs")).isEmpty()) {
			openJobs();
			keys();
		}
		return Objects.toString(this.browser.run(
				"""
						const row = [...document.querySelectorAll("#jobs tbody tr")].find((row) => row.dataset.key === arguments[0]);
						return !row ? "" : arguments[1] === "state" ? row.dataset.state : row.querySelector("." + arguments[1]).innerText
						""",
				this.namespace + key, name), "");
	}

	/**
	 * Return who holds the lock of the job that is shown, empty if nobody does.
	 */
	String holder() {
		return Objects.toString(this.browser.run("""
				const holder = document.querySelector("#now .holder");
				return holder ? holder.innerText.replace("on ", "") : ""
				"""), "");
	}

	/**
	 * Return what is said next to a job, or else at the edge of the window.
	 */
	String status(String key) {
		return Objects.toString(this.browser.run("""
				const place = [...document.querySelectorAll("[data-key]")]
				  .find((one) => one.dataset.key === arguments[0] && one.querySelector(".said"));
				return place ? place.querySelector(".said").innerText : ""
				""", this.namespace + key), "");
	}

	/**
	 * Return the time of what the page shows.
	 */
	String updated() {
		awaitAnswer();
		return this.browser.run("return document.getElementById('updated').dataset.time").toString();
	}

	/**
	 * Press a button of a job in its view, which asks for a confirmation. The page may be
	 * drawing the job anew.
	 */
	void press(String key, String state) {
		openJob(key);
		await().untilAsserted(() -> {
			element("#job button[data-state=" + state + "]").click();
			assertThat(isAsking()).isTrue();
		});
		assertThat(element("#confirm").getText()).contains(key);
	}

	void confirm() {
		element("#confirm-yes").click();
	}

	void refuse() {
		element("#confirm-no").click();
	}

	boolean isAsking() {
		return element("#confirm").isDisplayed();
	}

	/**
	 * Press and confirm, and wait for an answer.
	 */
	void act(String key, String state, String answer) {
		press(key, state);
		confirm();
		await().untilAsserted(() -> assertThat(status(key)).contains(key, answer));
	}

	/**
	 * Press keys where the focus is, whatever is drawn anew there meanwhile.
	 */
	void type(CharSequence... keys) {
		new Actions(this.browser.driver()).sendKeys(keys).perform();
	}

	/**
	 * Return where the focus is, as {@code key state}.
	 */
	String focus() {
		return Objects.toString(this.browser.run("""
				const element = document.activeElement, row = element.closest("[data-key]");
				return element.id || (row ? row.dataset.key.substring(arguments[0]) + " " + element.dataset.state : "")
				""", this.namespace.length()), "");
	}

	/**
	 * Go on with the Tab key until the focus is at the given place.
	 */
	void tabTo(String place) {
		for (int i = 0; i < 200 && !focus().equals(place); i++) {
			type(Keys.TAB);
		}
		assertThat(focus()).isEqualTo(place);
	}

	/**
	 * Wait for the page to show what is new, as it does by itself.
	 */
	void awaitRefresh() {
		String before = updated();
		await().until(() -> !updated().equals(before));
	}

	/**
	 * Wait for the first answer.
	 */
	OperatorPage awaitAnswer() {
		await().until(() -> !this.browser.driver().findElements(By.id("updated")).isEmpty());
		return this;
	}

	WebElement element(String css) {
		return this.browser.driver().findElement(By.cssSelector(css));
	}

	/**
	 * Return the {@code data-key} of elements.
	 */
	private List<String> texts(String css) {
		Object keys = this.browser.run("""
				return [...document.querySelectorAll(arguments[0])].map((element) => element.dataset.key)
				""", css);
		return ((List<?>) keys).stream().map(String::valueOf).toList();
	}

	/**
	 * Return a wait during which the page may be drawn anew, and what is looked for not
	 * be there yet.
	 */
	static ConditionFactory await() {
		return Awaitility.await()
			.atMost(Patience.TIME)
			.pollInterval(Duration.ofMillis(100))
			.ignoreExceptionsInstanceOf(WebDriverException.class);
	}

}
