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

import java.util.Arrays;
import java.util.Collection;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.web.util.HtmlUtils;

/**
 * Markup. What comes from elsewhere can only get in as text.
 *
 * @param markup the markup
 */
record Html(String markup) {

	static final Html NONE = new Html("");

	/**
	 * Characters that turn the direction of what follows, separate lines, or are seen by
	 * nobody; lines of a statement may stay.
	 */
	private static final Pattern DECEPTIVE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}&&[^\\n\\r\\t]]");

	/**
	 * Put values into markup.
	 * @param template the markup with {@code %s} for each value, within elements or
	 * quoted attributes
	 * @param values the values: markup as it is, anything else as text
	 */
	static Html of(String template, @Nullable Object... values) {
		return new Html(template.formatted(Arrays.stream(values).map(Html::escape).toArray()));
	}

	/**
	 * Return markup for each element.
	 */
	static <T> Html each(Collection<T> elements, Function<? super T, Html> markup) {
		return elements.stream().map(markup).collect(joining());
	}

	/**
	 * Return markup where there is a value.
	 */
	static <T> Html with(@Nullable T value, Function<? super T, Html> markup) {
		return (value != null) ? markup.apply(value) : NONE;
	}

	static Collector<Html, ?, Html> joining() {
		return Collectors.collectingAndThen(Collectors.mapping(Html::markup, Collectors.joining()), Html::new);
	}

	private static String escape(@Nullable Object value) {
		if (value instanceof Html html) {
			return html.markup;
		}
		return (value != null) ? HtmlUtils.htmlEscape(DECEPTIVE.matcher(value.toString()).replaceAll("?"), "UTF-8")
				: "";
	}

	@Override
	public String toString() {
		return this.markup;
	}

}
