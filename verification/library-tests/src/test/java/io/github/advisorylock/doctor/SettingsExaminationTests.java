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

package io.github.advisorylock.doctor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.doctor.SettingsExamination.ServerSettings;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.interceptor.SkippedValue;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SettingsExamination}: where what a server is set to becomes a finding.
 */
class SettingsExaminationTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "job");

	private static final int HOUR = 3_600_000;

	private static final ConnectionLimits LIMITS = new ConnectionLimits("app", -1, "app", -1, 100, 0);

	@ParameterizedTest
	@CsvSource({ "64, 100, 3200, false", "64, 100, 3201, true", "65, 1, 32, false", "65, 1, 33, true" })
	void halfOfTheLockTableIsTheMostForOneApplication(int locks, int connections, int held, boolean found) {
		ServerSettings server = new ServerSettings("18", true, "read committed", 0, 0, 1000, 10, locks, connections,
				LIMITS);
		assertThat(examine(server, true, context(held))).isEqualTo(found ? List.of(DoctorCheck.LOCK_TABLE) : List.of());
	}

	@ParameterizedTest
	@CsvSource({ "0, 0, 0", "1, 0, 1", "0, 1, 1", "1, 1, 2", "3599999, 0, 1", "3600000, 3600000, 0" })
	void transactionsThatEndWithinTheHourAreNamed(long idle, long all, int number) {
		ServerSettings server = new ServerSettings("18", true, "read committed", idle, all, 1000, 10, 64, 100, LIMITS);
		assertThat(examine(server, true, context(1)))
			.isEqualTo(Collections.nCopies(number, DoctorCheck.HOLDER_TIMEOUT));
		assertThat(examine(server, true, context(1, LockScope.SESSION, Duration.ZERO))).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "true, true, 1000, 10, false", "true, true, 0, 10, true", "true, true, 1000, 0, true",
			"true, true, 1000, 7200, true", "true, true, 1000, 7199, false", "true, false, 0, 0, false",
			"false, true, 0, 0, false" })
	void clientThatVanishesIsMissedOnlyOnNetworkWithoutPooler(boolean tcp, boolean direct, long userTimeout,
			long keepalives, boolean found) {
		ServerSettings server = new ServerSettings("18", tcp, "read committed", 0, 0, userTimeout, keepalives, 64, 100,
				LIMITS);
		assertThat(examine(server, direct, context(1))).isEqualTo(found ? List.of(DoctorCheck.DEAD_CLIENT) : List.of());
	}

	@Test
	void snapshotThatIsOlderThanTheLockMattersToWhoWaitsInTransactions() {
		ServerSettings server = new ServerSettings("18", true, "repeatable read", HOUR, 0, 1000, 10, 64, 100, LIMITS);
		assertThat(examine(server, true, context(1))).isEmpty();
		assertThat(examine(server, true, context(1, LockScope.SESSION, Duration.ofSeconds(1)))).isEmpty();
		assertThat(examine(server, true, context(1, LockScope.TRANSACTION, Duration.ofSeconds(1))))
			.containsExactly(DoctorCheck.ISOLATION);
	}

	private static List<DoctorCheck> examine(ServerSettings server, boolean direct, CheckContext context) {
		Findings findings = new Findings((check) -> DoctorCheck.Severity.OFF, (warning) -> {
		}, "");
		SettingsExamination.examine(server, direct, context, findings);
		return findings.found().stream().map(Finding::check).toList();
	}

	private static CheckContext context(int maxHeldLocks) {
		return context(maxHeldLocks, LockScope.TRANSACTION, Duration.ZERO);
	}

	private static CheckContext context(int maxHeldLocks, LockScope scope, Duration waitFor) {
		Method method = ReflectionUtils.findMethod(SettingsExaminationTests.class, "job");
		assertThat(method).isNotNull();
		SingleRunnerOperation operation = new SingleRunnerOperation("SettingsExaminationTests.job",
				SkippedValue.of(method), "job", KEY, (arguments) -> KEY, scope, 1, waitFor, null, false, false,
				LedgerOperation.NONE, null, null);
		DriverManagerDataSource nobody = new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/nobody");
		return new CheckContext(List.of(new SingleRunnerMethod("jobs", method, operation, "tests", KEY, false)),
				CheckContext.OtherUses.NONE,
				new PostgresAdvisoryLockTemplate(nobody, null, null, "tests", AdvisoryLockKeyFactory.sha256(),
						Duration.ZERO, 10),
				nobody, (guarded) -> null, null, CheckContext.Route.URL, null, null, List.of(),
				LockSessionSettings.DEFAULT, maxHeldLocks, (guarded) -> false);
	}

	void job() {
	}

}
