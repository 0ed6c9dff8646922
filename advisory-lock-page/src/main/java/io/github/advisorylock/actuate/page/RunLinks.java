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

package io.github.advisorylock.actuate.page;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.web.util.UriUtils;

/**
 * Links from a run to what other systems know of it.
 *
 * @param log the address of its log, with <code>{instance}</code> and the like for what
 * is known of the run; empty for none
 * @param trace the address of its trace
 */
record RunLinks(String log, String trace) {

	private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w*)}");

	private static final Set<String> KNOWN = Set.of("traceId", "instance", "key", "startedAt", "finishedAt");

	/**
	 * Check an address.
	 * @throws IllegalArgumentException if it is none of the web, or asks for what is not
	 * known of a run
	 */
	static void check(String address) {
		Assert.isTrue(address.isEmpty() || address.matches("https?://[^\\s/{].*"),
				"must begin with https:// or http://");
		PLACEHOLDER.matcher(address)
			.results()
			.map((placeholder) -> placeholder.group(1))
			.forEach((name) -> Assert.isTrue(KNOWN.contains(name), () -> "has the unknown placeholder '{" + name
					+ "}': known are " + KNOWN.stream().sorted().toList()));
	}

	/**
	 * Return the links of a run, those aside that need what is not known of it.
	 */
	Html of(String key, RunDescriptor run) {
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		values.put("traceId", run.traceId());
		values.put("instance", run.instance());
		values.put("key", key);
		values.put("startedAt", run.startedAt());
		values.put("finishedAt", run.finishedAt());
		return Html.of("%s%s", link(this.log, "Log", values), link(this.trace, "Trace", values));
	}

	private static Html link(String address, String text, Map<String, @Nullable Object> values) {
		Matcher matcher = PLACEHOLDER.matcher(address);
		boolean known = matcher.results().allMatch((placeholder) -> values.get(placeholder.group(1)) != null);
		return (address.isEmpty() || !known) ? Html.NONE
				: Html.of("<a href=\"%s\" rel=\"noreferrer\">%s</a> ", matcher.replaceAll((placeholder) -> Matcher
					.quoteReplacement(UriUtils.encode(String.valueOf(values.get(placeholder.group(1))), "UTF-8"))),
						text);
	}

}
