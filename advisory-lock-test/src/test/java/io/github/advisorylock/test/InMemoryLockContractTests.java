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

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail.Retries;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static io.github.advisorylock.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link InMemoryLocks}, in an application on H2.
 */
@SpringBootTest(classes = ContractApplication.class)
@AutoConfigureInMemoryLocks
class InMemoryLockContractTests extends AbstractLockContractTests {

	private static final Duration TIME = Duration.ofHours(1);

	@Autowired
	private InMemoryLocks locks;

	@Autowired
	private AdvisoryLockOperations operations;

	@ParameterizedTest
	@EnumSource
	void lostLockIsToldAndFailsTheRun(LockScope scope) {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.operations.execute(LockRequest.of("lost").scope(scope), (lock) -> {
				this.locks.lose("lost");
				assertThat(Thread.currentThread().isInterrupted()).isTrue();
				assertThat(lock.isHeld()).isFalse();
				assertThatLock("lost").isFree();
				return null;
			}));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThatLock("lost").hasFailedWith(LockLostException.class);
	}

	@Test
	void holderIsToldThatItsLockIsLost() {
		AtomicInteger told = new AtomicInteger();
		HeldLock held = this.operations.tryAcquire(LockRequest.of("lost")).orElseThrow();
		held.onLost(told::incrementAndGet);
		this.locks.lose("lost");
		held.onLost(told::incrementAndGet);
		held.close();
		assertThat(told).hasValue(2);
		assertThat(held.isHeld()).isFalse();
	}

	@ParameterizedTest
	@MethodSource
	void requestThatOnlyPostgresKnowsIsRefused(LockRequest request, String attribute) {
		AtomicBoolean run = new AtomicBoolean();
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.operations.execute(request, (lock) -> {
				run.set(true);
				return null;
			}))
			.withMessageContaining("'refused'")
			.withMessageContaining(attribute)
			.withMessageContaining("@AdvisoryLockTest(postgres = true)")
			.withMessageContaining("without @AutoConfigureInMemoryLocks")
			.withMessageContaining("answer(\"refused\", LockOutcome.EXECUTED)");
		assertThat(run).isFalse();
		assertThatLock("refused").isFree();
	}

	static Stream<Arguments> requestThatOnlyPostgresKnowsIsRefused() {
		LockRequest request = LockRequest.of("refused");
		return Stream.of(Arguments.arguments(request.minInterval(TIME), "'minInterval'"),
				Arguments.arguments(request.maxRun(TIME), "'maxRun'"),
				Arguments.arguments(request.oncePerTick(Instant.now()).with(new Retries(true, null)), "'catchUp'"));
	}

	@Test
	void lockThatWouldBeHeldForATimeIsRefused() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.operations.tryAcquire(LockRequest.of("refused").maxRun(TIME)))
			.withMessageContaining("'maxRun'");
	}

	@Test
	void fencingTokenIsRefused() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.operations.execute(LockRequest.of("token").oncePerKey(),
					(lock) -> lock.fencingToken().isPresent()))
			.withMessageContaining("fencing tokens")
			.withMessageContaining("@AdvisoryLockTest(postgres = true)");
	}

	@ParameterizedTest
	@EnumSource
	void testDecidesHowCallsEnd(LockOutcome outcome) {
		LockRequest request = LockRequest.of("answered").minInterval(TIME);
		this.locks.answer("answered", outcome);
		assertThat(run(request)).isEqualTo(outcome);
		assertThat(run(request)).isEqualTo(outcome);
		assertThatLock("answered").hasOutcomes(outcome, outcome);
		this.locks.reset();
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> run(request));
	}

	@Test
	void answerOfTestComesBeforeWhatIsKnown() {
		LockRequest request = LockRequest.of("answered").oncePerKey();
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
		this.locks.pause("answered");
		this.locks.answer("answered", LockOutcome.EXECUTED);
		assertThat(run(request)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void waitOfInterruptedThreadEnds() {
		AtomicBoolean interrupted = new AtomicBoolean();
		try (HeldLock held = this.locks.holdElsewhere("wait")) {
			Thread.currentThread().interrupt();
			assertThat(run(LockRequest.of("wait").waitFor(Duration.ofMinutes(5)))).as("%s", held)
				.isEqualTo(LockOutcome.BUSY);
			interrupted.set(Thread.interrupted());
		}
		assertThat(interrupted).isTrue();
	}

	private LockOutcome run(LockRequest request) {
		return this.operations.execute(request, (lock) -> 1).outcome();
	}

}
