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

package io.github.advisorylock.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.testsupport.DocumentTransactionManager;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TransactionCoverage}.
 */
class TransactionCoverageTests extends AbstractLockTests {

	private static final LockRequest REQUEST = LockRequest.of("job");

	private final LocalContainerEntityManagerFactoryBean entities = new LocalContainerEntityManagerFactoryBean();

	@AfterEach
	void closeEntities() {
		this.entities.destroy();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void begunTransactionOfManagerWithoutDataSourceIsRefused(boolean autoCommit) {
		usePoolWithAutoCommit(autoCommit);
		this.template = createTemplate(this.pool, new DocumentTransactionManager());
		assertThatIsRefused("DocumentTransactionManager");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void joinedTransactionOfManagerWithoutDataSourceIsRefused(boolean autoCommit) {
		usePoolWithAutoCommit(autoCommit);
		PlatformTransactionManager documents = new DocumentTransactionManager();
		this.template = createTemplate(this.pool, documents);
		new TransactionTemplate(documents).executeWithoutResult((status) -> {
			assertThatIsRefused("DocumentTransactionManager");
			this.jdbc.queryForList("SELECT 1");
			assertThatIsRefused("DocumentTransactionManager");
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void begunTransactionOfJpaOnAnotherDataSourceIsRefused(boolean autoCommit) {
		usePoolWithAutoCommit(autoCommit);
		try (HikariDataSource other = TestPostgres.pool(1)) {
			this.template = createTemplate(this.pool, jpa(other));
			assertThatIsRefused("JpaTransactionManager");
		}
	}

	@Test
	void joinedTransactionOfJpaIsCoveredWhicheverManagerIsConfigured() {
		new TransactionTemplate(jpa(this.pool)).executeWithoutResult((status) -> assertThatLockIsInTransaction());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockIsInTransactionOnLazyConnections(boolean autoCommit) {
		usePoolWithAutoCommit(autoCommit);
		DataSource lazy = new LazyConnectionDataSourceProxy(this.pool);
		this.jdbc.setDataSource(lazy);
		this.transactionManager = new JdbcTransactionManager(lazy);
		this.template = createTemplate(lazy, this.transactionManager);
		assertThatLockIsInTransaction();
		transaction().executeWithoutResult((status) -> assertThatLockIsInTransaction());
	}

	@Test
	void lockIsInTransactionOnTransactionAwareProxy() {
		DataSource proxy = new TransactionAwareDataSourceProxy(this.pool);
		this.transactionManager = new JdbcTransactionManager(proxy);
		this.template = createTemplate(proxy, this.transactionManager);
		assertThatLockIsInTransaction();
		transaction().executeWithoutResult((status) -> assertThatLockIsInTransaction());
	}

	@Test
	void lockThatWasTakenOutsideTransactionIsRefusedWhateverTheManagerBelieves() {
		this.template = createTemplate(this.pool, new ForgetfulTransactionManager(this.pool));
		assertThatIsRefused("ForgetfulTransactionManager");
	}

	@Test
	void askingLeavesTransactionOfTheCallerAsItIs() {
		TransactionTemplate readOnly = transaction();
		readOnly.setReadOnly(true);
		readOnly.setName("caller");
		readOnly.executeWithoutResult((status) -> {
			assertThatLockIsInTransaction();
			assertThat(TransactionSynchronizationManager.getCurrentTransactionName()).isEqualTo("caller");
			assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly()).isTrue();
		});
	}

	private void assertThatIsRefused(String manager) {
		AtomicBoolean ran = new AtomicBoolean();
		assertThatExceptionOfType(IllegalTransactionStateException.class)
			.isThrownBy(() -> this.template.execute(REQUEST, (lock) -> ran.getAndSet(true)))
			.withMessageContainingAll("'tests/job'", "'advisory-lock.transaction-manager'", manager,
					this.pool.toString());
		assertThat(ran).isFalse();
		assertThat(TestPostgres.locks()).isEmpty();
		assertThat(isBusyLocally(this.template, REQUEST)).isFalse();
	}

	private void assertThatLockIsInTransaction() {
		assertThat(this.template.execute(REQUEST, (lock) -> {
			assertThat(ForeignSession.holders(KEY))
				.isEqualTo(this.jdbc.queryForList("SELECT pg_backend_pid()::text", String.class));
			return 1;
		}).value()).isOne();
	}

	private JpaTransactionManager jpa(DataSource dataSource) {
		this.entities.setDataSource(dataSource);
		this.entities.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		this.entities.setManagedTypes(PersistenceManagedTypes.of());
		this.entities.afterPropertiesSet();
		JpaTransactionManager manager = new JpaTransactionManager(this.entities.getObject());
		manager.afterPropertiesSet();
		return manager;
	}

	/**
	 * Binds a connection, and forgets to begin a transaction on it.
	 */
	static class ForgetfulTransactionManager extends DocumentTransactionManager {

		private final DataSource dataSource;

		private Connection connection;

		ForgetfulTransactionManager(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			try {
				this.connection = this.dataSource.getConnection();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			TransactionSynchronizationManager.bindResource(this.dataSource, new ConnectionHolder(this.connection));
		}

		@Override
		protected void doCleanupAfterCompletion(Object transaction) {
			TransactionSynchronizationManager.unbindResource(this.dataSource);
			try {
				this.connection.close();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
