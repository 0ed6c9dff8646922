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

package io.github.advisorylock.ledger;

import java.util.stream.Stream;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Fencing tokens on a server that got the tables of another one, and not the place where
 * its sequence was.
 */
class FencingTokenFloorTests extends AbstractLedgerTests {

	static Stream<Arguments> requests() {
		return Stream.of(LockScope.values())
			.flatMap((scope) -> Stream.of(Arguments.of("per key", LockRequest.of("job").scope(scope).oncePerKey()),
					Arguments.of("per tick", LockRequest.of("job").scope(scope).oncePerTick(TICK))));
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("requests")
	void tokenIsHigherThanAllThatTheLedgerKnows(String once, LockRequest request) {
		TestPostgres.execute("SELECT pg_catalog.setval('ledger_tests_fencing_token', 1000000)");
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
			throw new IllegalStateException("token " + lock.fencingToken().orElseThrow());
		})).withMessageStartingWith("token ");
		long known = Long
			.parseLong(TestPostgres.query("SELECT max(fencing_token) FROM ledger_tests_run WHERE key = 'job'").get(0));
		TestPostgres.execute("SELECT pg_catalog.setval('ledger_tests_fencing_token', 1)");
		long next = this.template.execute(request, (lock) -> lock.fencingToken().orElseThrow()).orElseThrow();
		assertThat(next).isGreaterThan(known);
	}

}
