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

package io.github.advisorylock.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications whose DataSource routes to the database of the current tenant.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("gate")
class RoutingDataSourceTests {

	private static final String CHECK = "advisory-lock.doctor.one-tenant";

	private static final List<String> TENANTS = List.of("main", "other");

	@BeforeEach
	void createTables() {
		for (String url : List.of(TestPostgres.url(), ReportingDatabase.url())) {
			TestPostgres.execute(url, "CREATE TABLE tenant_bill (tenant text)");
		}
	}

	@AfterEach
	void dropTables() {
		for (String url : List.of(TestPostgres.url(), ReportingDatabase.url())) {
			TestPostgres.execute(url, "DROP TABLE tenant_bill");
		}
	}

	@ParameterizedTest
	@EnumSource
	void methodInOneTransactionIsToldToUseScopeSession(Wrapper wrapper, CapturedOutput output) {
		application(wrapper).withBean(InTransaction.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains(CHECK, "method 'bill'", "bean 'routingDataSourceTests.InTransaction'",
					"set 'scope' to SESSION");
			context.getBean(InTransaction.class).bill();
			assertThat(bills(TestPostgres.url())).containsExactly("main", "other");
		});
	}

	@Test
	void startIsStoppedWhereThatIsAskedFor() {
		assertThat(DoctorContexts
			.failureOf(application(Wrapper.NONE).withBean(InTransaction.class).withPropertyValues(CHECK + "=fail")))
			.contains("method 'bill'", "Set 'scope' to SESSION");
	}

	@Test
	void methodOfScopeSessionWorksForEachTenantAndIsNotTold(CapturedOutput output) {
		application(Wrapper.NONE).withBean(InSession.class).run((context) -> {
			context.getBean(InSession.class).bill();
			assertThat(output).doesNotContain(CHECK);
			assertThat(bills(TestPostgres.url())).containsExactly("main");
			assertThat(bills(ReportingDatabase.url())).containsExactly("other");
		});
	}

	@Test
	void methodWithTransactionOfItsOwnIsNotTold(CapturedOutput output) {
		application(Wrapper.NONE).withBean(OwnTransaction.class)
			.withBean(OwnTransactions.class)
			.run(LockContextRunner
				.started(() -> assertThat(output).contains("Advisory locks are ready").doesNotContain(CHECK)));
	}

	@Test
	void dataSourceThatDoesNotRouteIsNotTold(CapturedOutput output) {
		LockContextRunner.create()
			.withBean(InTransaction.class)
			.run(LockContextRunner
				.started(() -> assertThat(output).contains("Advisory locks are ready").doesNotContain(CHECK)));
	}

	@ParameterizedTest
	@EnumSource
	void databaseOfSessionLocksIsNotGuessed(Wrapper wrapper) {
		ApplicationContextRunner application = withoutSession(wrapper);
		assertThat(LockContextRunner.analyzeFailure(application.withBean(InSession.class)).getAction())
			.contains("'advisory-lock.session.url'");
		application.run((context) -> {
			AdvisoryLockOperations locks = context.getBean(AdvisoryLockOperations.class);
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> locks.tryAcquire(LockRequest.of("request")))
				.withMessageContaining("request");
		});
	}

	private static ApplicationContextRunner application(Wrapper wrapper) {
		return withoutSession(wrapper).withPropertyValues("advisory-lock.session.url=" + TestPostgres.url());
	}

	private static ApplicationContextRunner withoutSession(Wrapper wrapper) {
		return LockContextRunner.withoutDatabase()
			.withConfiguration(AutoConfigurations.of(DataSourceTransactionManagerAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class))
			.withBean("dataSource", DataSource.class, () -> wrapper.operator.apply(new TenantDataSource()))
			.withPropertyValues("advisory-lock.doctor.dead-client=off");
	}

	private static List<String> bills(String url) {
		return TestPostgres.query(url, "SELECT tenant FROM tenant_bill ORDER BY 1");
	}

	/**
	 * What may stand in front of the DataSource that routes.
	 */
	enum Wrapper {

		NONE(UnaryOperator.identity()), LAZY(LazyConnectionDataSourceProxy::new),
		TRANSACTION_AWARE(TransactionAwareDataSourceProxy::new), DELEGATING(DelegatingDataSource::new),
		PROXY((dataSource) -> (DataSource) ProxyFactory.getProxy(DataSource.class,
				new SingletonTargetSource(dataSource))),
		POOL((dataSource) -> {
			HikariDataSource pool = new HikariDataSource();
			pool.setDataSource(dataSource);
			return pool;
		});

		private final UnaryOperator<DataSource> operator;

		Wrapper(UnaryOperator<DataSource> operator) {
			this.operator = operator;
		}

	}

	/**
	 * Leads to the database of the current tenant, the main one by default.
	 */
	static class TenantDataSource extends AbstractRoutingDataSource {

		private static final ThreadLocal<@Nullable String> CURRENT = new ThreadLocal<>();

		TenantDataSource() {
			HikariDataSource main = TestPostgres.pool(TestPostgres.url(), 2);
			HikariDataSource other = TestPostgres.pool(ReportingDatabase.url(), 2);
			setTargetDataSources(Map.of("main", main, "other", other));
			setDefaultTargetDataSource(main);
			afterPropertiesSet();
		}

		@Override
		protected @Nullable Object determineCurrentLookupKey() {
			return CURRENT.get();
		}

		static void forEach(Runnable work) {
			for (String tenant : TENANTS) {
				CURRENT.set(tenant);
				work.run();
			}
			CURRENT.remove();
		}

	}

	/**
	 * A job that makes bills of all tenants.
	 */
	static class InTransaction {

		private final JdbcTemplate jdbc;

		InTransaction(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@SingleRunner(key = "bills")
		void bill() {
			insert();
		}

		void insert() {
			TenantDataSource
				.forEach(() -> this.jdbc.update("INSERT INTO tenant_bill VALUES (?)", TenantDataSource.CURRENT.get()));
		}

	}

	/**
	 * The same, without a transaction around it.
	 */
	static class InSession extends InTransaction {

		InSession(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@Override
		@SingleRunner(key = "bills", scope = LockScope.SESSION)
		void bill() {
			insert();
		}

	}

	/**
	 * Work for the current tenant.
	 */
	static class OwnTransaction {

		@SingleRunner(key = "own")
		@Transactional
		void run() {
		}

	}

	/**
	 * Work for the current tenant.
	 */
	@Transactional
	static class OwnTransactions {

		@SingleRunner(key = "owns")
		void run() {
		}

	}

}
