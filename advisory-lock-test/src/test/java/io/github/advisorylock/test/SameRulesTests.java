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

package io.github.advisorylock.test;

import java.util.List;
import java.util.stream.Stream;

import io.github.advisorylock.test.fleet.FleetApplication;
import io.github.advisorylock.test.fleet.Jobs;
import io.github.advisorylock.test.fleet.Ledgers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that what random scripts do to jobs ends in memory as on PostgreSQL.
 */
@Tag("gate")
@FleetTest(Jobs.class)
@ContextConfiguration(classes = FleetApplication.class)
class SameRulesTests {

	private static final int SCRIPTS = Integer.getInteger("scripts", 50);

	private static final long FIRST = Long.getLong("scripts.first", 1);

	/**
	 * In which the database is away while a run goes on, and a call or the transaction of
	 * its caller begins.
	 */
	private static final List<Long> OUTAGES = List.of(388L, 429L, 643L);

	private static PostgresScriptPlayer postgres;

	@MockitoBean
	private Ledgers ledgers;

	@BeforeAll
	static void startPostgres() {
		postgres = new PostgresScriptPlayer();
	}

	@AfterAll
	static void stopPostgres() {
		postgres.close();
	}

	static Stream<Script> scripts() {
		return Stream.concat(OUTAGES.stream(), Stream.iterate(FIRST, (seed) -> seed + 1).limit(SCRIPTS))
			.distinct()
			.map(Script::of);
	}

	@ParameterizedTest
	@MethodSource("scripts")
	void callsEndAsOnPostgres(Script script, Fleet fleet) {
		List<String> inMemory = new FleetScriptPlayer(fleet, script.seed()).play(script);
		List<String> onPostgres = postgres.play(script);
		assertThat(inMemory)
			.as(() -> "%s, what happened:%n%s".formatted(script, describe(script, inMemory, onPostgres)))
			.isEqualTo(onPostgres);
	}

	private static String describe(Script script, List<String> inMemory, List<String> onPostgres) {
		StringBuilder text = new StringBuilder();
		int call = 0;
		for (Script.Step step : script.steps()) {
			text.append((step.act() == Script.Act.CALL) ? describe(inMemory.get(call), onPostgres.get(call++)) : step)
				.append('\n');
		}
		return text.toString();
	}

	private static String describe(String inMemory, String onPostgres) {
		return inMemory.equals(onPostgres) ? inMemory : "DIFFERENT " + inMemory + ", and on PostgreSQL " + onPostgres;
	}

}
