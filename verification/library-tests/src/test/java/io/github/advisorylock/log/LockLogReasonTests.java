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

package io.github.advisorylock.log;

import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.testsupport.LogRecorder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link LockLog} says of calls that come too soon.
 */
class LockLogReasonTests {

	private static final LockRequest PLAIN = LockRequest.of("job");

	@ParameterizedTest
	@MethodSource
	void callThatComesTooSoonSaysWhy(LockRequest request, String reason) {
		try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
			LockLog.skipped(AdvisoryLockKey.of("shop", "job"), LockScope.SESSION, "Jobs.run", LockOutcome.TOO_SOON,
					request.tick(), request, null);
			assertThat(log.messages()).singleElement()
				.asString()
				.startsWith("Skipped 'shop/job' (Jobs.run)")
				.endsWith(", too-soon: " + reason);
		}
	}

	static Stream<Arguments> callThatComesTooSoonSaysWhy() {
		RequestDetail.Interval interval = new RequestDetail.Interval(Duration.ofSeconds(5),
				RequestDetail.Interval.Counted.FROM_BEGIN);
		String started = "its last run started less than PT10M ago, on this instance or another one";
		String failed = "its last attempt at this tick failed or was cancelled, on this instance or another one, "
				+ "and no other is due";
		LockRequest least = PLAIN.minInterval(Duration.ofMinutes(10));
		return Stream.of(
				Arguments.of(PLAIN.with(interval), "this interval has had its run, on this instance or another one"),
				Arguments.of(least, started), Arguments.of(PLAIN.oncePerTick(Instant.EPOCH), failed),
				Arguments.of(least.oncePerTick(Instant.EPOCH), started + "; or " + failed));
	}

}
