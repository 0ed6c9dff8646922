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

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the requests in the messages of the browser's network log.
 */
final class SentRequest {

	private static final Pattern METHOD = Pattern.compile("\"method\":\"([A-Z]+)\"");

	private static final Pattern URL = Pattern.compile("\"request\":\\{.*?\"url\":\"([^\"]+)\"");

	private SentRequest() {
	}

	static Stream<String> in(String message) {
		Matcher method = METHOD.matcher(message);
		Matcher url = URL.matcher(message);
		boolean sent = message.contains("\"Network.requestWillBeSent\"") && method.find() && url.find();
		return sent ? Stream.of(method.group(1) + " " + url.group(1)) : Stream.empty();
	}

}
