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

package io.github.advisorylock.leader;

import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.WorkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ActiveCalls}.
 */
class ActiveCallsTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "calls");

	private final LockSession session = new LockSession(new DriverManagerDataSource(), "calls",
			LockSessionSettings.DEFAULT, (lost) -> {
			});

	private final CurrentTerm.Term first = term(1);

	private final CurrentTerm.Term second = term(2);

	private final ActiveCalls calls = new ActiveCalls();

	private final ExecutorService another = Executors.newSingleThreadExecutor();

	@AfterEach
	void close() {
		this.another.shutdown();
		this.session.close();
	}

	@Test
	void callIsToldOfTheEndOfItsOwnTermOnly() throws Exception {
		WorkContext call = this.another.submit(() -> begin(this.first)).get();
		assertThat(this.calls.toTell(this.first)).containsExactly(call);
		assertThat(this.calls.toTell(this.second)).isEmpty();
		assertThat(this.calls.begunIn(this.second)).isEmpty();
	}

	@Test
	void callOfTheThreadThatWaitsForTheEndIsNotTold() throws Exception {
		WorkContext call = begin(this.first);
		try {
			WorkContext other = this.another.submit(() -> begin(this.first)).get();
			this.calls.whenNoOther(() -> {
			});
			assertThat(this.calls.toTell(this.first)).containsExactly(other);
			assertThat(this.calls.begunIn(this.first)).containsExactlyInAnyOrder(call, other);
			this.calls.forgetWaiting();
			assertThat(this.calls.toTell(this.first)).containsExactlyInAnyOrder(call, other);
		}
		finally {
			call.cancel();
		}
	}

	private WorkContext begin(CurrentTerm.Term term) {
		WorkContext call = WorkContext.begin(KEY, OptionalLong.empty(), () -> true, () -> {
		});
		this.calls.begin(call, term);
		return call;
	}

	private CurrentTerm.Term term(long number) {
		return new CurrentTerm.Term(this.session.candidate(KEY, () -> {
		}), number, 0);
	}

}
