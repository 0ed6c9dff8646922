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

import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Chromium} with the start page of the sample application.
 */
class ChromiumBrowserTests extends AbstractBrowserTests {

	@Test
	void startPageLinksToTheOperatorPage() {
		browser.driver().get(fleet.start("one").address() + "/");
		assertThat(browser.driver().findElement(By.linkText("Operators' page")).getAttribute("href"))
			.endsWith("/actuator/advisorylockspage");
		assertThat(browser.requests()).isNotEmpty()
			.allSatisfy((request) -> assertThat(request).startsWith("GET http://127.0.0.1:"));
	}

}
