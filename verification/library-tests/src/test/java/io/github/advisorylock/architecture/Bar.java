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

package io.github.advisorylock.architecture;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a figure of the library should not exceed: each test run logs it, and the gate,
 * which is the Maven profile {@code check}, fails above it.
 */
final class Bar {

	private static final Log logger = LogFactory.getLog(Bar.class);

	private Bar() {
	}

	static void keep(String figure, long value, long most) {
		logger.info("%s: %d, at most %d".formatted(figure, value, most));
		if (Boolean.getBoolean("gate")) {
			assertThat(value).as(figure).isLessThanOrEqualTo(most);
		}
	}

}
