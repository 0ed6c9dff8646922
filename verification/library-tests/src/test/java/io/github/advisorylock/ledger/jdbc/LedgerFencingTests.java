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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.support.RequestDetail.Recorded;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockContext#fencingToken()} over scopes and instances.
 */
class LedgerFencingTests extends AbstractLedgerTests {

	private static final String GUARDED_UPDATE = "UPDATE ledger_account SET balance = ?, fence = ? "
			+ "WHERE id = ? AND fence <= ?";

	@BeforeEach
	void createAccount() {
		TestPostgres.execute("CREATE TABLE ledger_account (id int PRIMARY KEY, balance int, fence bigint)");
		TestPostgres.execute("INSERT INTO ledger_account VALUES (1, 0, 0)");
	}

	@AfterEach
	void dropAccount() {
		TestPostgres.execute("DROP TABLE ledger_account");
	}

	@Override
	LockSessionSettings sessionSettings() {
		return new LockSessionSettings(Duration.ofMillis(100), Duration.ofSeconds(2), WhenLost.REPORT);
	}

	@Test
	void tokensRiseOverScopesInstancesAndFailures() {
		List<Long> tokens = new ArrayList<>();
		try (HikariDataSource otherPool = TestPostgres.pool(2)) {
			PostgresAdvisoryLockTemplate other = createTemplate(otherPool, new JdbcTransactionManager(otherPool));
			for (int i = 0; i < 60; i++) {
				PostgresAdvisoryLockTemplate template = (i % 2 == 0) ? this.template : other;
				LockRequest request = request(LockScope.values()[i / 2 % 2]).with(new Recorded("job"));
				run(template, request, i % 3, tokens);
			}
		}
		assertThat(tokens).hasSize(60).doesNotHaveDuplicates().isSorted();
		assertThat(TestPostgres.query("SELECT fencing_token FROM ledger_tests_run ORDER BY id"))
			.isEqualTo(tokens.stream().map(String::valueOf).toList());
		assertThat(TestPostgres.query("SELECT fencing_token FROM ledger_tests_job"))
			.containsExactly(tokens.get(59).toString());
	}

	@ParameterizedTest
	@EnumSource
	void tokensRiseThoughInstancesWaitForEachOther(LockScope scope) {
		List<Long> tokens = new CopyOnWriteArrayList<>();
		LockRequest request = request(scope).with(new Recorded("job")).waitFor(Duration.ofMinutes(1));
		List<Future<?>> instances = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			PostgresAdvisoryLockTemplate instance = createTemplate(this.pool, this.transactionManager);
			instances.add(this.threads.submit(() -> {
				for (int j = 0; j < 15; j++) {
					instance.execute(request, (lock) -> tokens.add(lock.fencingToken().orElseThrow()));
				}
			}));
		}
		for (Future<?> instance : instances) {
			assertThat(instance).succeedsWithin(1, TimeUnit.MINUTES);
		}
		assertThat(tokens).hasSize(60).doesNotHaveDuplicates().isSorted();
	}

	@Test
	void guardedUpdateRefusesHolderThatWasOvertaken() {
		PostgresAdvisoryLockTemplate other = createTemplate(this.pool, this.transactionManager);
		LockRequest request = request(LockScope.SESSION).oncePerTick(TICK);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request, (overtaken) -> {
				assertThat(update(overtaken, 1)).isOne();
				assertThat(update(overtaken, 2)).isOne();
				TestPostgres.terminate("tests");
				assertThat(other.execute(request, (holder) -> update(holder, 3)).value()).isOne();
				assertThat(update(overtaken, 4)).isZero();
				return 0;
			}));
		assertThat(TestPostgres.query("SELECT balance FROM ledger_account")).containsExactly("3");
	}

	private int update(LockContext lock, int balance) {
		long token = lock.fencingToken().orElseThrow();
		return this.jdbc.update(GUARDED_UPDATE, balance, token, 1, token);
	}

	private void run(PostgresAdvisoryLockTemplate template, LockRequest request, int end, List<Long> tokens) {
		if (end == 0) {
			template.execute(request, (lock) -> tokens.add(lock.fencingToken().orElseThrow()));
		}
		else {
			assertThatIllegalStateException().isThrownBy(() -> template.execute(request, (lock) -> {
				tokens.add(lock.fencingToken().orElseThrow());
				throw new IllegalStateException("expected");
			})).withMessage("expected");
		}
	}

}
