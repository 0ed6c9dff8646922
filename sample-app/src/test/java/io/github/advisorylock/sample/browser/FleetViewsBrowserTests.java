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
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the views of leaders and of instances on the operator page.
 */
class FleetViewsBrowserTests extends AbstractBrowserTests {

	private static final String CLOCKS = """
			INSERT INTO advisory_lock_instance (namespace, instance, clock_skew_ms)
			VALUES ('sample-app', 'ahead:1', -7400), ('sample-app', 'behind:1', 90000), ('sample-app', 'right:1', 0)
			""";

	@Test
	void viewsShowWhoWouldTakeOverAndWhichClocksAreWrong() {
		Fleet.Member leader = fleet.start("one");
		OperatorPage page = new OperatorPage(browser, leader.address());
		assertThat(shown(page, "leaders", "Would take over")).containsEntry("metrics", "nobody");
		Fleet.Member other = fleet.start("two");
		other.address();
		OperatorPage.await()
			.untilAsserted(
					() -> assertThat(shown(page, "leaders", "Would take over")).containsEntry("metrics", other.name()));
		assertThat(shown(page, "leaders", "Leader").get("metrics")).contains(leader.name());
		fleet.execute(CLOCKS);
		OperatorPage.await()
			.untilAsserted(() -> assertThat(shown(page, "instances", "Clock")).containsEntry("ahead:1", "7.4 s ahead")
				.containsEntry("behind:1", "1 min 30 s behind")
				.containsEntry("right:1", "right")
				.containsKeys(leader.name(), other.name()));
	}

	/**
	 * Return what a column of a view shows, by the names of its rows.
	 */
	private static Map<String, String> shown(OperatorPage page, String view, String column) {
		page.open("?view=" + view);
		List<WebElement> rows = OperatorPage.await()
			.until(() -> browser.driver().findElements(By.cssSelector("#" + view + " tbody tr")),
					(found) -> !found.isEmpty());
		return rows.stream()
			.collect(Collectors.toMap((row) -> row.getDomAttribute("data-key"),
					(row) -> row.findElement(By.cssSelector("td[data-label='" + column + "']")).getText()));
	}

}
