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

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.doctor.CheckContext.MethodTransaction;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.NestedTransactionNotSupportedException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSuspensionNotSupportedException;
import org.springframework.transaction.TransactionUsageException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

/**
 * Looks whether the transactions of methods are such that their locks can live in them,
 * by beginning one of each kind and rolling it back: whether the manager can begin it,
 * whether it covers the DataSource of the locks, and whether that leads it to a standby.
 */
final class TransactionExamination {

	private static final Log logger = LogFactory.getLog(TransactionExamination.class);

	private static final String TRANSACTIONAL = "org.springframework.transaction.annotation.Transactional";

	private static final String JAKARTA_TRANSACTIONAL = "jakarta.transaction.Transactional";

	private TransactionExamination() {
	}

	/**
	 * Waiting for a connection that does not come takes its time, and once is enough.
	 */
	static void examine(CheckContext context, Findings findings) {
		if (findings.has(DoctorCheck.UNREACHABLE)) {
			return;
		}
		Map<List<Object>, Sight> seen = new HashMap<>();
		for (SingleRunnerMethod method : context.methods()) {
			MethodTransaction transaction = (method.operation().scope() == LockScope.TRANSACTION)
					? context.transactions().apply(method) : null;
			if (transaction != null) {
				Sight known = seen.get(kindOf(transaction));
				Sight sight = (known != null) ? known : look(transaction, context);
				seen.put(kindOf(transaction), sight);
				sight.tell(method, transaction, context, findings);
			}
		}
		PlatformTransactionManager manager = context.transactionManager();
		if (manager != null && context.usesOtherTransactions()) {
			MethodTransaction transaction = new MethodTransaction(manager, TransactionDefinition.withDefaults(), false);
			if (!seen.containsKey(kindOf(transaction))) {
				look(transaction, context).tell(null, transaction, context, findings);
			}
		}
	}

	/**
	 * What decides where a transaction is begun, and whether it can be.
	 */
	private static List<Object> kindOf(MethodTransaction transaction) {
		TransactionDefinition definition = transaction.definition();
		return List.of(System.identityHashCode(transaction.manager()), transaction.declared(), definition.isReadOnly(),
				definition.getIsolationLevel());
	}

