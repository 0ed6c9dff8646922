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

package io.github.advisorylock.annotation;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.InvalidSingleRunnerException.InvalidAttributeException;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.statistics.Statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what is true of every text that an attribute reads as a time.
 */
class DurationLawTests {

	private static final Pattern ZERO = Pattern.compile("[+-]?0+");

	private static final Pattern PART = Pattern.compile("([0-9]+)([a-zA-Z]+)");

	/**
	 * One number with its unit, or several in the order of their units.
	 */
	private static final Pattern PARTS = Pattern
		.compile("([+-]?)([0-9]+(?i:d|h|m|s|ms|us|ns)| ?(?=[0-9])(?:[0-9]+d)? ?(?:[0-9]+h)? ?(?:[0-9]+m)? ?(?:[0-9]+s)?"
				+ " ?(?:[0-9]+ms)? ?(?:[0-9]+us)? ?(?:[0-9]+ns)?)");

	@Property(seed = "11")
	void numberWithUnitIsThatTime(@ForAll @LongRange(max = 100_000) long number, @ForAll("units") ChronoUnit unit,
			@ForAll("spaces") String before, @ForAll("spaces") String after) {
		assertThat(parse(before + number + suffix(unit) + after)).isEqualTo(Duration.of(number, unit));
	}

	@Property(seed = "11")
	void timeThatJavaWritesIsRead(@ForAll("times") Duration time) {
		assertThat(parse(time.toString())).isEqualTo(time);
		assertThat(parse(time.toString().toLowerCase(Locale.ROOT))).isEqualTo(time);
	}

	/**
	 * Of the texts some are times, three in a hundred at least, and most are none.
	 */
	@Property(seed = "11")
	void whatIsNoTimeIsRefusedByTheNameOfItsAttribute(@ForAll("texts") String text) {
		Optional<Duration> time = timeIn(text.strip());
		Statistics.label("is a time").collect(time.isPresent()).coverage((texts) -> {
			texts.check(true).percentage((share) -> share >= 3);
			texts.check(false).percentage((share) -> share >= 50);
		});
		assertThat(outcome(text)).isEqualTo(time.<Object>map((expected) -> expected).orElse("refused"));
	}

	private static Object outcome(String text) {
		try {
			return parse(text);
		}
		catch (InvalidAttributeException ex) {
			assertThat(ex).hasMessageContaining("attribute 'waitFor' ").hasMessageContaining("'" + text + "'");
			return "refused";
		}
	}

	/**
	 * Read a text by a grammar of this test's own.
	 */
	private static Optional<Duration> timeIn(String text) {
		try {
			Matcher parts = PARTS.matcher(text);
			if (ZERO.matcher(text).matches()) {
				return Optional.of(Duration.ZERO);
			}
			Duration time = parts.matches() ? sum(parts) : Duration.parse(text);
			return Optional.of(time).filter((read) -> !read.isNegative());
		}
		catch (DateTimeParseException | ArithmeticException | NumberFormatException ex) {
			return Optional.empty();
		}
	}

	private static Duration sum(Matcher parts) {
		Duration sum = Duration.ZERO;
		Matcher part = PART.matcher(parts.group(2));
		while (part.find()) {
			ChronoUnit unit = Stream.of(ChronoUnit.values())
				.filter((candidate) -> suffix(candidate).equals(part.group(2).toLowerCase(Locale.ROOT)))
				.findFirst()
				.orElseThrow();
			sum = sum.plus(Duration.of(Long.parseLong(part.group(1)), unit));
		}
		return parts.group(1).equals("-") ? sum.negated() : sum;
	}

	@Property(seed = "11")
	void timeBeforeZeroAndNumberWithoutUnitAreRefused(@ForAll @LongRange(min = 1) long number,
			@ForAll("units") ChronoUnit unit) {
		for (String text : new String[] { "-" + number + suffix(unit), "-PT" + number % 1000 + ".5S", "" + number,
				"-" + number, "+" + number }) {
			assertThatExceptionOfType(InvalidAttributeException.class).isThrownBy(() -> parse(text))
				.withMessageContaining("attribute 'waitFor' ");
		}
	}

	@Provide
	Arbitrary<ChronoUnit> units() {
		return Arbitraries.of(ChronoUnit.NANOS, ChronoUnit.MICROS, ChronoUnit.MILLIS, ChronoUnit.SECONDS,
				ChronoUnit.MINUTES, ChronoUnit.HOURS, ChronoUnit.DAYS);
	}

	@Provide
	Arbitrary<String> spaces() {
		return Arbitraries.of("", " ", "\t ");
	}

	@Provide
	Arbitrary<Duration> times() {
		Arbitrary<Long> seconds = Arbitraries.longs().between(0, 1_000_000_000);
		return seconds.flatMap((whole) -> Arbitraries.integers()
			.between(0, 999_999_999)
			.map((nanos) -> Duration.ofSeconds(whole, nanos)));
	}

	@Provide
	Arbitrary<String> texts() {
		Arbitrary<String> parts = Arbitraries.of("0", "5", "10", "9223372036854775807", "99999999999999999999", "ns",
				"us", "ms", "s", "m", "h", "d", "S", "H", "w", "PT", "P", "T", "-", "+", ".", " ", "\u0665", "x");
		return parts.list().ofMaxSize(6).map((list) -> String.join("", list));
	}

	private static Duration parse(String text) {
		return LedgerOperationParser.parseDuration("waitFor", text, "zero or more");
	}

	private static String suffix(ChronoUnit unit) {
		return switch (unit) {
			case NANOS -> "ns";
			case MICROS -> "us";
			case MILLIS -> "ms";
			case SECONDS -> "s";
			case MINUTES -> "m";
			case HOURS -> "h";
			case DAYS -> "d";
			default -> "";
		};
	}

}
