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
import java.util.List;
import java.util.Map;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that PostgreSQL plans what runs ask once for each connection, and not for each
 * run: to plan takes longer than all else. It decides by what a plan for whatever values
 * may cost, and one for the values of a call alone.
 */
class PlannedOnceTests extends AbstractLedgerTests {

	private static final int CALLS = 40;

	@BeforeEach
	void useOneConnection() {
		usePool(TestPostgres.pool(1));
		this.ledger.prepare();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ofTicks(LockScope scope) {
		callForTicks(request(scope));
		assertThatNoneIsPlannedForEachRun();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ofTicksOfSchedule(LockScope scope) {
		callForTicks(request(scope).with(new RequestDetail.Planned(() -> null, (tick, now) -> true)));
		assertThatNoneIsPlannedForEachRun();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ofTicksInsideOtherRun(LockScope scope) {
		LockRequest outer = LockRequest.of(AdvisoryLockKey.of(NAMESPACE, "outer")).scope(scope);
		LockOutcome outcome = this.template.execute(outer, (lock) -> {
			callForTicks(request(scope));
			return true;
		}).outcome();
		assertThat(outcome).isEqualTo(LockOutcome.EXECUTED);
		assertThatNoneIsPlannedForEachRun();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ofKeysThatRunOnce(LockScope scope) {
		for (int i = 0; i < CALLS; i++) {
			LockRequest key = LockRequest.of(AdvisoryLockKey.of(NAMESPACE, "key-" + i)).scope(scope).oncePerKey();
			call(key, LockOutcome.EXECUTED);
			call(key, LockOutcome.ALREADY_RAN);
		}
		assertThatNoneIsPlannedForEachRun();
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void ofIntervals(LockScope scope) {
		for (int i = 0; i < CALLS; i++) {
			LockRequest key = LockRequest.of(AdvisoryLockKey.of(NAMESPACE, "key-" + i))
				.scope(scope)
				.minInterval(Duration.ofHours(1));
			call(key, LockOutcome.EXECUTED);
			call(key, LockOutcome.TOO_SOON);
		}
		assertThatNoneIsPlannedForEachRun();
	}

	private void callForTicks(LockRequest request) {
		Instant tick = TICK;
		for (int i = 0; i < CALLS; i++) {
			tick = tick.plusSeconds(60);
			call(request.oncePerTick(tick), LockOutcome.EXECUTED);
			call(request.oncePerTick(tick.minusSeconds(1)), LockOutcome.ALREADY_RAN);
			call(request.oncePerTick(tick), LockOutcome.ALREADY_RAN);
		}
	}

	private void call(LockRequest request, LockOutcome expected) {
		assertThat(this.template.execute(request, (lock) -> true).outcome()).isEqualTo(expected);
	}

	private void assertThatNoneIsPlannedForEachRun() {
		List<Map<String, Object>> often = this.jdbc.queryForList(
				"SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE "
						+ "'%ledger_tests_%' AND generic_plans + custom_plans > 10");
		assertThat(often).hasSizeGreaterThan(1)
			.allSatisfy((statement) -> assertThat(statement).containsEntry("custom_plans", 5L));
	}

}
