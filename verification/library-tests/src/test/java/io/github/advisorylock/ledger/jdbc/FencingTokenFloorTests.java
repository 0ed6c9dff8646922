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
import java.util.stream.Stream;

import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.support.RequestDetail.Retries;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Fencing tokens on a server that got the tables of another one, and not the place where
 * its sequence was.
 */
@Tag("slow")
class FencingTokenFloorTests extends AbstractLedgerTests {

	/**
	 * All kinds of recorded runs, each after all others: some leave a row of the job
	 * behind and some don't.
	 */
	static Stream<Arguments> runs() {
		return Stream.of(LockScope.values())
			.flatMap((before) -> Stream.of(LockScope.values())
				.flatMap((after) -> Stream.of(Kind.values())
					.flatMap((earlier) -> Stream.of(Kind.values())
						.map((later) -> Arguments.of(before, earlier, after, later)))));
	}

	@ParameterizedTest(name = "{0} {1}, then {2} {3}")
	@MethodSource("runs")
	void tokenIsHigherThanAllThatTheLedgerKnows(LockScope before, Kind earlier, LockScope after, Kind later) {
		TestPostgres.execute("SELECT pg_catalog.setval('ledger_tests_fencing_token', 1000000)");
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(earlier.of(before, TICK), (lock) -> {
			throw new IllegalStateException("token " + lock.fencingToken().orElseThrow());
		})).withMessageStartingWith("token ");
		TestPostgres.execute("SELECT pg_catalog.setval('ledger_tests_fencing_token', 1)");
		for (int i = 1; i <= 3; i++) {
			long known = known();
			LockRequest request = ((i == 2) ? earlier : later).of(after, TICK.plusSeconds(i));
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request, (lock) -> {
				assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(known);
				throw new IllegalStateException("expected");
			})).withMessage("expected");
			assertThat(known()).isGreaterThan(known);
		}
	}

	private static long known() {
		return Long
			.parseLong(TestPostgres.query("SELECT max(fencing_token) FROM ledger_tests_run WHERE key = 'job'").get(0));
	}

	/**
	 * What has a run recorded.
	 */
	enum Kind {

		PER_KEY, PER_KEY_WITH_INTERVAL, PER_TICK, CAUGHT_UP, MIN_INTERVAL, RECORDED_ONLY;

		LockRequest of(LockScope scope, Instant tick) {
			LockRequest request = LockRequest.of("job").scope(scope);
			return switch (this) {
				case PER_KEY -> request.oncePerKey();
				case PER_KEY_WITH_INTERVAL -> request.oncePerKey().minInterval(Duration.ofNanos(1000));
				case PER_TICK -> request.oncePerTick(tick);
				case CAUGHT_UP -> request.oncePerTick(tick).with(new Retries(true, null));
				case MIN_INTERVAL -> request.minInterval(Duration.ofNanos(1000));
				case RECORDED_ONLY -> request.with(new Recorded("job"));
			};
		}

	}

}
