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

import java.util.List;

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
	 * Return the failure of a run as far as it may be seen: its class, and what it prints
	 * only for who may see values.
	 */
	@Nullable String error(@Nullable String type, @Nullable String text) {
		if (!this.showUnsanitized || text == null) {
			return (type != null || text == null) ? type : SanitizableData.SANITIZED_VALUE;
		}
		String prefix = (type != null && text.startsWith(type + ": ")) ? type + ": " : "";
		return text.equals(type) ? type : prefix + sanitize("error", text.substring(prefix.length()));
	}

	/**
	 * Return the stack trace of a failure, for who may see values only.
	 */
	@Nullable String stackTrace(@Nullable String text) {
		return (this.showUnsanitized && text != null) ? sanitize("stackTrace", text) : null;
	}

	/**
	 * Return the frames of a stack, for who may see values only.
	 */
	@Nullable List<String> frames(List<String> frames) {
		String text = stackTrace(String.join("\n", frames));
		return (text != null) ? text.lines().toList() : null;
	}

	private String sanitize(String key, String value) {
		return String.valueOf(this.sanitizer.sanitize(new SanitizableData(null, key, value), this.showUnsanitized));
	}

}