	private static Sight look(MethodTransaction transaction, CheckContext context) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition(transaction.definition());
		definition.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		try {
			Sight sight = new TransactionTemplate(transaction.manager(), definition).execute((status) -> {
				status.setRollbackOnly();
				boolean covered = context.template().isInLockTransaction();
				return new Sight(covered, covered && isSpecial(definition) && isOnStandby(context.dataSource()), null);
			});
			return (sight != null) ? sight : Sight.WELL;
		}
		catch (RuntimeException ex) {
			logger.debug("A transaction could not be examined", ex);
			return new Sight(false, false, ex);
		}
	}

	/**
	 * Where other transactions lead is seen on a connection without one.
	 */
	private static boolean isSpecial(TransactionDefinition definition) {
		return definition.isReadOnly() || definition.getIsolationLevel() != TransactionDefinition.ISOLATION_DEFAULT;
	}

	private static boolean isOnStandby(DataSource dataSource) {
		DataSource target = PostgresAdvisoryLockTemplate.unwrap(dataSource);
		Connection connection = DataSourceUtils.getConnection(target);
		try {
			return PostgresServer.ask(connection).standby();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex.getMessage(), ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, target);
		}
	}

	/**
	 * Look for methods that the library runs in one transaction although a transaction
	 * stays with the tenant that is current when it begins. A method with an annotation
	 * of its own for transactions says that it means one.
	 */
	static void examineTenants(CheckContext context, Findings findings) {
		for (SingleRunnerMethod method : context.methods()) {
			if (method.operation().scope() == LockScope.TRANSACTION && !isTransactional(method.method())
					&& context.hasTenants().test(method)) {
				foundTenant(method, findings);
			}
		}
	}

	private static boolean isTransactional(Method method) {
		return isAnnotated(method) || isAnnotated(method.getDeclaringClass());
	}

	private static boolean isAnnotated(AnnotatedElement element) {
		MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
		return annotations.isPresent(TRANSACTIONAL) || annotations.isPresent(JAKARTA_TRANSACTIONAL);
	}

	private static void foundTenant(SingleRunnerMethod method, Findings findings) {
		findings.found(DoctorCheck.ONE_TENANT,
				"Scope TRANSACTION makes " + method
						+ " one transaction, and because its DataSource routes, or its entity manager has tenants, all "
						+ "of it is done for the tenant that is current when it begins",
				"set 'scope' to SESSION if it works for several tenants, or put @Transactional on it if it works for one");
	}

	/**
	 * What was seen of a kind of transactions.
	 *
	 * @param covered whether it covers the DataSource of the locks
	 * @param standby whether it leads to a standby
	 * @param failure why it could not be looked at, or {@code null}
	 */
	private record Sight(boolean covered, boolean standby, @Nullable RuntimeException failure) {

		private static final Sight WELL = new Sight(true, false, null);

		private void tell(@Nullable SingleRunnerMethod annotated, MethodTransaction transaction, CheckContext context,
				Findings findings) {
			String method = (annotated != null) ? annotated.toString() : "locks that are taken in code";
			if (this.failure != null) {
				tellFailure(this.failure, method, transaction.manager(), findings);
			}
			else if (!this.covered) {
				tellUncovered(annotated != null, method, transaction, context, findings);
			}
			else if (this.standby) {
				findings.found(DoctorCheck.STANDBY, StringUtils.capitalize(method)
						+ (transaction.definition().isReadOnly() ? " is @Transactional(readOnly = true), and"
								: " has a @Transactional, and")
						+ " the DataSource leads such transactions to a standby, which grants the same locks as its "
						+ "primary, so that two could run at once",
						"remove 'readOnly' from its @Transactional, or set its 'scope' to SESSION, which locks on the "
								+ "primary");
			}
		}

		private static void tellFailure(RuntimeException failure, String method, PlatformTransactionManager manager,
				Findings findings) {
			String message = JdbcUrl.redact(String.valueOf(failure.getMessage()));
			if (failure instanceof TransactionUsageException
					|| failure instanceof TransactionSuspensionNotSupportedException
					|| failure instanceof NestedTransactionNotSupportedException) {
				findings.found(DoctorCheck.TRANSACTION_MANAGER,
						manager.getClass().getName() + " can't begin the transaction of " + method + " (" + message
								+ "), and each run of it fails",
						"change its @Transactional, or set its 'scope' to SESSION if it needs no transaction of its own");
			}
			else {
				findings.found(DoctorCheck.UNREACHABLE,
						"The transaction of " + method
								+ " can't be examined, it will fail until its database is there (" + message + ")",
						"check the DataSource of " + manager.getClass().getName() + " if that does not change");
			}
		}

		private static void tellUncovered(boolean ofMethod, String method, MethodTransaction transaction,
				CheckContext context, Findings findings) {
			String manager = "Transactions of " + transaction.manager().getClass().getName();
			String uncovered = "do not cover the DataSource of the advisory locks ("
					+ PostgresAdvisoryLockTemplate.unwrap(context.dataSource()) + ")";
			if (transaction.declared()) {
				findings.found(DoctorCheck.TRANSACTION_MANAGER,
						manager + ", which the @Transactional of " + method + " begins, " + uncovered
								+ ", and each run of it fails",
						"name the manager that does in its @Transactional, or set 'advisory-lock.transaction-manager' to "
								+ "the name of the manager that does, or, where there is none, its 'scope' to SESSION, or "
								+ "'advisory-lock.scope' for all methods");
			}
			else {
				findings.found(DoctorCheck.TRANSACTION_MANAGER,
						manager + " " + uncovered + ", and can't hold " + (ofMethod ? "the lock of " : "") + method,
						"set 'advisory-lock.transaction-manager' to the name of a manager that does, or, where there is "
								+ "none, " + (ofMethod ? "'scope' to SESSION, or 'advisory-lock.scope' for all methods"
										: "use scope SESSION"));
			}
		}

	}

}
