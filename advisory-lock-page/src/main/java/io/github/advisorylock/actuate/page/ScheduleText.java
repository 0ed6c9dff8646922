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

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.Month;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.TextStyle;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.support.CronExpression;

/**
 * When a method is called, in words. Of cron expressions the usual forms are told so,
 * exactly; any other is left as it is.
 */
final class ScheduleText {

	private static final Map<String, String> MACROS = Map.of("@yearly", "0 0 0 1 1 *", "@annually", "0 0 0 1 1 *",
			"@monthly", "0 0 0 1 * *", "@weekly", "0 0 0 * * 0", "@daily", "0 0 0 * * *", "@midnight", "0 0 0 * * *",
			"@hourly", "0 0 * * * *");

	private static final Pattern NUMBER = Pattern.compile("\\d{1,2}");

	private static final Pattern STEP = Pattern.compile("(?:\\*|0)/\\d{1,2}");

	private static final Pattern RANGE = Pattern.compile("\\d{1,2}-\\d{1,2}");

	private static final Pattern LIST = Pattern.compile("\\d{1,2}(,\\d{1,2})*");

	private ScheduleText() {
	}

	/**
	 * Return the words of a schedule, with its zone.
	 */
	static String of(ScheduleDescriptor schedule) {
		if (schedule.interval() != null) {
			String time = Times.text(schedule.interval());
			return schedule.type().equals("fixedDelay") ? time + " after each run" : "every " + time;
		}
		String expression = Objects.toString(schedule.expression(), "");
		if (!schedule.type().equals("cron")) {
			return expression;
		}
		String words = words(expression);
		return ((words != null) ? words : "cron " + expression)
				+ ((schedule.zone() != null) ? " (" + schedule.zone() + ")" : "");
	}

	/**
	 * Return the next times of a cron expression, none where they can't be told.
	 */
	static List<Instant> next(ScheduleDescriptor schedule, Instant now, int count) {
		String expression = schedule.expression();
		if (!schedule.type().equals("cron") || expression == null || !CronExpression.isValidExpression(expression)) {
			return List.of();
		}
		try {
			CronExpression cron = CronExpression.parse(expression);
			ZoneId zone = (schedule.zone() != null) ? ZoneId.of(schedule.zone()) : ZoneId.systemDefault();
			return Stream.iterate(cron.next(now.atZone(zone)), Objects::nonNull, cron::next)
				.limit(count)
				.map(ZonedDateTime::toInstant)
				.toList();
		}
		catch (DateTimeException ex) {
			return List.of();
		}
	}

	/**
	 * Return the words of a cron expression, {@code null} if it is of no usual form.
	 */
	static @Nullable String words(String expression) {
		String[] fields = MACROS.getOrDefault(expression.strip().toLowerCase(Locale.ROOT), expression)
			.strip()
			.split("\\s+");
		if (fields.length != 6 || !CronExpression.isValidExpression(String.join(" ", fields))) {
			return null;
		}
		String time = time(fields[0], fields[1], fields[2]);
		String days = days(fields[3].replace('?', '*'), fields[4], fields[5].replace('?', '*'));
		if (time == null || days == null) {
			return null;
		}
		if (!days.isEmpty()) {
			return (time.startsWith("at ") ? "" : time + " ") + days + (time.startsWith("at ") ? " " + time : "");
		}
		return time.startsWith("at ") ? "every day " + time : time;
	}

	private static @Nullable String time(String second, String minute, String hour) {
		if (minute.equals("*") && hour.equals("*") && !NUMBER.matcher(second).matches()) {
			return every(second, 60, "second");
		}
		if (!NUMBER.matcher(second).matches()) {
			return null;
		}
		int at = Integer.parseInt(second);
		String seconds = (at != 0) ? " and " + count(at, "second") : "";
		if (!NUMBER.matcher(minute).matches()) {
			String every = every(minute, 60, "minute");
			String during = during(hour);
			return (every == null || during == null) ? null
					: every + ((at != 0) ? ", " + count(at, "second") + " past" : "") + during;
		}
		if (LIST.matcher(hour).matches()) {
			return "at " + Arrays.stream(hour.split(",")).map((one) -> clock(one, minute, at)).collect(and());
		}
		int minutes = Integer.parseInt(minute);
		String past = (minutes == 0) ? count(at, "second") : count(minutes, "minute") + seconds;
		if (RANGE.matcher(hour).matches()) {
			return "every hour" + span(hour, minute, minute, at);
		}
		String every = every(hour, 24, "hour");
		return (every == null || (minutes == 0 && at == 0)) ? every : every + ", " + past + " past";
	}

