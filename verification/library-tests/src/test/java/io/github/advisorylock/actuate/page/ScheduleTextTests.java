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

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ScheduleText}.
 */
class ScheduleTextTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			* * * * * *             | every second
			*/5 * * * * *           | every 5 seconds
			0/20 * * * * *          | every 20 seconds
			0 * * * * *             | every minute
			0 */15 * * * *          | every 15 minutes
			30 */15 * * * *         | every 15 minutes, 30 seconds past
			0 0 * * * *             | every hour
			0 5 * * * *             | every hour, 5 minutes past
			0 1 */6 * * *           | every 6 hours, 1 minute past
			10 0 */2 * * *          | every 2 hours, 10 seconds past
			0 0 3 * * *             | every day at 03:00
			15 30 3 * * *           | every day at 03:30:15
			0 0 8,12,16 * * *       | every day at 08:00, 12:00 and 16:00
			0 30 8-18 * * MON-FRI   | every hour from 08:30 to 18:30 Monday to Friday
			0 */10 8-17 * * 1-5     | every 10 minutes from 08:00 to 17:59 Monday to Friday
			0 * 3 * * *             | every minute from 03:00 to 03:59
			0 0 6 ? * SUN           | on Sunday at 06:00
			0 0 6 * * 0             | on Sunday at 06:00
			0 0 6 * * 7             | on Sunday at 06:00
			0 0 6 * * mon,Thu       | on Monday and Thursday at 06:00
			0 0 0 1 * ?             | on the 1st of each month at 00:00
			0 0 0 1,15 * *          | on the 1st and 15th of each month at 00:00
			0 0 4 L * *             | on the last day of each month at 04:00
			0 0 4 22 3,6 *          | on the 22nd of March and June at 04:00
			0 0 4 * DEC *           | every day in December at 04:00
			0 0 4 11 1-3 *          | on the 11th of January to March at 04:00
			@daily                  | every day at 00:00
			@hourly                 | every hour
			@yearly                 | on the 1st of January at 00:00
			@weekly                 | on Sunday at 00:00
			""")
	void usualFormsAreToldInWords(String expression, String words) {
		assertThat(ScheduleText.words(expression)).isEqualTo(words);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0 0/7 * * * *", "*/7 * * * * *", "0 0 3 * * 2#1", "0 0 3 LW * *", "0 5/15 * * * *",
			"0 0 */5 * * *", "0,30 * * * * *", "0 0 3 1 * MON", "0 0 3 1-5 * *", "nonsense", "", "0 0 25 * * *",
			"0 1,2 * * * *", "0 0 3 */2 * *", "0 0 8-18/2 * * *" })
	void othersAreLeftAsTheyAre(String expression) {
		assertThat(ScheduleText.words(expression)).isNull();
	}

	@Test
	void expressionOfNoUsualFormIsShownWithItsZone() {
		assertThat(ScheduleText.of(cron("0 0 3 * * 2#1", "Asia/Tokyo"))).isEqualTo("cron 0 0 3 * * 2#1 (Asia/Tokyo)");
		assertThat(ScheduleText.of(new ScheduleDescriptor("fixedDelay", null, null, Duration.ofMinutes(5))))
			.isEqualTo("5 min after each run");
		assertThat(ScheduleText.of(new ScheduleDescriptor("fixedRate", null, null, Duration.ofSeconds(90))))
			.isEqualTo("every 1 min 30 s");
		assertThat(ScheduleText.of(new ScheduleDescriptor("custom", "moon phase", null, null))).isEqualTo("moon phase");
	}

	/**
	 * The clocks of Berlin go back an hour in the night to 25 October.
	 */
	@Test
	void nextTimesFollowTheZoneOverAChangeOfItsClock() {
		assertThat(ScheduleText.next(cron("0 0 3 * * *", "Europe/Berlin"), Instant.parse("2026-10-23T12:00:00Z"), 3))
			.extracting(Instant::toString)
			.containsExactly("2026-10-24T01:00:00Z", "2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z");
	}

	@Test
	void timesThatThereAreNoneOfAreNone() {
		Instant now = Instant.parse("2026-10-23T12:00:00Z");
		assertThat(ScheduleText.next(cron("0 0 3 30 2 *", "UTC"), now, 5)).isEmpty();
		assertThat(ScheduleText.next(cron("nonsense", "UTC"), now, 5)).isEmpty();
		assertThat(ScheduleText.next(cron("0 0 3 * * *", "Mars/Base"), now, 5)).isEmpty();
		assertThat(ScheduleText.next(new ScheduleDescriptor("fixedRate", null, null, Duration.ofHours(1)), now, 5))
			.isEmpty();
	}

	private static ScheduleDescriptor cron(String expression, String zone) {
		return new ScheduleDescriptor("cron", expression, zone, null);
	}

}
