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
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a click on the operator page is for the job of its row, whatever strangers
 * have put into the key, in an application that can be shut down by its neighbour of the
 * endpoint.
 */
class HostileKeyBrowserTests extends AbstractBrowserTests {

	private static Fleet.Member member;

	@BeforeAll
	static void start() {
		member = fleet.start("one", "management.endpoint.shutdown.access=unrestricted",
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage,shutdown,health");
		member.address();
	}

	@ParameterizedTest
	@ValueSource(strings = { "../../shutdown", "../shutdown", "x/../../../shutdown", "..", "a//b", "a;b", "100%",
			"%2e%2e%2fshutdown", "?state=x", "#top" })
	void clickPausesTheJobOfItsRowAndNothingElse(String key) throws Exception {
		fleet.execute("INSERT INTO advisory_lock_job (namespace, key) VALUES ('sample-app', '" + key + "')");
		browser.forget();
		new OperatorPage(browser, member.address()).openJobs().act(key, "paused", "is paused");
		assertThat(fleet.query("SELECT key FROM advisory_lock_pause WHERE paused_at IS NOT NULL")).containsExactly(key);
		String id = "~" + Base64.getUrlEncoder()
			.withoutPadding()
			.encodeToString(("sample-app/" + key).getBytes(StandardCharsets.UTF_8));
		assertThat(browser.requests()).filteredOn((request) -> request.startsWith("POST"))
			.containsExactly("POST " + member.address() + "/actuator/advisorylocks/" + id);
		OperatorPage page = new OperatorPage(browser, member.address());
		page.act(key, "resumed", "is resumed");
		assertThat(fleet.query("SELECT key FROM advisory_lock_pause WHERE paused_at IS NOT NULL")).isEmpty();
		assertThat(health()).isEqualTo(200);
		fleet.execute("DELETE FROM advisory_lock_job WHERE key = '" + key + "'");
	}

	private static int health() throws Exception {
		HttpRequest request = HttpRequest.newBuilder(URI.create(member.address() + "/actuator/health")).build();
		return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
	}

}
