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

package io.github.advisorylock.simulation;

import java.time.Duration;

/**
 * How much happens that is nobody's wish. In a storm connections die, answers are late or
 * lost, and instances fail; in between is time to see that everything goes on.
 */
final class Weather {

	private static final long MILLI = 1_000_000L;

	private final Simulation simulation;

	private boolean storm;

	private long calmSince;

	Weather(Simulation simulation) {
		this.simulation = simulation;
		change();
	}

	private void change() {
		this.storm = !this.storm;
		this.calmSince = this.simulation.now();
		this.simulation.note(this.storm ? "-- storm" : "-- calm");
		long seconds = this.storm ? this.simulation.random(60, 400) : this.simulation.random(300, 700);
		this.simulation.at(this.simulation.now() + Duration.ofSeconds(seconds).toNanos(), () -> 0L, this::change);
	}

	boolean isStorm() {
		return this.storm;
	}

	/**
	 * Return for how long it has been calm.
	 */
	Duration calm() {
		return this.storm ? Duration.ZERO : Duration.ofNanos(this.simulation.now() - this.calmSince);
	}

	/**
	 * Note that it is not as calm as it was.
	 */
	void disturb() {
		this.calmSince = this.simulation.now();
	}

	SimulatedConnection.Fault nextFault() {
		if (!this.storm || !this.simulation.chance(15)) {
			return SimulatedConnection.Fault.NONE;
		}
		SimulatedConnection.Fault[] all = SimulatedConnection.Fault.values();
		return all[(int) this.simulation.random(1, all.length)];
	}

	boolean refusesConnections() {
		return this.storm && this.simulation.chance(20);
	}

	/**
	 * Return how long something is on its way.
	 */
	long latency() {
		if (!this.simulation.chance(100)) {
			return 0;
		}
		return this.simulation.random(1, ((this.storm && this.simulation.chance(50)) ? 3000 : 20) * MILLI);
	}

	/**
	 * Return how long a job takes.
	 */
	long duration() {
		return this.simulation.random(1, (this.simulation.chance(50) ? 60_000 : 5000) * MILLI);
	}

	/**
	 * Return whether a job fails, whatever the weather.
	 */
	boolean fails() {
		return this.simulation.chance(250);
	}

}
