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

package io.github.advisorylock.database;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.support.TwoPhaseLockOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.Assert;

/**
 * The databases that can have locks: the default one, and one for each further DataSource
 * of a transaction manager. What takes locks there is made at once, and opens no
 * connection before somebody asks for a lock.
 *
 * @since 0.1.0
 */
public final class LockDatabases implements DisposableBean {

	private final LockDatabase defaultDatabase;

	private final TransactionManagers managers;

	private final List<LockDatabase> all;

	/**
	 * By the name of the manager, once a method, a property or a request has named it.
	 */
	private final Map<String, Place> places = new ConcurrentHashMap<>();

	/**
	 * Create databases.
	 * @param defaultDatabase is that of what names no manager
	 * @param managers finds transaction managers
	 * @param maker makes what takes locks in the other databases
	 * @param preferred the names of managers that have properties of their own, which
	 * name their database
	 */
	public LockDatabases(LockDatabase defaultDatabase, TransactionManagers managers, Maker maker,
			List<String> preferred) {
		this.defaultDatabase = defaultDatabase;
		this.managers = managers;
		this.all = new ArrayList<>(List.of(defaultDatabase));
		Set<String> names = new LinkedHashSet<>(preferred);
		names.retainAll(managers.names());
		names.addAll(managers.names());
		for (String name : names) {
			add(name, maker);
		}
	}

	private void add(String name, Maker maker) {
		PlatformTransactionManager manager = this.managers.get(name);
		DataSource dataSource = this.managers.dataSourceOf(manager);
		if (dataSource != null && !on(dataSource).isOn(dataSource)) {
			this.all.add(maker.create(name, dataSource, manager));
		}
	}

	/**
	 * Return all databases, named or not.
	 * @return the databases, the default one first
	 */
	public List<LockDatabase> all() {
		return List.copyOf(this.all);
	}

	/**
	 * Return the databases that were named so far, but for the default one.
	 * @return the databases
	 */
	public List<LockDatabase> others() {
		return this.all.stream().skip(1).filter(this::isNamed).toList();
	}

	/**
	 * Return whether somebody has named a manager of a database.
	 * @param database the database
	 * @return {@code true} if there may be locks in it, as in the default one
	 */
	public boolean isNamed(LockDatabase database) {
		return isDefault(database)
				|| this.places.values().stream().anyMatch((place) -> database.isOn(place.database.dataSource()));
	}

	/**
	 * Return whether there is more than the default one.
	 * @return {@code true} if a transaction manager is on another database
	 */
	public boolean areSeveral() {
		return this.all.size() > 1;
	}

	/**
	 * Return what takes locks in these databases.
	 * @return the templates, that of the default database first
	 */
	public List<PostgresAdvisoryLockTemplate> templates() {
		return this.all.stream().flatMap((database) -> Stream.ofNullable(database.template().get())).toList();
	}

	/**
	 * Return whether a database is the one that has the locks of a method.
	 * @param database the database
	 * @param method the method
	 * @return {@code true} if it is
	 */
	public boolean has(LockDatabase database, SingleRunnerMethod method) {
		String manager = method.operation().transactionManager();
		DataSource dataSource = (manager != null) ? this.managers.dataSourceOf(this.managers.get(manager)) : null;
		return database.isOn((dataSource != null) ? dataSource : this.defaultDatabase.dataSource());
	}

	/**
	 * Return the database of a transaction manager.
	 * @param manager its name, {@code null} for the default database
	 * @return the database
	 * @throws AdvisoryLockConfigurationException if there is no such manager, or its
	 * database is unknown or can't have locks
	 */
	public LockDatabase of(@Nullable String manager) {
		return (manager != null) ? place(manager, false).database : this.defaultDatabase;
	}

	/**
	 * Return the database of the transactions of a manager; the default one where the
	 * manager does not tell.
	 * @param manager its name
	 * @return the database
	 */
	public LockDatabase ofTransactions(String manager) {
		return place(manager, true).database;
	}

	/**
	 * Return whether a database is the one of what names no manager.
	 * @param database the database
	 * @return {@code true} if it is
	 */
	public boolean isDefault(LockDatabase database) {
		return database.isOn(this.defaultDatabase.dataSource());
	}

	private Place place(String name, boolean lenient) {
		Place known = this.places.get(name);
		if (known != null) {
			return known;
		}
		PlatformTransactionManager manager = this.managers.get(name);
		DataSource dataSource = this.managers.dataSourceOf(manager);
		if (dataSource == null && !lenient && this.managers.haveSeveralDataSources()) {
			throw this.managers.unknownDataSource(manager);
		}
		Place place = new Place(on(dataSource), manager);
		this.places.put(name, place);
		return place;
	}

	private LockDatabase on(@Nullable DataSource dataSource) {
		return this.all.stream()
			.filter((database) -> dataSource != null && database.isOn(dataSource))
			.findFirst()
			.orElse(this.defaultDatabase);
	}

	@Override
	public void destroy() {
		this.all.stream()
			.skip(1)
			.map((other) -> other.session().get())
			.filter(Objects::nonNull)
			.forEach(LockSession::close);
	}

	/**
	 * Passes each request on to what takes locks in the database that it is for: that of
	 * the transaction manager it names, else the default one.
	 */
	public static final class Router implements TwoPhaseLockOperations {

		private final PostgresAdvisoryLockTemplate template;

		private final LockDatabases databases;

		private final Map<String, TwoPhaseLockOperations> others = new ConcurrentHashMap<>();

		/**
		 * Create a router.
		 * @param template takes locks in the default database
		 * @param databases knows the other ones
		 */
		public Router(PostgresAdvisoryLockTemplate template, LockDatabases databases) {
			this.template = template;
			this.databases = databases;
		}

		@Override
		public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
				LockCallback<T, X> action) throws X {
			return of(request).execute(request, action);
		}

		@Override
		public Admission admit(LockRequest request) {
			return of(request).admit(request);
		}

		@Override
		public Optional<HeldLock> tryAcquire(LockRequest request) {
			return of(request).tryAcquire(request);
		}

		private TwoPhaseLockOperations of(LockRequest request) {
			Assert.notNull(request, "'request' must not be null");
			String manager = request.transactionManager();
			if (manager == null) {
				return this.template;
			}
			TwoPhaseLockOperations known = this.others.get(manager);
			return (known != null) ? known : this.others.computeIfAbsent(manager, this::find);
		}

		private TwoPhaseLockOperations find(String manager) {
			Place place = this.databases.place(manager, false);
			PostgresAdvisoryLockTemplate other = place.database().template().get();
			return ((other != null) ? other : this.template).with(place.manager());
		}

	}

	/**
	 * Where the locks of a transaction manager are.
	 */
	private record Place(LockDatabase database, PlatformTransactionManager manager) {

	}

	/**
	 * Makes what takes locks in a database besides the default one.
	 */
	@FunctionalInterface
	public interface Maker {

		/**
		 * Return a database.
		 * @param name the name of its transaction manager
		 * @param dataSource the DataSource that has the locks
		 * @param manager begins transactions
		 * @return the database, with a template
		 */
		LockDatabase create(String name, DataSource dataSource, PlatformTransactionManager manager);

	}

	/**
	 * Records the runs in databases besides the default one.
	 */
	@FunctionalInterface
	public interface Ledgers {

		/**
		 * Return the ledger of a database.
		 * @param database the database
		 * @return its ledger, the same each time
		 */
		RunLedger of(LockDatabase database);

	}

}