	/**
	 * Return the words of a step, which must fit its whole, or it would not be regular.
	 */
	private static @Nullable String every(String field, int whole, String unit) {
		if (field.equals("*") || field.equals("*/1") || field.equals("0/1")) {
			return "every " + unit;
		}
		if (!STEP.matcher(field).matches()) {
			return null;
		}
		int step = Integer.parseInt(field.substring(field.indexOf('/') + 1));
		return (step > 0 && whole % step == 0) ? "every " + step + " " + unit + "s" : null;
	}

	private static @Nullable String during(String hour) {
		if (hour.equals("*")) {
			return "";
		}
		return (NUMBER.matcher(hour).matches() || RANGE.matcher(hour).matches()) ? span(hour, "0", "59", 0) : null;
	}

	private static String span(String hours, String from, String to, int second) {
		int dash = hours.indexOf('-');
		return " from " + clock((dash > 0) ? hours.substring(0, dash) : hours, from, second) + " to "
				+ clock(hours.substring(dash + 1), to, second);
	}

	private static @Nullable String days(String day, String month, String weekday) {
		if (!day.equals("*") && !weekday.equals("*")) {
			return null;
		}
		String months = month.equals("*") ? "" : names(month, ScheduleText::month);
		String days = !weekday.equals("*") ? weekdays(weekday) : day.equals("*") ? "" : monthDays(day, months);
		if (months == null || days == null) {
			return null;
		}
		if (months.isEmpty() || !day.equals("*")) {
			return days;
		}
		return (days.isEmpty() ? "every day" : days) + " in " + months;
	}

	private static @Nullable String monthDays(String day, @Nullable String months) {
		String of = (months == null || months.isEmpty()) ? "each month" : months;
		if (day.equals("L")) {
			return "on the last day of " + of;
		}
		return LIST.matcher(day).matches()
				? "on the " + Arrays.stream(day.split(",")).map(ScheduleText::ordinal).collect(and()) + " of " + of
				: null;
	}

	private static @Nullable String weekdays(String weekday) {
		String names = names(weekday, ScheduleText::weekday);
		if (names == null) {
			return null;
		}
		return names.contains(" to ") ? names : "on " + names;
	}

	/**
	 * Return the names in a list, or of the ends of a range.
	 */
	private static @Nullable String names(String field, Function<String, @Nullable String> naming) {
		boolean range = field.indexOf('-') > 0 && field.indexOf(',') < 0;
		List<@Nullable String> names = Arrays.stream(field.split(range ? "-" : ",")).map(naming).toList();
		if (names.contains(null) || (range && names.size() != 2)) {
			return null;
		}
		Stream<String> known = names.stream().map(String::valueOf);
		return range ? known.collect(Collectors.joining(" to ")) : known.collect(and());
	}

	private static @Nullable String weekday(String text) {
		if (text.matches("[0-7]")) {
			return name(DayOfWeek.of((Integer.parseInt(text) + 6) % 7 + 1));
		}
		return Arrays.stream(DayOfWeek.values())
			.filter((day) -> day.name().substring(0, 3).equalsIgnoreCase(text))
			.map(ScheduleText::name)
			.findFirst()
			.orElse(null);
	}

	private static String name(DayOfWeek day) {
		return day.getDisplayName(TextStyle.FULL, Locale.ENGLISH);
	}

	private static @Nullable String month(String text) {
		return Arrays.stream(Month.values())
			.filter((month) -> text.equals(String.valueOf(month.getValue()))
					|| month.name().substring(0, 3).equalsIgnoreCase(text))
			.map((month) -> month.getDisplayName(TextStyle.FULL, Locale.ENGLISH))
			.findFirst()
			.orElse(null);
	}

	private static String ordinal(String text) {
		int day = Integer.parseInt(text);
		int last = (day / 10 == 1) ? 0 : day % 10;
		return day + switch (last) {
			case 1 -> "st";
			case 2 -> "nd";
			case 3 -> "rd";
			default -> "th";
		};
	}

	private static String clock(String hour, String minute, int second) {
		String time = String.format(Locale.ROOT, "%02d:%02d", Integer.parseInt(hour), Integer.parseInt(minute));
		return (second != 0) ? time + String.format(Locale.ROOT, ":%02d", second) : time;
	}

	private static String count(int number, String unit) {
		return number + " " + unit + ((number != 1) ? "s" : "");
	}

	private static Collector<String, ?, String> and() {
		return Collectors.collectingAndThen(Collectors.toList(), (all) -> (all.size() == 1) ? all.get(0)
				: String.join(", ", all.subList(0, all.size() - 1)) + " and " + all.get(all.size() - 1));
	}

}
