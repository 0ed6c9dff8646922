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
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockOperations;
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

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Chooses the transaction manager and the DataSource whose transactions hold locks where
 * nothing else is said, and knows those of what says so.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class LockDatabaseConfiguration {

	static final String CHOICE = "Set 'advisory-lock.transaction-manager' to the name of the transaction "
			+ "manager of the DataSource that holds the locks";

	static final String TEMPLATE = "advisoryLockTemplate";

	@Bean
	@ConditionalOnMissingBean
	@Nullable LockSession advisoryLockSession(Parts parts, LockDatabase database, TransactionManagers managers) {
		return parts.session(database.dataSource(), managers.haveOtherThan(database) ? database.name() : null);
	}

	@Bean(TEMPLATE)
	@ConditionalOnMissingBean(AdvisoryLockOperations.class)
	PostgresAdvisoryLockTemplate advisoryLockTemplate(LockDatabases databases) {
		return databases.templates().get(0);
	}

	/**
	 * What a test may put a mock in the place of: what works for the locks themselves
	 * keeps the template.
	 */
	@Bean
	@Primary
	@ConditionalOnBean(value = PostgresAdvisoryLockTemplate.class, search = SearchStrategy.CURRENT)
	AdvisoryLockOperations advisoryLockOperations(PostgresAdvisoryLockTemplate template, LockDatabases databases) {
		return new LockDatabases.Router(template, databases);
	}

	@Bean
	TransactionManagers advisoryLockTransactionManagers(ConfigurableListableBeanFactory beanFactory) {
		return new TransactionManagers(beanFactory);
	}

	@Bean
	LockDatabase advisoryLockDatabase(AdvisoryLockProperties properties, TransactionManagers managers,
			ListableBeanFactory beanFactory, ObjectProvider<LockSession> session,
			ObjectProvider<PostgresAdvisoryLockTemplate> template, ObjectProvider<RunLedger> ledger) {
		PlatformTransactionManager manager = transactionManager(properties.transactionManager(), managers, beanFactory);
		return new LockDatabase(managers.nameOf(manager), dataSource(manager, managers, beanFactory), manager,
				session::getIfAvailable, template::getIfAvailable, ledger::getIfAvailable);
	}

	/**
	 * Has whatever starts runs destroyed first. Spring begins a call of a cron schedule
	 * that becomes due while the context closes, after its last phase, and destroys beans
	 * in an order in which others happen to need them: the lock of such a run was lost
	 * though its scheduler waited for it.
	 */
	@Bean
	Parts advisoryLockDatabaseParts(AdvisoryLockProperties properties, SingleRunnerSettings settings,
			ObjectProvider<JdbcConnectionDetails> connectionDetails, ObjectProvider<LifecycleProperties> lifecycle,
			LockScheduler.Threads threads, TransactionManagers managers,
			SingleRunnerAnnotationBeanPostProcessor postProcessor, ConfigurableApplicationContext context) {
		ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
		for (String executor : beanFactory.getBeanNamesForType(Executor.class, true, false)) {
			beanFactory.registerDependentBean("advisoryLockSession", executor);
			beanFactory.registerDependentBean("advisoryLockDatabases", executor);
		}
		LockLifecycle.Time shutdown = new LockLifecycle.Time(
				lifecycle.getIfAvailable(LifecycleProperties::new).getTimeoutPerShutdownPhase(), threads);
		return new Parts(properties, settings, connectionDetails, context, threads, managers, shutdown, () -> {
			List<SingleRunnerMethod> methods = postProcessor.getMethods();
			return wantsMembers(methods, properties.spread(), beanFactory) ? guarded(methods, context.getEnvironment())
					: null;
		}, new AtomicReference<>(), new CopyOnWriteArraySet<>());
	}

	/**
	 * Return whether somebody is told how many members there are, or calls for ticks are
	 * to be spread over them.
	 */
	private static boolean wantsMembers(List<SingleRunnerMethod> methods, Duration spread,
			ListableBeanFactory beanFactory) {
		return beanFactory.containsBean("advisoryLocksEndpoint") || (!spread.isZero()
				&& beanFactory.containsBean(TaskManagementConfigUtils.SCHEDULED_ANNOTATION_PROCESSOR_BEAN_NAME)
				&& methods.stream()
					.flatMap((method) -> scheduled(method).stream())
					.anyMatch((schedule) -> !schedule.cron().isEmpty()));
	}

	private static Set<Scheduled> scheduled(SingleRunnerMethod method) {
		return AnnotatedElementUtils.getMergedRepeatableAnnotations(method.method(), Scheduled.class, Schedules.class);
	}

	/**
	 * Return how calls for ticks are spread over the members, {@code null} where these
	 * are not known. Of several databases, the one that has most tells.
	 */
	static PlannedTimeScheduler.@Nullable Spread spread(ConfigurableListableBeanFactory beanFactory) {
		if (!(beanFactory.getSingleton("advisoryLockDatabaseParts") instanceof Parts parts)) {
			return null;
		}
		Duration most = parts.properties().spread();
		return parts.sessions()
			.stream()
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
				&& beanFactory.getSingleton("advisoryLockDatabaseParts") instanceof Parts parts
				&& !parts.properties().spread().isZero()
				&& beanFactory.getSingleton("advisoryLockDatabases") instanceof LockDatabases databases) {
			LockSession session = databases.of(operation.transactionManager()).session().get();
			if (session != null) {
				session.openWithin(Duration.between(now, tick));
			}
		}
	}

	/**
	 * Return what is to be the same on all instances, in the same order on each.
	 */
	private static String guarded(List<SingleRunnerMethod> methods, Environment environment) {
		return methods.stream().map((method) -> {
			SingleRunnerOperation operation = method.operation();
			return List.of(method.namespace(), operation.keyTemplate(), operation.scope(), operation.permits(),
					operation.once(true), schedules(method, environment)) + "";
		}).sorted().collect(Collectors.joining());
	}

	/**
	 * The first delay of a schedule may well differ, the zone of an interval, and what
	 * UTC is called.
	 */
	private static List<String> schedules(SingleRunnerMethod method, Environment environment) {
		return scheduled(method).stream().map((schedule) -> {
			String zone = environment.resolvePlaceholders(schedule.zone());
			return environment.resolvePlaceholders(!schedule.cron().isEmpty()
					? schedule.cron() + (zone.isEmpty() ? ZoneId.systemDefault().normalized() : zone)
					: schedule.fixedRate() + schedule.fixedRateString() + "/" + schedule.fixedDelay()
							+ schedule.fixedDelayString() + schedule.timeUnit());
		}).sorted().toList();
	}

	/**
	 * Is made when something asks for locks, and has everything begin that looks after
	 * them.
	 */
	@Bean
	@ConditionalOnMissingBean
	LockDatabases advisoryLockDatabases(LockDatabase lockDatabase, Parts parts, ObjectProvider<LockSession> session,
			ObjectProvider<RunLedger> ledger, ObjectProvider<LockDatabases.Ledgers> ledgers,
			SingleRunnerStartupCheck check, ListableBeanFactory beanFactory) {
		String[] own = beanFactory.getBeanNamesForType(PostgresAdvisoryLockTemplate.class, true, false);
		PostgresAdvisoryLockTemplate template = List.of(own).contains(TEMPLATE)
				? parts.template(lockDatabase.dataSource(), lockDatabase.transactionManager(), session.getIfAvailable(),
						ledger::getObject)
				: lockDatabase.template().get();
		LockDatabases databases = new LockDatabases(lockDatabase.with(template), parts.managers(),
				(name, dataSource, manager) -> parts.create(name, dataSource, manager, ledgers),
				parts.namedManagers().stream().map(parts.managers()::resembling).toList());
		if (own.length > 0) {
			List<PostgresAdvisoryLockTemplate> templates = databases.templates();
			check.add("advisoryLockLifecycle", LockLifecycle.ofRuns(templates, parts.shutdown()));
			check.add("advisoryLockTimeLifecycle", LockLifecycle.ofTime(parts.shutdown()));
			check.add("advisoryLockWaitLifecycle", LockLifecycle.ofWaits(templates));
			check.add("advisoryLockLongHoldWatcher",
					DoctorConfiguration.Doctors.longHolds(templates, parts.properties(), parts.threads()));
		}
		check.made(databases);
		return databases;
	}

	/**
	 * Is there once somebody asks for it, and then runs as long as its context: it is no
	 * bean of a life cycle by its declaration, which would create it in any case.
	 */
	@Bean
	@ConditionalOnMissingBean(LeaderElection.class)
	@Nullable LeaderElection advisoryLockLeaderElection(Parts parts, LockDatabases databases, LeaderOnlyMethods methods,
			ConfigurableApplicationContext context) {
		LockSession available = databases.of(null).session().get();
		if (available == null) {
			return null;
		}
		PostgresLeaderElection election = new PostgresLeaderElection(available, parts.settings().namespace(),
				parts.settings().keyFactory(), parts.properties().leader().termsAbove(), (event) -> {
					if (event instanceof LeadershipGainedEvent gained) {
						methods.callOnElection(gained.role());
					}
					context.publishEvent(event);
				}, parts.shutdown()::limit);
		if (context.isRunning()) {
			election.start();
		}
		return election;
	}

	private static @Nullable PlatformTransactionManager transactionManager(@Nullable String configuredName,
			TransactionManagers managers, ListableBeanFactory beanFactory) {
		if (configuredName == null) {
			return managers.unique();
		}
		if (!beanFactory.containsBean(configuredName)
				|| !beanFactory.isTypeMatch(configuredName, PlatformTransactionManager.class)) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.transaction-manager", configuredName,
					"There is no transaction manager with that name, there is " + managers.names() + ".");
		}
		return beanFactory.getBean(configuredName, PlatformTransactionManager.class);
	}

	private static DataSource dataSource(@Nullable PlatformTransactionManager manager, TransactionManagers managers,
			ListableBeanFactory beanFactory) {
		DataSource dataSource = (manager != null) ? managers.dataSourceOf(manager) : null;
		if (dataSource != null) {
			return dataSource;
		}
		List<String> names = managers.dataSourceNames();
		if (manager != null && names.size() > 1) {
			throw managers.unknownDataSource(manager);
		}
		dataSource = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (dataSource == null) {
			throw new AdvisoryLockConfigurationException("Advisory locks can't choose between the DataSources " + names,
					CHOICE + ", or mark one DataSource as @Primary.");
		}
		return dataSource;
	}

	/**
	 * Makes what takes locks in a database, the default one or another, as the properties
	 * say.
	 *
	 * @param properties the properties
	 * @param settings what holds for all locks
	 * @param connectionDetails how the application connects, for the database it is about
	 * @param eventPublisher is told of lost locks
	 * @param threads makes the threads that watch them, and finds drivers
	 * @param managers finds the managers
	 * @param shutdown how long runs may take to end with their context
	 * @param guards tells what this instance guards, once all its beans are there,
	 * {@code null} where nobody wants to know of other instances
	 * @param guarded has what that has told
	 * @param sessions those that count members
	 */
	record Parts(AdvisoryLockProperties properties, SingleRunnerSettings settings,
			ObjectProvider<JdbcConnectionDetails> connectionDetails, ApplicationEventPublisher eventPublisher,
			LockScheduler.Threads threads, TransactionManagers managers, LockLifecycle.Time shutdown,
			Supplier<@Nullable String> guards, AtomicReference<@Nullable String> guarded,
			Set<LockSession> sessions) implements LockStartup {

		/**
		 * Databases that properties name are looked at as those of methods are.
		 */
		@Override
		public void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
			this.guarded.set(this.guards.get());
			databases.all().forEach((database) -> countMembers(database.session().get()));
			checkNames(databases);
		}

		/**
		 * Return what carries session locks in the default database.
		 * @param name the name of that, {@code null} where there is no other
		 * @return {@code null} if a connection of its own can't be opened
		 */
		@Nullable LockSession session(DataSource dataSource, @Nullable String name) {
			return session(name, dataSource, this.properties.session().overrides());
		}

		private LockDatabase create(String name, DataSource dataSource, PlatformTransactionManager manager,
				ObjectProvider<LockDatabases.Ledgers> ledgers) {
			LockSession session = session(name, dataSource, this.properties.database(name).overrides(name));
			AtomicReference<@Nullable LockDatabase> created = new AtomicReference<>();
			Supplier<@Nullable RunLedger> ledger = () -> {
				LockDatabases.Ledgers available = ledgers.getIfAvailable();
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
			SessionDataSource connectionSource = this.threads
				.call(() -> SessionDataSource.create(overrides, dataSource, this.connectionDetails.getIfUnique()));
			if (connectionSource == null) {
				return null;
			}
			LockSession session = new LockSession(connectionSource, this.settings.namespace(), name,
					this.properties.session().toSettings(), DoctorConfiguration.Doctors.judge(this.properties),
					this.eventPublisher::publishEvent, this.threads);
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

		private PostgresAdvisoryLockTemplate template(DataSource dataSource,
				@Nullable PlatformTransactionManager manager, @Nullable LockSession session,
				Supplier<? extends @Nullable RunLedger> ledger) {
			boolean recording = this.properties.ledger().use() != LedgerUse.OFF;
			return new PostgresAdvisoryLockTemplate(dataSource, manager, session, this.settings.namespace(),
					this.settings.keyFactory(), this.settings.waitFor(), this.properties.maxHeldLocks(),
					recording ? SingletonSupplier.of(() -> Objects.requireNonNull(ledger.get(), "There is no ledger"))
							: null,
					this.threads.instance());
		}

		private Set<String> namedManagers() {
			return this.properties.databases().keySet();
		}

		/**
		 * Make sure that properties for a database by name are for one that is there, and
		 * not for the default one.
		 */
		private void checkNames(LockDatabases databases) {
			for (String name : namedManagers()) {
				if (databases.isDefault(databases.of(this.managers.resembling(name)))) {
					throw new InvalidConfigurationPropertyValueException("advisory-lock.databases." + name, name,
							"That is the database of the locks of all others; use 'advisory-lock.session' for it.");
				}
			}
		}

	}

}
