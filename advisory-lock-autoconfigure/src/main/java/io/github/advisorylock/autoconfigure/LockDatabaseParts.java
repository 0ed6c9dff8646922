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

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.annotation.SingleRunnerSettings.LedgerUse;
import io.github.advisorylock.connection.SessionDataSource;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.database.TransactionManagers;
import io.github.advisorylock.interceptor.PlannedTimeScheduler;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.jdbc.LockLifecycle;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.leader.PostgresLeaderElection;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Makes what takes locks in a database, the default one or another, as the properties
 * say. Chooses the transaction manager and the DataSource whose transactions hold locks
 * where nothing else is said, and knows those of what says so.
 *
 * @param properties the properties
 * @param settings what holds for all locks
 * @param threads makes the threads that watch them, and finds drivers
 * @param postProcessor knows what this instance guards, once all its beans are there
 * @param context is told of lost locks
 * @param managers finds the managers
 * @param shutdown how long runs may take to end with their context
 * @param guarded what is guarded, {@code null} where nobody wants to know of other
 * instances
 * @param sessions those that count members
 */
record LockDatabaseParts(AdvisoryLockProperties properties, SingleRunnerSettings settings,
		LockScheduler.Threads threads, SingleRunnerAnnotationBeanPostProcessor postProcessor,
		ConfigurableApplicationContext context, TransactionManagers managers, LockLifecycle.Time shutdown,
		AtomicReference<@Nullable String> guarded,
		Set<LockSession> sessions) implements LockStartup, LockDatabases.Maker {

	private static final String CHOICE = "Set 'advisory-lock.transaction-manager' to the name of the transaction "
			+ "manager of the DataSource that holds the locks";

	/**
	 * Return how calls for ticks are spread over the members, {@code null} where these
	 * are not known. Of several databases, the one that has most tells.
	 */
	static PlannedTimeScheduler.@Nullable Spread spread(ConfigurableListableBeanFactory beanFactory) {
		if (!(beanFactory.getSingleton("advisoryLockDatabaseParts") instanceof LockDatabaseParts parts)) {
			return null;
		}
		Duration most = parts.properties.spread();
		return parts.sessions.stream()
			.flatMap((session) -> session.members()
				.stream()
				.mapToObj((members) -> new PlannedTimeScheduler.Spread(most, members, session.place())))
			.max(Comparator.comparingInt(PlannedTimeScheduler.Spread::members))
			.orElse(null);
	}

	/**
	 * Have the session opened before the first call of a method for a tick needs it,
	 * where calls are spread over the members.
	 */
	static void openAhead(ConfigurableListableBeanFactory beanFactory, SingleRunnerOperation operation) {
		Instant now = Instant.now();
		Instant tick = operation.nextTick(now);
		if (tick != null && (operation.scope() == LockScope.SESSION || operation.remembersTicks())
				&& beanFactory.getSingleton("advisoryLockDatabaseParts") instanceof LockDatabaseParts parts
				&& !parts.properties.spread().isZero()
				&& beanFactory.getSingleton("advisoryLockDatabases") instanceof LockDatabases databases) {
			LockSession session = databases.of(operation.transactionManager()).session().get();
			if (session != null) {
				session.openWithin(Duration.between(now, tick));
			}
		}
	}

	/**
	 * Return the default database.
	 */
	LockDatabase database() {
		PlatformTransactionManager manager = transactionManager(this.properties.transactionManager());
		return new LockDatabase(this.managers.nameOf(manager), dataSource(manager), manager,
				provided(LockSession.class), provided(PostgresAdvisoryLockTemplate.class), provided(RunLedger.class));
	}

	private <T> Supplier<@Nullable T> provided(Class<T> type) {
		return this.context.getBeanProvider(type)::getIfAvailable;
	}

	/**
	 * Return all databases.
	 * @param lifecycles has what looks after them begin with the context
	 */
	LockDatabases databases(LockDatabase lockDatabase, BiConsumer<String, SmartLifecycle> lifecycles) {
		List<String> own = List.of(this.context.getBeanNamesForType(PostgresAdvisoryLockTemplate.class, true, false));
		PostgresAdvisoryLockTemplate template = own.contains(LockDatabaseConfiguration.TEMPLATE)
				? template(lockDatabase.dataSource(), lockDatabase.transactionManager(), lockDatabase.session().get(),
						lockDatabase.ledger())
				: lockDatabase.template().get();
		List<String> preferred = new ArrayList<>();
		for (String name : namedManagers()) {
			preferred.add(this.managers.resembling(name));
		}
		LockDatabases databases = new LockDatabases(lockDatabase.with(template), this.managers, this, preferred);
		if (!own.isEmpty()) {
			List<PostgresAdvisoryLockTemplate> templates = databases.templates();
			lifecycles.accept("advisoryLockLifecycle", LockLifecycle.ofRuns(templates, this.shutdown));
			lifecycles.accept("advisoryLockTimeLifecycle", LockLifecycle.ofTime(this.shutdown));
			lifecycles.accept("advisoryLockWaitLifecycle", LockLifecycle.ofWaits(templates));
			lifecycles.accept("advisoryLockLongHoldWatcher",
					DoctorStartupCheck.longHolds(templates, this.properties, this.threads));
		}
		return databases;
	}

	/**
	 * Return who leads, {@code null} if there is no connection to lead by.
	 */
	@Nullable LeaderElection election(LockDatabases databases, LeaderOnlyMethods methods) {
		LockSession available = databases.of(null).session().get();
		if (available == null) {
			return null;
		}
		PostgresLeaderElection election = new PostgresLeaderElection(available, this.settings.namespace(),
				this.settings.keyFactory(), this.properties.leader().termsAbove(), (event) -> {
					if (event instanceof LeadershipGainedEvent gained) {
						methods.callOnElection(gained.role());
					}
					this.context.publishEvent(event);
				}, this.shutdown::limit);
		if (this.context.isRunning()) {
			election.start();
		}
		return election;
	}

	/**
	 * Databases that properties name are looked at as those of methods are.
	 */
	@Override
	public void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
		List<SingleRunnerMethod> methods = this.postProcessor.getMethods();
		this.guarded.set(wantsMembers(methods) ? guarded(methods) : null);
		for (LockDatabase database : databases.all()) {
			countMembers(database.session().get());
		}
		checkNames(databases);
	}

	/**
	 * Return what carries session locks in the default database.
	 * @return {@code null} if a connection of its own can't be opened
	 */
	@Nullable LockSession session(LockDatabase database) {
		return session(this.managers.haveOtherThan(database) ? database.name() : null, database.dataSource(),
				this.properties.session().overrides());
	}

	@Override
	public LockDatabase create(String name, DataSource dataSource, PlatformTransactionManager manager) {
		LockSession session = session(name, dataSource, this.properties.database(name).overrides(name));
		AtomicReference<@Nullable LockDatabase> created = new AtomicReference<>();
		Supplier<@Nullable RunLedger> ledger = () -> {
			LockDatabases.Ledgers available = this.context.getBeanProvider(LockDatabases.Ledgers.class)
				.getIfAvailable();
			return (available != null) ? available.of(Objects.requireNonNull(created.get())) : null;
		};
		PostgresAdvisoryLockTemplate template = template(dataSource, manager, session, ledger);
		LockDatabase database = new LockDatabase(name, dataSource, manager, () -> session, () -> template, ledger);
		created.set(database);
		return database;
	}

	private @Nullable LockSession session(@Nullable String name, DataSource dataSource,
			SessionDataSource.Overrides overrides) {
		@SuppressWarnings("NullAway") // there may be none
		SessionDataSource connectionSource = this.threads.call(() -> SessionDataSource.create(overrides, dataSource,
				this.context.getBeanProvider(JdbcConnectionDetails.class).getIfUnique()));
		if (connectionSource == null) {
			return null;
		}
		LockSession session = new LockSession(connectionSource, this.settings.namespace(), name,
				this.properties.session().toSettings(), DoctorStartupCheck.judge(this.properties),
				this.context::publishEvent, this.threads);
		countMembers(session);
		return session;
	}

	private void countMembers(@Nullable LockSession session) {
		String guards = this.guarded.get();
		if (session != null && guards != null) {
			session.countMembers(guards);
			this.sessions.add(session);
		}
	}

	private PostgresAdvisoryLockTemplate template(DataSource dataSource, @Nullable PlatformTransactionManager manager,
			@Nullable LockSession session, Supplier<? extends @Nullable RunLedger> ledger) {
		boolean recording = this.properties.ledger().use() != LedgerUse.OFF;
		return new PostgresAdvisoryLockTemplate(dataSource, manager, session, this.settings.namespace(),
				this.settings.keyFactory(), this.settings.waitFor(), this.properties.maxHeldLocks(), recording
						? SingletonSupplier.of(() -> Objects.requireNonNull(ledger.get(), "There is no ledger")) : null,
				this.threads.instance());
	}

	private Set<String> namedManagers() {
		return this.properties.databases().keySet();
	}

	/**
	 * Make sure that properties for a database by name are for one that is there, and not
	 * for the default one.
	 */
	private void checkNames(LockDatabases databases) {
		for (String name : namedManagers()) {
			if (databases.isDefault(databases.of(this.managers.resembling(name)))) {
				throw new InvalidConfigurationPropertyValueException("advisory-lock.databases." + name, name,
						"That is the database of the locks of all others; use 'advisory-lock.session' for it.");
			}
		}
	}

	/**
	 * Return whether somebody is told how many members there are, or calls for ticks are
	 * to be spread over them.
	 */
	private boolean wantsMembers(List<SingleRunnerMethod> methods) {
		boolean wanted = this.context.containsBean("advisoryLocksEndpoint");
		boolean spread = !this.properties.spread().isZero()
				&& this.context.containsBean(TaskManagementConfigUtils.SCHEDULED_ANNOTATION_PROCESSOR_BEAN_NAME);
		for (SingleRunnerMethod method : spread ? methods : List.<SingleRunnerMethod>of()) {
			for (Scheduled schedule : scheduled(method)) {
				wanted |= !schedule.cron().isEmpty();
			}
		}
		return wanted;
	}

	private static Set<Scheduled> scheduled(SingleRunnerMethod method) {
		return AnnotatedElementUtils.getMergedRepeatableAnnotations(method.method(), Scheduled.class, Schedules.class);
	}

	/**
	 * Return what is to be the same on all instances, in the same order on each.
	 */
	private String guarded(List<SingleRunnerMethod> methods) {
		List<String> guarded = new ArrayList<>();
		for (SingleRunnerMethod method : methods) {
			SingleRunnerOperation operation = method.operation();
			guarded.add(List.of(method.namespace(), operation.keyTemplate(), operation.scope(), operation.permits(),
					operation.once(true), schedules(method)) + "");
		}
		Collections.sort(guarded);
		return String.join("", guarded);
	}

	/**
	 * The first delay of a schedule may well differ, the zone of an interval, and what
	 * UTC is called.
	 */
	private List<String> schedules(SingleRunnerMethod method) {
		List<String> schedules = new ArrayList<>();
		for (Scheduled schedule : scheduled(method)) {
			String zone = this.context.getEnvironment().resolvePlaceholders(schedule.zone());
			schedules.add(this.context.getEnvironment()
				.resolvePlaceholders(!schedule.cron().isEmpty()
						? schedule.cron() + (zone.isEmpty() ? ZoneId.systemDefault().normalized() : zone)
						: schedule.fixedRate() + schedule.fixedRateString() + "/" + schedule.fixedDelay()
								+ schedule.fixedDelayString() + schedule.timeUnit()));
		}
		Collections.sort(schedules);
		return schedules;
	}

	private @Nullable PlatformTransactionManager transactionManager(@Nullable String configuredName) {
		if (configuredName == null) {
			return this.managers.unique();
		}
		if (!this.context.containsBean(configuredName)
				|| !this.context.isTypeMatch(configuredName, PlatformTransactionManager.class)) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.transaction-manager", configuredName,
					"There is no transaction manager with that name, there is " + this.managers.names() + ".");
		}
		return this.context.getBean(configuredName, PlatformTransactionManager.class);
	}

	private DataSource dataSource(@Nullable PlatformTransactionManager manager) {
		DataSource dataSource = (manager != null) ? this.managers.dataSourceOf(manager) : null;
		if (dataSource != null) {
			return dataSource;
		}
		List<String> names = this.managers.dataSourceNames();
		if (manager != null && names.size() > 1) {
			throw this.managers.unknownDataSource(manager);
		}
		dataSource = this.context.getBeanProvider(DataSource.class).getIfUnique();
		if (dataSource == null) {
			throw new AdvisoryLockConfigurationException("Advisory locks can't choose between the DataSources " + names,
					CHOICE + ", or mark one DataSource as @Primary.");
		}
		return dataSource;
	}

}
