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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate.Route;
import io.github.advisorylock.jdbc.RunLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.SmartLifecycle;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * The databases that have locks: the default one, and one for each further DataSource
 * whose transaction manager is named by a method, a property or a request. The first time
 * it is named, all is made that looks after the locks there, as the beans do that look
 * after those of the default one.
 *
 * @since 0.1.0
 */
public final class LockDatabases implements SmartInitializingSingleton, SmartLifecycle, DisposableBean {

	private final LockDatabase defaultDatabase;

	private final TransactionManagers managers;

	private final Parts parts;

	private final Supplier<List<Feature>> features;

	private final Map<String, Place> places = new ConcurrentHashMap<>();

	private final List<Named> named = new CopyOnWriteArrayList<>();

	private final ReentrantLock changing = new ReentrantLock();

	private boolean initialized;

	private volatile boolean running;

	/**
	 * Create databases.
	 * @param defaultDatabase is that of what names no manager
	 * @param managers finds transaction managers
	 * @param parts makes what takes locks
	 * @param features look after the locks of further databases; asked for when there is
	 * one
	 */
	public LockDatabases(LockDatabase defaultDatabase, TransactionManagers managers, Parts parts,
			Supplier<List<Feature>> features) {
		this.defaultDatabase = defaultDatabase;
		this.managers = managers;
		this.parts = parts;
		this.features = SingletonSupplier.of(features);
	}

	/**
	 * Return the databases that were named so far.
	 * @return the databases, the default one first
	 */
	public List<LockDatabase> all() {
		return Stream.concat(Stream.of(this.defaultDatabase), this.named.stream().map(Named::database)).toList();
	}

	/**
	 * Return the databases that were named so far, but for the default one.
	 * @return the databases
	 */
	public List<LockDatabase> others() {
		return this.named.stream().map(Named::database).toList();
	}

	/**
	 * Return whether there is more than the default one.
	 * @return {@code true} if another one was named
	 */
	public boolean areSeveral() {
		return !this.named.isEmpty();
	}

