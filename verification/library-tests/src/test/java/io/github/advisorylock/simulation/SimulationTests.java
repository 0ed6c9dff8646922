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

import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Simulates what instances decide, on one thread: the seed tells what happens to them.
 * {@code -Dsimulation.steps=} tries as many steps, and {@code -Dsimulation.seed=} repeats
 * a seed.
 */
class SimulationTests {

	private static final long STEPS = Long.getLong("simulation.steps", 30_000);

	private static final long STEPS_OF_SEED = 10_000;

	private static final long SEED = Long.getLong("simulation.seed", 0);

	private final List<SimulatedMethods> methods = Stream.generate(SimulatedMethods::new).limit(3).toList();

	private final Logger logger = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);

	private final @Nullable Level level = this.logger.getLevel();

	@BeforeEach
	void beSilent() {
		this.logger.setLevel(Level.OFF);
	}

	@AfterEach
	void logAgain() {
		this.logger.setLevel(this.level);
	}

	@Test
	void promisesAreKeptWhateverHappens() {
		long seed = (SEED != 0) ? SEED : 1;
		for (long steps = 0; steps < STEPS; seed++) {
			Simulation simulation = new Simulation(seed, STEPS_OF_SEED);
			new World(simulation, seed % 3 == 0, this.methods).run();
			assertThat(simulation.violation()).as("-Dsimulation.seed=" + seed).isNull();
			steps += (SEED != 0) ? STEPS : simulation.steps();
		}
	}

}
