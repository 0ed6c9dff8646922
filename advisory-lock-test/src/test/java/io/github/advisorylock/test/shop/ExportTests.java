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

package io.github.advisorylock.test.shop;

import java.time.Duration;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.test.InMemoryLocks;
import io.github.advisorylock.test.LockLeakDetector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests without an application context, as {@code docs/testing.md} shows them.
 */
@ExtendWith(LockLeakDetector.class)
class ExportTests {

	private final InMemoryLocks locks = new InMemoryLocks();

	private final AdvisoryLockOperations operations = this.locks.createOperations();

	@Test
	void exportsWhenNobodyElseDoes() {
		this.locks.answer("export", LockOutcome.EXECUTED);
		HeldLock other = this.locks.holdElsewhere("export");
		assertThat(export()).isEqualTo(LockOutcome.BUSY);
		other.close();
		assertThat(export()).isEqualTo(LockOutcome.EXECUTED);
		assertThat(this.locks.lock("export")).hasRunOnce().isFree();
	}

	@Test
	void exportsNothingTooSoon() {
		this.locks.answer("export", LockOutcome.TOO_SOON);
		assertThat(this.operations.execute(LockRequest.of("export"), (lock) -> "exported").executed()).isFalse();
		assertThat(this.locks.lock("export")).hasNotRun();
	}

	@Test
	void stopsWhenTheLockIsLost() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.operations.execute(LockRequest.of("export"), (lock) -> {
				this.locks.lose("export");
				assertThat(lock.isHeld()).isFalse();
				return null;
			}));
	}

	private LockOutcome export() {
		return this.operations.execute(LockRequest.of("export").minInterval(Duration.ofHours(1)), (lock) -> "exported")
			.outcome();
	}

}
