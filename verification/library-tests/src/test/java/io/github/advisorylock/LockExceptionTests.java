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

package io.github.advisorylock;

import org.junit.jupiter.api.Test;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockBusyException} and {@link LockLostException}.
 */
class LockExceptionTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("shop", "job");

	@Test
	void busyIsFailureToAcquireThatNamesTheKey() {
		LockBusyException exception = new LockBusyException(KEY);
		assertThat(exception).isInstanceOf(CannotAcquireLockException.class).hasMessageContaining("'shop/job'");
		assertThat(exception.getKey()).isEqualTo(KEY);
	}

	@Test
	void lostIsFailureOfConcurrencyThatNamesTheKey() {
		LockLostException exception = new LockLostException(KEY);
		assertThat(exception).isInstanceOf(ConcurrencyFailureException.class).hasMessageContaining("'shop/job'");
		assertThat(exception.getKey()).isEqualTo(KEY);
	}

}