	/**
	 * Return whether there may be more than the default one, as soon as somebody names
	 * another one.
	 * @return {@code true} if a transaction manager is on another database
	 */
	public boolean mayBeSeveral() {
		return this.managers.haveOtherThan(this.defaultDatabase);
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
	 * @throws AdvisoryLockConfigurationException if there is no such manager, or its
	 * database can't have locks
	 */
	public LockDatabase ofTransactions(String manager) {
		return place(manager, true).database;
	}

	/**
	 * Return who takes the locks of a transaction manager.
	 * @param manager its name
	 * @return who takes the locks
	 * @throws AdvisoryLockConfigurationException if there is no such manager, or its
	 * database is unknown or can't have locks
	 */
	public Route route(String manager) {
		return place(manager, false).route();
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
		Place place = this.places.get(name);
		return (place != null) ? place : find(name, lenient);
	}

	private Place find(String name, boolean lenient) {
		PlatformTransactionManager manager = this.managers.get(name);
		DataSource dataSource = this.managers.dataSourceOf(manager);
		if (dataSource == null && !lenient && this.managers.haveSeveralDataSources()) {
			throw this.managers.unknownDataSource(manager);
		}
		this.changing.lock();
		try {
			Place place = this.places.get(name);
			if (place == null) {
				place = new Place((dataSource != null) ? on(dataSource, name, manager) : this.defaultDatabase, manager);
				this.places.put(name, place);
			}
			return place;
		}
		finally {
			this.changing.unlock();
		}
	}

	private LockDatabase on(DataSource dataSource, String name, PlatformTransactionManager manager) {
		for (LockDatabase database : all()) {
			if (database.isOn(dataSource)) {
				return database;
			}
		}
		Named added = create(this.managers.beanName(name), dataSource, manager);
		try {
			if (this.initialized) {
				added.initialize();
			}
			if (this.running) {
				added.start();
			}
		}
		catch (RuntimeException | Error ex) {
			added.stop();
			added.close();
			throw ex;
		}
		this.named.add(added);
		PostgresAdvisoryLockTemplate template = this.defaultDatabase.template().get();
		if (template != null) {
			template.add(added.template);
		}
		return added.database;
	}

	private Named create(String name, DataSource dataSource, PlatformTransactionManager manager) {
		LockSession session = this.parts.session(name, dataSource);
		List<Object> own = new ArrayList<>();
		Supplier<@Nullable RunLedger> ledger = () -> own.stream()
			.filter(RunLedger.class::isInstance)
			.map(RunLedger.class::cast)
			.findFirst()
			.orElse(null);
		PostgresAdvisoryLockTemplate template = this.parts.template(dataSource, manager, session, ledger);
		LockDatabase database = new LockDatabase(name, dataSource, manager, () -> session, () -> template, ledger);
		this.features.get().forEach((feature) -> own.addAll(feature.createFor(database)));
		return new Named(database, session, template, own);
	}

	/**
	 * Those that properties name are there from the start, as those of methods are.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		this.parts.namedManagers().forEach(this::checkNamed);
		this.changing.lock();
		try {
			this.initialized = true;
			this.named.forEach(Named::initialize);
		}
		finally {
			this.changing.unlock();
		}
	}

	private void checkNamed(String property) {
		this.parts.check(property, isDefault(of(this.managers.resembling(property))));
	}

	@Override
	public void start() {
		this.changing.lock();
		try {
			this.running = true;
			this.named.forEach(Named::start);
		}
		finally {
			this.changing.unlock();
		}
	}

	@Override
	public void stop() {
		this.changing.lock();
		try {
			this.running = false;
			this.named.forEach(Named::stop);
		}
		finally {
			this.changing.unlock();
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public void destroy() {
		this.named.forEach(Named::close);
	}

	/**
	 * Where the locks of a transaction manager are.
	 */
	private record Place(LockDatabase database, PlatformTransactionManager manager) {

		private Route route() {
			PostgresAdvisoryLockTemplate template = this.database.template().get();
			if (template == null) {
				throw new IllegalStateException("Failed to find what takes locks in the default database");
			}
			return new Route(template, this.manager);
		}

	}

	/**
	 * A database besides the default one.
	 */
	private record Named(LockDatabase database, @Nullable LockSession session, PostgresAdvisoryLockTemplate template,
			List<Object> parts) {

		private <T> Stream<T> parts(Class<T> type) {
			return this.parts.stream().filter(type::isInstance).map(type::cast);
		}

		private void initialize() {
			parts(SmartInitializingSingleton.class).forEach(SmartInitializingSingleton::afterSingletonsInstantiated);
		}

		private void start() {
			parts(SmartLifecycle.class).forEach(SmartLifecycle::start);
		}

		private void stop() {
			List<SmartLifecycle> parts = new ArrayList<>(parts(SmartLifecycle.class).toList());
			Collections.reverse(parts);
			parts.stream().filter(SmartLifecycle::isRunning).forEach(SmartLifecycle::stop);
		}

		private void close() {
			if (this.session != null) {
				this.session.close();
			}
		}

	}

	/**
	 * Makes what takes locks in a database besides the default one, as the application
	 * configures it.
	 */
	public interface Parts {

		/**
		 * Return what carries session locks.
		 * @param name the name of the transaction manager
		 * @param dataSource the DataSource that has the locks
		 * @return {@code null} if a connection of its own can't be opened
		 */
		@Nullable LockSession session(String name, DataSource dataSource);

		/**
		 * Return what takes locks.
		 * @param dataSource the DataSource that has the locks
		 * @param manager begins transactions, {@code null} if nothing does
		 * @param session carries session locks, {@code null} if nothing does
		 * @param ledger records runs, unless that is switched off
		 * @return the template
		 */
		PostgresAdvisoryLockTemplate template(DataSource dataSource, @Nullable PlatformTransactionManager manager,
				@Nullable LockSession session, Supplier<? extends @Nullable RunLedger> ledger);

		/**
		 * Return the names of transaction managers that the configuration is about.
		 * @return the names, as they stand there
		 */
		Set<String> namedManagers();

		/**
		 * Make sure that the configuration by the name of a manager is not about the
		 * default database.
		 * @param name the name, as it stands there
		 * @param isDefault whether it is
		 */
		void check(String name, boolean isDefault);

	}

	/**
	 * What a feature does in each database that has locks, besides the default one, whose
	 * parts are beans.
	 */
	@FunctionalInterface
	public interface Feature {

		/**
		 * Return what looks after the locks of a database. Initializing singletons and
		 * life cycles among it are treated as those of beans are; a
		 * {@link io.github.advisorylock.jdbc.RunLedger} records the runs.
		 * @param database the database, whose ledger can't be asked for yet
		 * @return the parts, in the order in which they are to begin
		 */
		List<Object> createFor(LockDatabase database);

	}

}
