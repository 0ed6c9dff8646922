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

package io.github.advisorylock.faults.rivals;

import java.time.Duration;
import java.time.Instant;

import org.springframework.util.Assert;

/**
 * The ticks of all contestants: whole multiples of a period that divides a minute.
 */
final class Schedule {

	/**
	 * The name of the one job.
	 */
	static final String JOB = "job";

	private Schedule() {
	}

	/**
	 * Return the cron expression of Spring, with seconds first.
	 */
	static String cron(Duration period) {
		Assert.isTrue(60 % period.toSeconds() == 0, "'period' must divide a minute");
		return "*/" + period.toSeconds() + " * * * * *";
	}

	/**
	 * Return the latest tick that is not after the given time.
	 */
	static Instant tick(Instant time, Duration period) {
		return Instant.ofEpochMilli(time.toEpochMilli() / period.toMillis() * period.toMillis());
	}

}
