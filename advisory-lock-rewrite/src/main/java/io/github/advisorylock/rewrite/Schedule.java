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

package io.github.advisorylock.rewrite;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;

/**
 * The only schedule of a method.
 *
 * @param attribute what it is of: {@code cron}, {@code fixedRate}, {@code fixedDelay} and
 * what ends in {@code String}
 * @param value the text of that attribute, as {@link ShedLockScan#text} returns it
 * @param unit the name of the unit of a number
 */
record Schedule(String attribute, String value, String unit) {

	private static final List<String> ATTRIBUTES = List.of("cron", "fixedRate", "fixedDelay", "fixedRateString",
			"fixedDelayString");

	private static final Pattern SIMPLE = Pattern.compile("\\+?(\\d+)([a-z]{0,2})");

	/** A placeholder or an expression that is another one each time. */
	private static final Pattern RANDOM = Pattern.compile("\\$\\{random\\.|#\\{.*(?:random|uuid)",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	/** A second, a minute and an hour of a cron expression that has one in so many. */
	private static final Pattern EACH = Pattern.compile("\\*|(?:\\*|0)/(\\d{1,2})");

	/**
	 * Return the only schedule that some annotations have.
	 * @return the schedule, {@code null} if there are none or several
	 */
	static @Nullable Schedule of(List<J.Annotation> annotations) {
		List<J.Annotation> schedules = annotations.stream().filter(ShedLock.SCHEDULED::matches).toList();
		if (schedules.size() != 1) {
			return null;
		}
		for (String attribute : ATTRIBUTES) {
			Expression value = ShedLock.attribute(schedules.get(0), attribute);
			if (value != null) {
				String unit = ShedLockScan.text(ShedLock.attribute(schedules.get(0), "timeUnit"));
				return new Schedule(attribute, ShedLockScan.text(value), unit.substring(unit.lastIndexOf('#') + 1));
			}
		}
		return null;
	}

	boolean isCron() {
		return this.attribute.equals("cron");
	}

	/**
	 * Return whether each instance has other times: a cron expression with a random part.
	 * @param constants knows the text of a constant
	 */
	boolean isRandom(UnaryOperator<String> constants) {
		return isCron() && RANDOM.matcher(constants.apply(this.value)).find();
	}

	/**
	 * Return how long it is from one of its times to the next, at the least.
	 * @param constants knows the text of a constant
	 * @return the time, {@code null} if it can't be known from the sources
	 */
	@Nullable Duration interval(UnaryOperator<String> constants) {
		if (isCron()) {
			return cronInterval(constants.apply(this.value).trim());
		}
		Duration interval = null;
		for (String factor : this.value.split(" \\* ", -1)) {
			Duration time = time(constants.apply(factor), this.unit);
			if (time == null) {
				return null;
			}
			interval = (interval != null) ? interval.multipliedBy(time.dividedBy(time("1", this.unit))) : time;
		}
		return interval;
	}

	private static @Nullable Duration cronInterval(String cron) {
		String[] fields = cron.split("\\s+", -1);
		Duration[] units = { Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofHours(1) };
		for (int i = 0; i < units.length && fields.length == 6; i++) {
			Matcher each = EACH.matcher(fields[i]);
			if (each.matches()) {
				return units[i].multipliedBy((each.group(1) != null) ? Long.parseLong(each.group(1)) : 1);
			}
			if (!fields[i].matches("\\d+")) {
				return null;
			}
		}
		return null;
	}

	/**
	 * Read a time as ShedLock and Spring write it.
	 * @param unit the name of the unit of a time that has none, milliseconds if empty
	 * @return the time, {@code null} if it is none, such as a placeholder
	 */
	static @Nullable Duration time(String text, String unit) {
		Matcher simple = SIMPLE.matcher(text.toLowerCase(Locale.ROOT));
		try {
			return simple.matches()
					? Duration.of(Long.parseLong(simple.group(1)), unit(simple.group(2), unit).toChronoUnit())
					: Duration.parse(text);
		}
		catch (DateTimeParseException | IllegalArgumentException ex) {
			return null;
		}
	}

	private static TimeUnit unit(String suffix, String unit) {
		return switch (suffix) {
			case "" -> unit.isEmpty() ? TimeUnit.MILLISECONDS : TimeUnit.valueOf(unit);
			case "ms" -> TimeUnit.MILLISECONDS;
			case "s" -> TimeUnit.SECONDS;
			case "m" -> TimeUnit.MINUTES;
			case "h" -> TimeUnit.HOURS;
			case "d" -> TimeUnit.DAYS;
			case "us" -> TimeUnit.MICROSECONDS;
			case "ns" -> TimeUnit.NANOSECONDS;
			default -> throw new IllegalArgumentException(suffix);
		};
	}

}
