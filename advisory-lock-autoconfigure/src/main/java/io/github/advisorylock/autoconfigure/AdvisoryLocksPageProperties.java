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

package io.github.advisorylock.autoconfigure;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import io.github.advisorylock.actuate.page.AdvisoryLocksPageEndpoint;

import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationUnit;

/**
 * Properties of the page for operators.
 *
 * @param refresh How often the page shows what is new. In seconds if it has no unit.
 * @param timeline How far the timeline goes back, unless the page is asked for another
 * time. In hours if it has no unit.
 * @param rows Number of jobs in the table at a time.
 * @param links Where to find more of a run.
 */
record AdvisoryLocksPageProperties(@DurationUnit(ChronoUnit.SECONDS) @DefaultValue("5s") Duration refresh,
		@DurationUnit(ChronoUnit.HOURS) @DefaultValue("6h") Duration timeline, @DefaultValue("100") int rows,
		@DefaultValue Links links) {

	AdvisoryLocksPageEndpoint.Settings toSettings(AdvisoryLocksEndpointProperties endpoint) {
		require(this.refresh.compareTo(Duration.ofSeconds(1)) >= 0 && this.refresh.compareTo(Duration.ofDays(1)) <= 0,
				"refresh", "must be from 1s to 1d", this.refresh);
		require(this.timeline.compareTo(Duration.ofHours(1)) >= 0 && this.timeline.compareTo(Duration.ofDays(7)) <= 0,
				"timeline", "must be from 1h to 7d", this.timeline);
		require(this.rows >= 1 && this.rows <= 1000, "rows", "must be from 1 to 1000", this.rows);
		return new AdvisoryLocksPageEndpoint.Settings(this.refresh, this.timeline, this.rows, endpoint.showValues(),
				endpoint.roles(), new AdvisoryLocksPageEndpoint.Links(this.links.address("log", this.links.log),
						this.links.address("trace", this.links.trace)));
	}

	private static void require(boolean valid, String name, String rule, Object value) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.page." + name, value,
					"It " + rule + ".");
		}
	}

	/**
	 * Where to find more of a run.
	 *
	 * @param log Address of the log of a run, with {traceId}, {instance}, {key},
	 * {startedAt} or {finishedAt}.
	 * @param trace Address of the trace of a run, with the same placeholders.
	 */
	record Links(@DefaultValue("") String log, @DefaultValue("") String trace) {

		/**
		 * Return an address that links can be made of.
		 */
		private String address(String name, String address) {
			try {
				return new AdvisoryLocksPageEndpoint.Links(address, "").log();
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidConfigurationPropertyValueException("advisory-lock.page.links." + name, address,
						"It " + ex.getMessage() + ".");
			}
		}

	}

}
