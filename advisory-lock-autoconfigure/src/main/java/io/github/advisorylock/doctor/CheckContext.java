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

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;

/**
 * The application that the doctor looks at.
 *
 * @param methods its annotated methods
 * @param others what else takes locks
 * @param template takes its locks
 * @param dataSource opens the connections of its transactions
 * @param transactions returns the transaction that a method runs in where its caller has
 * begun none, or {@code null} if that is not known
 * @param transactionManager begins the transactions of locks that are taken otherwise, or
 * {@code null} if there is none
 * @param route how its connections are opened
 * @param poolSize how many connections it has at most, or {@code null} if not known
 * @param session carries its session locks, or {@code null} if there are none
 * @param sessionProperties the properties that the connection of the lock session is
 * configured by, empty when it is the one of the application
 * @param settings how long a vanished client may hold locks
 * @param maxHeldLocks how many locks it may hold at a time
 * @param hasTenants whether the transactions of a method are each for one tenant, the
 * current one when they begin
 * @since 0.1.0
 */
public record CheckContext(List<SingleRunnerMethod> methods, OtherUses others, PostgresAdvisoryLockTemplate template,
		DataSource dataSource, Function<SingleRunnerMethod, @Nullable MethodTransaction> transactions,
		@Nullable PlatformTransactionManager transactionManager, Route route, @Nullable Integer poolSize,
		@Nullable LockSession session, List<String> sessionProperties, LockSessionSettings settings, int maxHeldLocks,
		Predicate<SingleRunnerMethod> hasTenants) {

	/**
	 * Return whether there are locks at all.
	 */
	boolean usesLocks() {
		return usesTransactions() || usesSession();
	}

	/**
	 * Return whether locks live in transactions, or may.
	 */
	boolean usesTransactions() {
		return mayUseSession() || uses(LockScope.TRANSACTION);
	}

	/**
	 * Return whether other locks than those of methods live in transactions, or may.
	 */
	boolean usesOtherTransactions() {
		return mayUseSession() || this.others.scopes().contains(LockScope.TRANSACTION);
	}

	private boolean uses(LockScope scope) {
		boolean used = this.others.scopes().contains(scope);
		for (SingleRunnerMethod method : this.methods) {
			used |= method.operation().scope() == scope;
		}
		return used;
	}

	/**
	 * Return whether locks that live in transactions are waited for.
	 */
	boolean waitsInTransactions() {
		boolean waits = false;
		for (SingleRunnerMethod method : this.methods) {
			waits |= method.operation().scope() == LockScope.TRANSACTION && !method.operation().waitFor().isZero();
		}
		return waits;
	}

	/**
	 * Name the methods whose recorded runs have a transaction of an isolation level.
	 * @param byDefault whether it is that of transactions that do not choose one
	 */
	String recordedIn(int level, boolean byDefault) {
		Set<String> recorded = new TreeSet<>();
		for (SingleRunnerMethod method : this.methods) {
			MethodTransaction transaction = (method.operation().ledger().recorded()
					&& method.operation().scope() == LockScope.TRANSACTION) ? this.transactions.apply(method) : null;
			int chosen = (transaction != null) ? transaction.definition().getIsolationLevel() : level + 1;
			if (chosen == level || (byDefault && chosen == TransactionDefinition.ISOLATION_DEFAULT)) {
				recorded.add("'" + AdvisoryLockKey.display(method.operation().keyTemplate()) + "' of " + method);
			}
		}
		return String.join(", ", recorded);
	}

	/**
	 * Return whether locks live on the lock session.
	 */
	boolean usesSession() {
		return uses(LockScope.SESSION);
	}

	/**
	 * Return whether locks may live on the lock session, which only the code that takes
	 * them knows.
	 */
	boolean mayUseSession() {
		return this.others.inCode();
	}

	/**
	 * Return whether the lock session is to remember for which ticks and intervals
	 * methods were run.
	 */
	boolean remembersTicks() {
		boolean remembers = false;
		for (SingleRunnerMethod method : this.methods) {
			remembers |= method.operation().remembersTicks();
		}
		return remembers;
	}

	/**
	 * Return whether a connection of the library's own is opened as the pool opens its
	 * own, to the same database by the same role.
	 */
	boolean opensSessionAsThePool() {
		return this.session != null && this.sessionProperties.isEmpty() && (usesSession() || remembersTicks());
	}

	/**
	 * How the transaction of a method is begun.
	 *
	 * @param manager begins it
	 * @param definition what the {@code @Transactional} of the method says, or the
	 * defaults
	 * @param declared whether there is such an annotation
	 * @since 0.1.0
	 */
	public record MethodTransaction(PlatformTransactionManager manager, TransactionDefinition definition,
			boolean declared) {

	}

	/**
	 * How the connections of a DataSource are opened.
	 *
	 * @since 0.1.0
	 */
	public enum Route {

		/**
		 * By one URL.
		 */
		URL,

		/**
		 * By a DataSource, which only its owner knows.
		 */
		UNKNOWN,

		/**
		 * Where the application wants each.
		 */
		ROUTED;

		/**
		 * Return whether two connections may lead to several servers though they should
		 * not.
		 * @param pooler whether something is in front of the server
		 */
		boolean mayLeadToSeveral(boolean pooler) {
			return (this == URL) ? pooler : this == UNKNOWN;
		}

	}

	/**
	 * What takes locks in an application besides its annotated methods.
	 *
	 * @param scopes the scopes of leader roles, and of the libraries that get their locks
	 * here
	 * @param inCode whether a bean has been given what takes locks, and chooses the scope
	 * of each when it asks
	 */
	public record OtherUses(Set<LockScope> scopes, boolean inCode) {

		/**
		 * Nothing else takes locks.
		 */
		public static final OtherUses NONE = new OtherUses(Set.of(), false);

		public OtherUses {
			scopes = Set.copyOf(scopes);
		}

	}

}
