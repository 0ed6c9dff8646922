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
import java.util.Collection;
import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.ledger.LedgerJob;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link PostgresAdvisoryLockLedger} when the first run that is recorded is in
 * a caller's transaction, which has the only connection of the pool.
 */
class LedgerOpeningTests extends AbstractLedgerTests {

	private static final String OTHER_PREFIX = "ledger_opening_tests.al_";

	private String prefix = PREFIX;

	@BeforeEach
	void openPoolOfOne() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS ledger_opening_tests CASCADE");
		TestPostgres.execute("CREATE SCHEMA ledger_opening_tests");
		HikariDataSource one = TestPostgres.pool(1);
		one.setConnectionTimeout(500);
		usePool(one);
	}

	@Override
	List<JobFinder.LedgerMethod> ledgerMethods() {
		return List.of(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "job"), null, null, null),
				new JobFinder.LedgerMethod(new JobName(NAMESPACE, "other"), null, null, null));
	}

	@Override
	LedgerSettings settings() {
		return new LedgerSettings(this.prefix, true, Duration.ofDays(30), 1000, Duration.ofDays(7));
	}

	@ParameterizedTest
	@CsvSource({ "TRANSACTION, false", "TRANSACTION, true", "SESSION, false", "SESSION, true" })
	void firstRunInCallersTransactionOpensLedgerAndRegistersJobs(LockScope scope, boolean rolledBack) {
		transaction().executeWithoutResult((status) -> {
			assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
			if (rolledBack) {
				status.setRollbackOnly();
			}
		});
		assertThat(outcomes()).containsExactly(rolledBack ? "FAILED" : "EXECUTED");
		assertThat(this.ledger.jobs(NAMESPACE, "", 10)).extracting(LedgerJob::key).containsExactly("job", "other");
	}

	@Test
	void questionInCallersTransactionOpensLedger() {
		transaction().executeWithoutResult((status) -> assertThat(this.ledger.runs("job", 1)).isEmpty());
		assertThat(this.ledger.jobs(NAMESPACE, "", 10)).extracting(LedgerJob::key).containsExactly("job", "other");
	}

	@Test
	void firstRunInReadOnlyTransactionRegistersJobsLater() {
		TransactionTemplate readOnly = transaction();
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult((status) -> assertThat(this.ledger.jobs(NAMESPACE, "", 10)).isEmpty());
		assertThat(this.ledger.jobs(NAMESPACE, "", 10)).extracting(LedgerJob::key).containsExactly("job", "other");
	}

	@Test
	void sessionRunInTransactionOfOtherDataSourceOpensLedger() {
		TransactionTemplate other = new TransactionTemplate(
				new JdbcTransactionManager(new DriverManagerDataSource(TestPostgres.url())));
		other.executeWithoutResult((status) -> assertThat(
				this.template.execute(request(LockScope.SESSION).oncePerTick(TICK), (lock) -> outcomes()).value())
			.containsExactly("OPEN"));
		assertThat(outcomes()).containsExactly("EXECUTED");
	}

	@ParameterizedTest
	@EnumSource(LockScope.class)
	void tablesThatCannotBeCreatedBesideTransactionAreAnErrorBeforeAnyLock(LockScope scope) {
		this.prefix = OTHER_PREFIX;
		this.template = createTemplate(this.pool, this.transactionManager);
		transaction().executeWithoutResult((status) -> {
			assertThatExceptionOfType(LedgerSchemaException.class).isThrownBy(() -> execute(scope, TICK))
				.withMessageContaining("a connection besides that of the current transaction");
			assertThat(TestPostgres.locks()).isEmpty();
			insertEffect("caller");
		});
		assertThat(effects()).containsExactly("caller");
		assertThat(execute(scope, TICK)).isEqualTo(LockOutcome.EXECUTED);
		assertThat(TestPostgres.query("SELECT outcome FROM ledger_opening_tests.al_run")).containsExactly("EXECUTED");
	}

	@Test
	void jobsAreRegisteredAgainWhenAScheduleHasChanged() {
		ChangedMethods methods = new ChangedMethods(new ArrayList<>(ledgerMethods()), new ArrayList<>());
		PostgresAdvisoryLockLedger ledger = ledger(methods);
		assertThat(ledger.jobs(NAMESPACE, "", 10)).hasSize(2);
		methods.methods().add(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "third"), null, null, null));
		assertThat(ledger.jobs(NAMESPACE, "", 10)).hasSize(2);
		methods.listeners().forEach(Runnable::run);
		assertThat(ledger.jobs(NAMESPACE, "", 10)).hasSize(3);
	}

	@Test
	void jobsAreRegisteredAgainWhenTablesWereFoundAgainInATransaction() {
		ChangedMethods methods = new ChangedMethods(new ArrayList<>(ledgerMethods()), new ArrayList<>());
		PostgresAdvisoryLockLedger ledger = ledger(methods);
		ledger.prepare();
		methods.methods().add(new JobFinder.LedgerMethod(new JobName(NAMESPACE, "third"), null, null, null));
		transaction().executeWithoutResult((status) -> ledger.prepare());
		assertThat(ledger.jobs(NAMESPACE, "", 10)).hasSize(3);
	}

	@Test
	void runIsOneOfTheNameThatItsInstanceHasByThen() {
		String before = this.ledger.instance().name();
		execute(LockScope.TRANSACTION, TICK);
		this.ledger.instance().giveWay();
		String then = this.ledger.instance().name();
		execute(LockScope.TRANSACTION, TICK.plusSeconds(60));
		this.ledger.instance().close();
		assertThat(TestPostgres.query("SELECT instance FROM ledger_tests_run ORDER BY fencing_token"))
			.containsExactly(before, then)
			.doesNotHaveDuplicates();
	}

	private PostgresAdvisoryLockLedger ledger(LedgerOpening.Methods methods) {
		return new PostgresAdvisoryLockLedger(this.pool, settings(), NAMESPACE, new LockInstance("host:2"), methods,
				(event) -> {
				});
	}

	private record ChangedMethods(List<JobFinder.LedgerMethod> methods,
			List<Runnable> listeners) implements LedgerOpening.Methods {

		@Override
		public Collection<JobFinder.LedgerMethod> withFixedKey() {
			return this.methods;
		}

		@Override
		public List<JobFacts> jobs() {
			return this.methods.stream().map((method) -> NamedJobs.unknown(method.name())).toList();
		}

		@Override
		public void reschedule(Map<JobName, CronTicks.Changes> changes, boolean certain) {
		}

		@Override
		public void whenRescheduled(Runnable listener) {
			this.listeners.add(listener);
		}

	}

}
