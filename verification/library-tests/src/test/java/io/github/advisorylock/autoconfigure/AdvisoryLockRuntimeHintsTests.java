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

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.scheduling.support.CronTrigger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockRuntimeHints}.
 */
class AdvisoryLockRuntimeHintsTests {

	@Test
	void whatIsReachedByNameIsTold() {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		for (String resource : List.of("ledger/R__advisory_lock_ledger.sql", "actuate/page/page.html",
				"actuate/page/page.css", "actuate/page/page.js")) {
			assertThat(getClass().getClassLoader().getResource("io/github/advisorylock/" + resource)).isNotNull();
			assertThat(RuntimeHintsPredicates.resource().forResource("io/github/advisorylock/" + resource))
				.accepts(hints);
		}
		assertThat(RuntimeHintsPredicates.reflection().onType(HikariDataSource.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onFieldAccess(CronTrigger.class, "zoneId")).accepts(hints);
	}

}
