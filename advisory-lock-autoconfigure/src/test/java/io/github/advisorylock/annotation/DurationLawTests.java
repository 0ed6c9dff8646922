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
import java.time.temporal.ChronoUnit;
import java.util.Locale;

import io.github.advisorylock.annotation.InvalidSingleRunnerException.InvalidAttributeException;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what is true of every text that an attribute reads as a time.
 */
class DurationLawTests {

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

	@Property(seed = "11")
	void whatIsNoTimeIsRefusedByTheNameOfItsAttribute(@ForAll("texts") String text) {
		try {
			assertThat(parse(text)).isGreaterThanOrEqualTo(Duration.ZERO);
		}
		catch (InvalidAttributeException ex) {
			assertThat(ex).hasMessageContaining("attribute 'waitFor' ").hasMessageContaining("'" + text + "'");
		}
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
			default -> "d";
		};
	}

}
