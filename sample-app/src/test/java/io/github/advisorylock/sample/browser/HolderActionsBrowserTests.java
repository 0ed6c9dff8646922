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

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import io.github.advisorylock.AdvisoryLockKey;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the buttons of the operator page that end a run or free a lock: they say what
 * they will do before, and what has happened afterwards.
 */
class HolderActionsBrowserTests extends AbstractBrowserTests {

	private static final String INDEX = "search-index";

	private static Fleet.Member asked;

	private static Fleet.Member holder;

	@BeforeAll
	static void start() {
		asked = fleet.start("asked");
		holder = fleet.start("holder");
		asked.address();
		holder.address();
	}

	@BeforeEach
	void forgetRequests() {
		browser.forget();
	}

	@Test
	void runOfAnotherInstanceIsCancelledOnlyAfterAConfirmation() {
		OperatorPage page = pageOfRunOnHolder();
		page.press(INDEX, "cancelled");
		assertThat(page.element("#confirm").getText()).contains("Cancel run", "interrupts it");
		page.refuse();
		page.awaitRefresh();
		assertThat(browser.requests()).noneMatch((request) -> request.startsWith("POST"));
		assertThat(page.holder()).startsWith(holder.name());
		page.act(INDEX, "cancelled", "has ended");
		OperatorPage.await().untilAsserted(() -> {
			assertThat(page.element("#job").getDomAttribute("data-state")).isEqualTo("idle");
			assertThat(page.element("#why").getText()).contains("The last run was cancelled");
		});
	}

	@Test
	void whereARunOfAnotherInstanceHangsIsShown() {
		OperatorPage page = pageOfRunOnHolder();
		// the page may be drawing the job anew
		OperatorPage.await().untilAsserted(() -> {
			page.element("#job button[data-state=stack]").click();
			assertThat(page.status(INDEX)).isNotEmpty();
		});
		OperatorPage.await()
			.untilAsserted(
					() -> assertThat(page.element("#hangs").getText()).contains("Thread", "at io.github.advisorylock"));
		assertThat(browser.requests()).as("asking changes nothing").noneMatch((request) -> request.startsWith("POST"));
		page.act(INDEX, "cancelled", "has ended");
	}

	/**
	 * The page does not refresh here, so nothing but the answer tells it.
	 */
	@Test
	void refusalIsShownWithItsReason() throws SQLException {
		OperatorPage page;
		try (Connection stranger = hold(INDEX)) {
			page = pageOfLockHeldBy("other-host:77");
			page.press(INDEX, "cancelled");
			stopRefreshing();
			assertThat(stranger.isValid(5)).isTrue();
		}
		OperatorPage.await()
			.until(() -> fleet.query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE '%@other-host:77'")
				.isEmpty());
		page.confirm();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.status(INDEX))
				.contains("was not changed: There is no holder of the lock of"));
	}

	@Test
	void pageHasTheStatementThatEndsTheSession() throws SQLException {
		try (Connection stranger = hold(INDEX)) {
			OperatorPage page = pageOfLockHeldBy("other-host:77");
			String statement = page.element("#now .statement").getText();
			assertThat(statement).matches("SELECT pg_terminate_backend\\(\\d+\\);");
			fleet.query(statement);
			assertThat(stranger.isValid(5)).isFalse();
		}
	}

	@Test
	void dialogNamesTheRunAndSaysWhenItHasEnded() throws Exception {
		OperatorPage page = pageOfRunOnHolder();
		page.press(INDEX, "cancelled");
		assertThat(page.element("#confirm-about").getText()).contains(holder.name(), "since");
		assertThat(page.element("#confirm-yes").isEnabled()).isTrue();
		post("cancelled");
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.element("#confirm-over").getText()).contains("That run has ended"));
		assertThat(page.element("#confirm-yes").isEnabled()).isFalse();
	}

	@Test
	void runThatHasBegunSinceIsNotCancelled() throws Exception {
		OperatorPage page = pageOfRunOnHolder();
		page.press(INDEX, "cancelled");
		stopRefreshing();
		post("cancelled");
		post("running");
		page.confirm();
		OperatorPage.await()
			.untilAsserted(() -> assertThat(page.status(INDEX)).contains("was not changed", "another run is under way",
					holder.name()));
		assertThat(post("cancelled")).contains("ENDED");
	}

	@Test
	void answerOfWhereItHangsGoesWithItsRun() throws Exception {
		OperatorPage page = pageOfRunOnHolder();
		OperatorPage.await().untilAsserted(() -> {
			page.element("#job button[data-state=stack]").click();
			assertThat(page.element("#hangs").getText()).contains("Runs", "since");
		});
		post("cancelled");
		post("running");
		OperatorPage.await().until(() -> browser.driver().findElements(By.id("hangs")).isEmpty());
		post("cancelled");
	}

	private static void stopRefreshing() {
		browser.run("document.getElementById('live').click()");
	}

	private static String post(String state) throws Exception {
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create(holder.address() + "/actuator/advisorylocks/" + INDEX))
				.header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString("{\"state\":\"" + state + "\"}"))
				.build(), HttpResponse.BodyHandlers.ofString())
			.body();
	}

	private static OperatorPage pageOfRunOnHolder() {
		OperatorPage.await()
			.until(() -> fleet
				.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = "
						+ Integer.toUnsignedString(AdvisoryLockKey.of("sample-app", INDEX).objectId()))
				.isEmpty());
		page(holder).act(INDEX, "running", "is running");
		browser.forget();
		return pageOfLockHeldBy(holder.name());
	}

	private static OperatorPage pageOfLockHeldBy(String instance) {
		OperatorPage page = page(asked);
		OperatorPage.await().untilAsserted(() -> assertThat(page.holder()).startsWith(instance));
		return page;
	}

	private static OperatorPage page(Fleet.Member member) {
		return new OperatorPage(browser, member.address()).openJob(INDEX);
	}

	/**
	 * Hold keys as an instance that hears nothing.
	 */
	private static Connection hold(String... keys) throws SQLException {
		Connection connection = fleet.open();
		try (Statement statement = connection.createStatement()) {
			statement.execute("SET application_name = 'al:sample-app@other-host:77'");
			for (String key : keys) {
				statement.execute("SELECT pg_advisory_lock(" + AdvisoryLockKey.of("sample-app", key).value() + ")");
			}
		}
		return connection;
	}

}
