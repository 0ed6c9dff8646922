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

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.github.advisorylock.actuate.AdvisoryLocksSource;
import org.jspecify.annotations.Nullable;

import org.springframework.web.util.UriComponentsBuilder;
import org.springframework.web.util.UriUtils;

/**
 * What the address asks for. What it asks for and can't have is left out.
 *
 * @param view the view, one of {@link #VIEWS} or {@code job}
 * @param key the id or the name of the job to show, {@code null} for none
 * @param manager the transaction manager of the database that job is in, {@code null}
 * where that is clear without
 * @param text what keys and methods must contain
 * @param state the state of jobs, or {@code all}
 * @param outcome the outcome of runs, empty for any
 * @param sort the order of jobs or runs, empty for the usual one
 * @param range the name of how far a timeline goes back, empty for as far as there are
 * runs
 * @param page the page of the table, from 1
 */
record PageQuery(String view, @Nullable String key, @Nullable String manager, String text, String state, String outcome,
		String sort, String range, int page) {

	/**
	 * The views with their names, in their order.
	 */
	static final Map<String, String> VIEWS = views();

	/**
	 * How far a timeline can go back.
	 */
	static final Map<String, Duration> RANGES = ranges();

	static final List<String> OUTCOMES = List.of("EXECUTED", "FAILED", "ABANDONED", "RUNNING");

	private static final int LONGEST_TEXT = 1000;

	PageQuery {
		view = (key != null && !view.equals("timeline")) ? "job" : VIEWS.containsKey(view) ? view : "overview";
		text = text.strip().replace("\0", "");
		text = text.substring(0, Math.min(text.length(), LONGEST_TEXT));
		state = AdvisoryLocksSource.STATES.contains(state) ? state : "all";
		outcome = OUTCOMES.contains(outcome) ? outcome : "";
		sort = AdvisoryLocksSource.SORTS.contains(sort) ? sort : "";
		range = RANGES.containsKey(range) ? range : "";
		page = Math.max(1, Math.min(page, 10_000));
	}

	static PageQuery of(@Nullable String view, @Nullable String key, @Nullable String manager, @Nullable String text,
			@Nullable String state, @Nullable String outcome, @Nullable String sort, @Nullable String range,
			@Nullable Integer page) {
		return new PageQuery(Objects.toString(view, ""), text(key), text(manager), Objects.toString(text, ""),
				Objects.toString(state, ""), Objects.toString(outcome, ""), Objects.toString(sort, ""),
				Objects.toString(range, ""), (page != null) ? page : 1);
	}

	/**
	 * Return the address of the same with another value of a parameter, on its first page
	 * unless that is what is asked for.
	 */
	String with(String name, Object value) {
		Map<String, Object> values = new LinkedHashMap<>();
		values.put("view", this.view);
		values.put("key", Objects.toString(this.key, ""));
		values.put("manager", Objects.toString(this.manager, ""));
		values.put("q", this.text);
		values.put("state", this.state.equals("all") ? "" : this.state);
		values.put("outcome", this.outcome);
		values.put("sort", this.sort);
		values.put("range", this.range);
		values.put(name, value);
		values.values().removeIf((one) -> one.toString().isEmpty());
		UriComponentsBuilder builder = UriComponentsBuilder.newInstance();
		values.keySet().forEach((one) -> builder.queryParam(one, "{" + one + "}"));
		return builder.encode().buildAndExpand(values).toUriString();
	}

	/**
	 * Return the address of one job.
	 * @param manager the transaction manager of its database, {@code null} where there is
	 * one database
	 */
	static String ofJob(String id, @Nullable String manager) {
		return "?view=job&key=" + id
				+ ((manager != null) ? "&manager=" + UriUtils.encode(manager, StandardCharsets.UTF_8) : "");
	}

	private static @Nullable String text(@Nullable String value) {
		return (value != null && !value.isBlank()) ? value : null;
	}

	private static Map<String, String> views() {
		Map<String, String> views = new LinkedHashMap<>();
		List.of("Overview", "Jobs", "Timeline", "Instances", "Leaders", "Locks")
			.forEach((name) -> views.put(name.toLowerCase(Locale.ROOT), name));
		return views;
	}

	private static Map<String, Duration> ranges() {
		Map<String, Duration> ranges = new LinkedHashMap<>();
		ranges.put("15m", Duration.ofMinutes(15));
		ranges.put("1h", Duration.ofHours(1));
		ranges.put("6h", Duration.ofHours(6));
		ranges.put("24h", Duration.ofDays(1));
		ranges.put("7d", Duration.ofDays(7));
		ranges.put("30d", Duration.ofDays(30));
		return ranges;
	}

}
