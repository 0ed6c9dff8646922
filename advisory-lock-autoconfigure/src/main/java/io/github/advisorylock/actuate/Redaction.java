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

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;

/**
 * Hides values from who may not see them.
 *
 * @param sanitizer decides what is hidden
 * @param showUnsanitized whether values may be seen
 */
record Redaction(Sanitizer sanitizer, boolean showUnsanitized) {

	@Nullable String query(@Nullable String query) {
		return (query != null) ? sanitize("query", query.strip()) : null;
	}

	/**
	 * Hide the message of a failure, but not its class.
	 */
	@Nullable String error(@Nullable String error) {
		if (error == null) {
			return null;
		}
		int message = error.indexOf(": ");
		return (message < 0) ? error
				: error.substring(0, message + 2) + sanitize("error", error.substring(message + 2));
	}

	private String sanitize(String key, String value) {
		return String.valueOf(this.sanitizer.sanitize(new SanitizableData(null, key, value), this.showUnsanitized));
	}

}
