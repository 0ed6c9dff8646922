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

import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * The Chromium of this machine without a window, with a new profile; it reaches this
 * machine only.
 */
final class Chromium implements AutoCloseable {

	private static @Nullable Chromium shared;

	private final ChromeDriver driver;

	private final List<String> requests = new ArrayList<>();

	private Chromium(ChromeDriver driver) {
		this.driver = driver;
	}

	/**
	 * Return the browser of this JVM, as if it were new: to start one takes longer than
	 * most tests do.
	 */
	static Chromium asNew() {
		if (shared == null) {
			shared = start(options());
			Runtime.getRuntime().addShutdownHook(new Thread(shared::close));
		}
		shared.driver.get("about:blank");
		shared.driver.manage().deleteAllCookies();
		shared.driver.executeCdpCommand("Emulation.setScrollbarsHidden", Map.of("hidden", false));
		shared.prefer("");
		shared.resize(1200, 800);
		shared.forget();
		return shared;
	}

	/**
	 * Start a browser that runs no scripts.
	 */
	static Chromium startWithoutScripts() {
		return start(options().setExperimentalOption("prefs",
				Map.of("profile.managed_default_content_settings.javascript", 2)));
	}

	private static Chromium start(ChromeOptions options) {
		ChromeDriverService service = new ChromeDriverService.Builder()
			.usingDriverExecutable(new File("/usr/bin/chromedriver"))
			.usingAnyFreePort()
			.withSilent(true)
			.build();
		ChromeDriver driver = new ChromeDriver(service, options);
		driver.manage().timeouts().pageLoadTimeout(Duration.ofSeconds(30));
		driver.get("about:blank");
		Chromium chromium = new Chromium(driver);
		chromium.forget();
		chromium.resize(1200, 800);
		return chromium;
	}

	private static ChromeOptions options() {
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.ALL);
		logs.enable(LogType.PERFORMANCE, Level.ALL);
		ChromeOptions options = new ChromeOptions();
		options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
		options.setBinary("/usr/bin/chromium");
		return options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run",
				"--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1");
	}

	ChromeDriver driver() {
		return this.driver;
	}

	/**
	 * Run a script in the page.
	 */
	Object run(String script, Object... arguments) {
		return this.driver.executeScript(script, arguments);
	}

	/**
	 * Give the page a size, which may be smaller than that of any window.
	 */
	void resize(int width, int height) {
		resize(width, height, 1);
	}

	/**
	 * Give the page a size, and pictures of it a scale.
	 */
	void resize(int width, int height, double scale) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", false));
	}

	/**
	 * Return by how much the page is wider than the window: what can only be seen by
	 * scrolling sideways.
	 */
	int overflow() {
		return ((Number) run("return document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"))
			.intValue();
	}

	/**
	 * Prefer {@code light} or {@code dark}.
	 */
	void prefer(String colorScheme) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", colorScheme))));
	}

	/**
	 * Take a picture without scroll bars.
	 */
	byte[] screenshot() {
		this.driver.executeCdpCommand("Emulation.setScrollbarsHidden", Map.of("hidden", true));
		return this.driver.getScreenshotAs(OutputType.BYTES);
	}

	/**
	 * Forget what was complained of and requested so far.
	 */
	void forget() {
		complaints();
		requests();
		this.requests.clear();
	}

	/**
	 * Return what the page complained of on the console since the last call.
	 */
	List<String> complaints() {
		return logged(LogType.BROWSER).filter((entry) -> entry.getLevel().intValue() >= Level.WARNING.intValue())
			.map(Object::toString)
			.toList();
	}

	/**
	 * Return the requests to remember, as {@code GET http://127.0.0.1/}.
	 */
	List<String> requests() {
		logged(LogType.PERFORMANCE).flatMap((entry) -> SentRequest.in(entry.getMessage()))
			.filter((request) -> !request.equals("GET data:,"))
			.forEach(this.requests::add);
		return this.requests;
	}

	private Stream<LogEntry> logged(String type) {
		return this.driver.manage().logs().get(type).getAll().stream();
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
