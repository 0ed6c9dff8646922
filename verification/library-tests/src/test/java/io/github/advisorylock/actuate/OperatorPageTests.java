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

package io.github.advisorylock.actuate;

import java.net.CookieManager;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for the page for operators, as far as they need no browser.
 */
@Tag("slow")
class OperatorPageTests {

	private static final String PAGE = "actuator/advisorylockspage";

	private static final String JOBS = PAGE + "?view=jobs";

	private static final String EXPOSED = "management.endpoints.web.exposure.include=advisorylocks,advisorylockspage";

	private static final String WRITABLE = "management.endpoint.advisorylocks.access=unrestricted";

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, EXPOSED, WRITABLE,
				"management.endpoint.advisorylocks.show-values=always");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void pageIsTheSameWhateverIsAskedForAndHoldsNothingOfTheJobs() {
		String page = application.get(PAGE).body();
		assertThat(page).doesNotContain("nightly-report", "{settings}", "{style");
		assertThat(application.get(PAGE + "?view=job&key=%3Cscript%3Ealert(1)%3C%2Fscript%3E").body()).isEqualTo(page);
		assertThat(application.get(PAGE + "?view=nonsense&page=x").body()).isEqualTo(page);
	}

	@Test
	void pageIsReadOnlyUnlessTheEndpointIsExposedAndWritable() {
		assertThat(application.get(PAGE).body()).contains("data-endpoint=\"advisorylocks\" data-writable=\"true\"");
		try (OperatedApplication readOnly = OperatedApplication.start(Jobs.class, EXPOSED,
				"advisory-lock.page.links.log=https://log.example/?q={instance}&x=%22")) {
			assertThat(readOnly.get(PAGE).body()).contains("data-endpoint=\"advisorylocks\" data-writable=\"false\"",
					"data-log=\"https://log.example/?q={instance}&amp;x=%22\"");
		}
		try (OperatedApplication pageOnly = OperatedApplication.start(Jobs.class, WRITABLE,
				"management.endpoints.web.exposure.include=advisorylockspage")) {
			assertThat(pageOnly.get(PAGE).body()).contains("data-endpoint=\"\" data-writable=\"false\"");
		}
		try (OperatedApplication endpointOnly = OperatedApplication.start(Jobs.class, WRITABLE,
				"management.endpoints.web.exposure.include=advisorylocks")) {
			assertThat(endpointOnly.get(PAGE).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void pageReadsTheEndpointWhereverItIs() {
		try (OperatedApplication mapped = OperatedApplication.start(Jobs.class, EXPOSED, WRITABLE,
				"server.servlet.context-path=/shop", "management.endpoints.web.base-path=/manage",
				"management.endpoints.web.path-mapping.advisorylockspage=ops/locks")) {
			assertThat(mapped.get("shop/manage/ops/locks").body()).contains("data-endpoint=\"../advisorylocks\"");
			assertThat(mapped.get("shop/manage/advisorylocks").statusCode()).isEqualTo(200);
		}
	}

	/**
	 * A proxy that strips a prefix need not tell it: all addresses are relative.
	 */
	@Test
	void pageHoldsBehindAPrefixWhetherTheProxyTellsItOrNot() {
		String page = application.get(PAGE).body();
		assertThat(page).doesNotContainPattern("(href|src|action|data-endpoint)=\"/");
		try (OperatedApplication proxied = OperatedApplication.start(Jobs.class, EXPOSED, WRITABLE,
				"server.forward-headers-strategy=framework")) {
			for (String path : List.of(PAGE, "actuator/advisorylocks")) {
				HttpResponse<String> answer = proxied
					.send(proxied.request(path).header("X-Forwarded-Prefix", "/ops/shop").GET().build());
				assertThat(answer.statusCode()).isEqualTo(200);
				assertThat(answer.body()).doesNotContain("/ops/shop")
					.containsAnyOf("data-endpoint=\"advisorylocks\"", "nightly-report");
			}
		}
	}

	@Test
	void pageAndEndpointNeedAccessOfTheirOwnWhereTheDefaultIsNone() {
		String none = "management.endpoints.access.default=none";
		try (OperatedApplication closed = OperatedApplication.start(Jobs.class, EXPOSED, none)) {
			assertThat(closed.get("actuator/advisorylocks").statusCode()).isEqualTo(404);
			assertThat(closed.get(PAGE).statusCode()).isEqualTo(404);
		}
		try (OperatedApplication open = OperatedApplication.start(Jobs.class, EXPOSED, none,
				"management.endpoint.advisorylocks.access=read_only",
				"management.endpoint.advisorylockspage.access=read_only")) {
			assertThat(open.get("actuator/advisorylocks").statusCode()).isEqualTo(200);
			assertThat(open.get(PAGE).body()).contains("data-endpoint=\"advisorylocks\" data-writable=\"false\"");
		}
	}

	/**
	 * A browser asks before it sends JSON to another site, and is not allowed to.
	 */
	@Test
	void otherSitesCanNeitherReadNorAct() {
		for (HttpRequest.Builder request : List.of(application.request(PAGE).GET(),
				application.request("actuator/advisorylocks").GET(),
				application.request("actuator/advisorylocks/nightly-report")
					.header("Access-Control-Request-Method", "POST")
					.header("Access-Control-Request-Headers", "content-type")
					.method("OPTIONS", HttpRequest.BodyPublishers.noBody()))) {
			HttpResponse<String> answer = application.send(request.header("Origin", "https://evil.example").build());
			assertThat(answer.headers().map().keySet())
				.noneMatch((name) -> name.toLowerCase(Locale.ROOT).startsWith("access-control-"));
		}
		String state = "{\"state\":\"paused\"}";
		for (String simple : List.of("text/plain", "application/x-www-form-urlencoded",
				"multipart/form-data;boundary=x")) {
			String body = simple.startsWith("multipart") ? "--x--\r\n" : state;
			for (String path : List.of("actuator/advisorylocks", "actuator/advisorylocks/sales")) {
				assertThat(application.post(path, simple, body).statusCode()).isEqualTo(415);
				assertThat(application.post(path + "?state=paused", simple, body).statusCode()).isEqualTo(415);
			}
		}
		assertThat(TestPostgres.query("SELECT key FROM operated_pause WHERE key IS NULL OR key <> 'nightly-report'"))
			.isEmpty();
	}

	@Test
	void policyAllowsTheStyleAndTheScriptOfThePageAndNoOther() throws Exception {
		HttpResponse<String> answer = application.get(PAGE);
		assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/html;charset=UTF-8");
		String page = answer.body();
		assertThat(page).contains("default-src 'none'")
			.contains("style-src 'sha256-" + hash(page, "style") + "'")
			.contains("script-src 'sha256-" + hash(page, "script") + "'")
			.doesNotContain("http://", "https://", " style=", "onclick=");
	}

	@Test
	void pageCarriesTheTokenOfSpringSecurity() throws Exception {
		try (OperatedApplication secured = OperatedApplication.startSecured(Jobs.class, EXPOSED, WRITABLE,
				"spring.security.user.name=jane", "spring.security.user.password=secret")) {
			assertThat(secured.get(PAGE).statusCode()).isEqualTo(401);
			HttpClient jane = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
			String page = jane.send(authorized(secured, PAGE).build(), HttpResponse.BodyHandlers.ofString()).body();
			HttpRequest.Builder pause = authorized(secured, "actuator/advisorylocks/nightly-report")
				.header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString("{\"state\":\"paused\"}"));
			assertThat(jane.send(pause.build(), HttpResponse.BodyHandlers.ofString()).statusCode()).isIn(401, 403);
			HttpRequest withToken = pause
				.header(attribute(page, "data-csrf-header"), attribute(page, "data-csrf-token"))
				.build();
			assertThat(jane.send(withToken, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(200);
			assertThat(TestPostgres.query("SELECT paused_by FROM operated_pause WHERE key = 'nightly-report'"))
				.containsExactly("jane");
		}
	}

	@Test
	void wrongPropertyIsNamed() {
		assertThatException()
			.isThrownBy(() -> OperatedApplication
				.start(Jobs.class, EXPOSED, "advisory-lock.page.links.log=ftp://log.example")
				.close())
			.havingRootCause()
			.isInstanceOf(InvalidConfigurationPropertyValueException.class)
			.withMessageContaining("advisory-lock.page.links.log");
	}

	@Test
	void propertyThatDoesNotExistIsNamed() {
		assertThatException()
			.isThrownBy(() -> OperatedApplication.start(Jobs.class, EXPOSED, "advisory-lock.page.refrsh=1s").close())
			.havingRootCause()
			.withMessageContaining("advisory-lock.page.refrsh");
	}

	private static HttpRequest.Builder authorized(OperatedApplication application, String path) {
		String credentials = Base64.getEncoder().encodeToString("jane:secret".getBytes(StandardCharsets.UTF_8));
		return application.request(path).header("Authorization", "Basic " + credentials);
	}

	private static String attribute(String page, String name) {
		Matcher matcher = Pattern.compile(name + "=\"([^\"]+)\"").matcher(page);
		assertThat(matcher.find()).isTrue();
		return matcher.group(1);
	}

	private static String hash(String page, String element) throws Exception {
		String content = page.substring(page.indexOf(">", page.indexOf("<" + element)) + 1,
				page.indexOf("</" + element + ">"));
		return Base64.getEncoder()
			.encodeToString(MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8)));
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")
		@SingleRunner("nightly-report")
		void report() {
		}

		@Scheduled(fixedDelay = 3600_000, initialDelay = 3600_000)
		@SingleRunner("sales-report")
		void sales() {
			throw new IllegalStateException("no <b>sales</b>");
		}

		@SingleRunner("outbox")
		void drain() {
		}

		@SingleRunner("payment-#{#id}")
		void pay(String id) {
		}

	}

}
