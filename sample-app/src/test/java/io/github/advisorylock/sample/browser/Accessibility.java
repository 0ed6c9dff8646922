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

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * What axe-core finds on a page that breaks WCAG 2.1, levels A and AA.
 */
final class Accessibility {

	private static final String RUN = """
			const done = arguments[arguments.length - 1];
			axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })
			  .then((found) => done(found.violations.map((one) => one.id + ": " + one.help + " "
			    + one.nodes.slice(0, 3).map((node) => node.html.substring(0, 200)).join(" "))))
			  .catch((error) => done([String(error)]))
			""";

	private static final String AXE = read();

	private Accessibility() {
	}

	static List<String> violations(Chromium browser) {
		browser.run(AXE);
		List<?> found = (List<?>) browser.driver().executeAsyncScript(RUN);
		return Objects.requireNonNull(found).stream().map(String::valueOf).toList();
	}

	private static String read() {
		try (InputStream axe = Accessibility.class.getResourceAsStream("/axe.min.js")) {
			return new String(Objects.requireNonNull(axe).readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
