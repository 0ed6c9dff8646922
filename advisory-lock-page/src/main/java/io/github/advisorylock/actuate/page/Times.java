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

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Times as operators read them, in UTC, and as seen at a moment.
 *
 * @param now the moment
 */
record Times(Instant now) {

	/**
	 * Return a time of day, with its date unless that is today.
	 */
	Html at(@Nullable Instant time) {
		if (time == null) {
			return Html.NONE;
		}
		LocalDateTime there = LocalDateTime.ofInstant(time.truncatedTo(ChronoUnit.SECONDS), ZoneOffset.UTC);
		LocalDateTime here = LocalDateTime.ofInstant(this.now, ZoneOffset.UTC);
		String text = there.toLocalDate().equals(here.toLocalDate()) ? format("%tT", there) : format("%tF %<tR", there);
		return Html.of("<time datetime=\"%s\" title=\"%s UTC\">%s</time>", time.truncatedTo(ChronoUnit.MILLIS),
				format("%tF %<tT", there), text);
	}

	private static String format(String pattern, LocalDateTime time) {
		return String.format(Locale.ROOT, pattern, time);
	}

	String since(Instant time) {
		return text(Duration.between(time, this.now));
	}

	static String text(Duration duration) {
		Duration positive = duration.isNegative() ? Duration.ZERO : duration;
		if (positive.compareTo(Duration.ofSeconds(1)) < 0) {
			return positive.toMillis() + " ms";
		}
		if (positive.compareTo(Duration.ofMinutes(1)) < 0) {
			return String.format(Locale.ROOT, "%.1f s", positive.toMillis() / 1000.0);
		}
		if (positive.compareTo(Duration.ofHours(1)) < 0) {
			return text(positive.toMinutes(), " min", positive.toSecondsPart(), " s");
		}
		return (positive.toDays() == 0) ? text(positive.toHours(), " h", positive.toMinutesPart(), " min")
				: text(positive.toDays(), " d", positive.toHoursPart(), " h");
	}

	private static String text(long large, String largeUnit, int small, String smallUnit) {
		return large + largeUnit + ((small != 0) ? " " + small + smallUnit : "");
	}

}
