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

import java.nio.file.Path;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * A browser, and an empty database for the instances that a class starts.
 */
@Tag("browser")
abstract class AbstractBrowserTests {

	@TempDir
	static Path directory;

	static Fleet fleet;

	static Chromium browser;

	@BeforeAll
	static void open() {
		fleet = Fleet.on("shop", directory);
		browser = Chromium.asNew();
	}

	@AfterAll
	static void close() throws InterruptedException {
		fleet.close();
	}

}
