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

package io.github.advisorylock.metrics;

import java.util.Collection;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Gauges of an instance: locks held, roles led, and how far its clock is from that of the
 * database.
 *
 * @since 0.1.0
 */
public class AdvisoryLockMetrics implements MeterBinder {

	private final IntSupplier held;

	private final DoubleSupplier clockSkew;

	private final Collection<String> roles;

	private final Predicate<String> leader;

	/**
	 * Create gauges.
	 * @param held how many locks this instance holds
	 * @param clockSkew by how many seconds the database's clock is ahead of ours
	 * @param roles the roles that are known
	 * @param leader whether this instance leads a role
	 */
	public AdvisoryLockMetrics(IntSupplier held, DoubleSupplier clockSkew, Collection<String> roles,
			Predicate<String> leader) {
		this.held = held;
		this.clockSkew = clockSkew;
		this.roles = roles;
		this.leader = leader;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("advisory.lock.held", this.held::getAsInt)
			.description("Locks that this instance holds")
			.register(registry);
		Gauge.builder("advisory.lock.clock.skew", this.clockSkew::getAsDouble)
			.description("By how much the clock of the database is ahead of that of this instance")
			.baseUnit("seconds")
			.register(registry);
		for (String role : this.roles) {
			Gauge.builder("advisory.lock.leader", () -> this.leader.test(role) ? 1 : 0)
				.description("Whether this instance leads the role")
				.tag("role", role)
				.register(registry);
		}
	}

}
