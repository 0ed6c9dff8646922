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

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the operator page says while its database is down: since when there is
 * no answer, also while the pool of the instance waits for a connection, and never that
 * nothing needs the operator.
 */
class DatabaseDownBrowserTests extends AbstractBrowserTests {

	private static final String CALM = "Nothing needs you now";

	private static Fleet.Member quick;

	private static Fleet.Member slow;

	@BeforeAll
	static void start() {
		String[] idle = { "sample.report.cron=-", "shop.mail=-", "shop.archive=-" };
		quick = fleet.start("quick", idle[0], idle[1], idle[2], "spring.datasource.hikari.connection-timeout=500");
		slow = fleet.start("slow", idle[0], idle[1], idle[2], "spring.datasource.hikari.connection-timeout=60000");
		quick.address();
		slow.address();
	}

	@AfterEach
	void up() {
		TestPostgres.execute("ALTER DATABASE shop ALLOW_CONNECTIONS true");
	}

	private static void down() {
		TestPostgres.execute("ALTER DATABASE shop ALLOW_CONNECTIONS false");
		TestPostgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shop'");
	}

	@Test
	void pageSaysSinceWhenThereIsNoAnswerAndThatThereIsOneAgain() {
		for (Fleet.Member member : List.of(quick, slow)) {
			OperatorPage page = new OperatorPage(browser, member.address()).openJobs();
			page.keys();
			down();
			OperatorPage.await().untilAsserted(() -> {
				assertThat(page.element("#alarm").getText()).containsPattern("^No answer since \\d\\d:\\d\\d:\\d\\d: ");
				assertThat(page.element("main").getText()).doesNotContain(CALM);
			});
			assertThat(page.element("#alarm").getCssValue("color")).isEqualTo("rgba(183, 20, 34, 1)");
			up();
			OperatorPage.await().untilAsserted(() -> assertThat(page.element("#alarm").getText()).isEmpty());
		}
	}

	@Test
	void pageIsThereAtOnceThoughTheFirstAnswerIsNot() {
		down();
		for (Fleet.Member member : List.of(quick, slow)) {
			long begin = System.nanoTime();
			OperatorPage page = new OperatorPage(browser, member.address()).openJobs();
			assertThat((System.nanoTime() - begin) / 1_000_000).as("milliseconds").isLessThan(10_000);
			OperatorPage.await()
				.untilAsserted(() -> assertThat(page.element("#alarm").getText()).startsWith("No answer since "));
			assertThat(page.element("main").getText()).doesNotContain(CALM).contains("Nothing is known.");
		}
	}

}
