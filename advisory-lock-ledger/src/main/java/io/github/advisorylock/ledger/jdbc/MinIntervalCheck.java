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

package io.github.advisorylock.ledger.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringValueResolver;

/**
 * Warns of a {@code minInterval} that is as long as the time between two calls by the
 * scheduler, or longer: whether the next call comes a moment too soon is chance.
 *
 * @param resolver resolves what stands in the schedules of methods
 */
record MinIntervalCheck(StringValueResolver resolver) {

	private static final Log logger = LogFactory.getLog(MinIntervalCheck.class);

	/**
	 * How many ticks of a cron schedule are looked at: a month of days has the one that
	 * is shortened by summer time, or not.
	 */
	private static final int TICKS = 60;

	void check(SingleRunnerMethod method) {
		Duration minInterval = method.operation().ledger().minInterval();
		Duration period = (minInterval != null) ? shortestPeriod(method) : null;
		if (minInterval != null && period != null && minInterval.compareTo(period) >= 0) {
			logger.warn("@SingleRunner " + method + ": attribute 'minInterval' is " + minInterval
					+ " and its schedule has a call each " + period + ", so that calls are skipped as TOO_SOON, each "
					+ "other one or by chance. Make 'minInterval' shorter than that, by more than timers are late");
		}
	}

	/**
	 * Return the shortest time between two calls. A schedule that can't be read has none:
	 * Spring says so.
	 */
	private @Nullable Duration shortestPeriod(SingleRunnerMethod method) {
		try {
			return JobFacts.Schedule.of(method.method(), this.resolver)
				.stream()
				.flatMap((schedule) -> Stream.concat(Stream.ofNullable(schedule.interval()),
						schedule.gaps(Instant.now(), TICKS)))
				.min(Comparator.naturalOrder())
				.orElse(null);
		}
		catch (IllegalArgumentException ex) {
			logger.debug("The schedule of " + method + " can't be read: " + ex);
			return null;
		}
	}

}
