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

package io.github.advisorylock.jdbc.server;

import java.sql.SQLException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ServerJudge.Opening}.
 */
class ServerJudgeTests {

	@Test
	void runtimeExceptionIsFailureToConnectWithItAsItsCause() {
		IllegalStateException failure = new IllegalStateException("no tenant");
		assertThatExceptionOfType(SQLException.class).isThrownBy(() -> open(failure))
			.withMessage("no tenant")
			.withCause(failure)
			.satisfies((ex) -> isInState("08001", ex));
	}

	@Test
	void exceptionWithoutMessageIsNamed() {
		assertThatExceptionOfType(SQLException.class).isThrownBy(() -> open(new UnsupportedOperationException()))
			.withMessage("java.lang.UnsupportedOperationException");
	}

	@Test
	void sqlStateOfCauseIsKept() {
		RuntimeException failure = new IllegalStateException("refused", new SQLException("wrong password", "28P01"));
		assertThatExceptionOfType(SQLException.class).isThrownBy(() -> open(failure))
			.withMessage("refused")
			.satisfies((ex) -> isInState("28P01", ex));
	}

	@Test
	void secretsAreNotTold() {
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> open(new IllegalArgumentException("jdbc:postgresql://h/d?password=hidden")))
			.withMessage("jdbc:postgresql://h/d?password=***")
			.withNoCause();
	}

	private static void isInState(String state, SQLException failure) {
		assertThat(failure.getSQLState()).isEqualTo(state);
	}

	private static void open(RuntimeException failure) throws SQLException {
		ServerJudge.Opening.checked(() -> {
			throw failure;
		}).open();
	}

}
