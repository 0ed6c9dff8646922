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
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.ledger.jdbc.InstancePresence;
import io.github.advisorylock.ledger.jdbc.LedgerLifecycle;
import io.github.advisorylock.ledger.jdbc.LedgerSettings;
import io.github.advisorylock.ledger.jdbc.PostgresAdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.core.ResolvableType;

/**
 * Makes the ledger of a database, and what looks after it.
 *
 * @param begun is known while its bean is still being created, as its creation begins all
 * that
 */
record LedgerParts(AdvisoryLockProperties.Ledger properties, SingleRunnerSettings settings,
		SingleRunnerAnnotationBeanPostProcessor methods, ObjectProvider<LockDatabases> databases,
		LeaderOnlyMethods roles, @Nullable String version, ConfigurableApplicationContext context,
		LockScheduler.Threads threads, AtomicReference<@Nullable LockDatabases> begun,
		Map<String, PostgresAdvisoryLockLedger> others,
		Map<String, Keeping> keepings) implements LockStartup, LockDatabases.Ledgers {

	@Override
	public PostgresAdvisoryLockLedger of(LockDatabase database) {
		return this.others.computeIfAbsent(database.name(), (name) -> create(database));
	}

	PostgresAdvisoryLockLedger create(LockDatabase database) {
		PostgresAdvisoryLockLedger ledger = new PostgresAdvisoryLockLedger(database.dataSource(), ledgerSettings(),
				this.settings.namespace(), this.threads.instance(), this.methods, isIn(database), this.context,
				this.context::publishEvent);
		ledger.whenOpen(() -> opened(database));
		return ledger;
	}

	private LedgerSettings ledgerSettings() {
		return new LedgerSettings(this.properties.tablePrefix(),
				this.properties.initializeSchema() == DatabaseInitializationMode.ALWAYS,
				this.properties.keepRuns().age(), this.properties.keepRuns().count(), this.properties.rememberKeys());
	}

	/**
	 * An application may use the ledger alone.
	 */
	private void opened(LockDatabase database) {
		known();
		Keeping keeping = this.keepings.get(database.name());
		if (keeping != null) {
			keeping.opened();
		}
	}

	private LockDatabases known() {
		LockDatabases begun = this.begun.get();
		return (begun != null) ? begun : this.databases.getObject();
	}

	/**
	 * Where an application keeps a ledger of its own, there is nothing to look after.
	 */
	@Override
	public void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
		this.begun.set(databases);
		boolean own = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.context,
				PostgresAdvisoryLockLedger.class, true, false).length == 0;
		for (LockDatabase database : databases.all()) {
			if (!own || !databases.isDefault(database)) {
				begin(database, databases.isDefault(database), lifecycles);
			}
		}
	}

	private void begin(LockDatabase database, boolean isDefault, BiConsumer<String, SmartLifecycle> lifecycles) {
		Supplier<PostgresAdvisoryLockLedger> ledger = () -> (PostgresAdvisoryLockLedger) Objects
			.requireNonNull(database.ledger().get());
		LedgerLifecycle lifecycle = new LedgerLifecycle(ledger, () -> operations(database, isDefault), this.methods,
				isIn(database), this.context, ledgerSettings(), Boolean.TRUE.equals(this.properties.enabled()),
				this.threads);
		InstancePresence presence = this.properties.instances() ? presence(ledger, isDefault) : null;
		Keeping keeping = new Keeping(lifecycle, presence, isDefault);
		this.keepings.put(database.name(), keeping);
		this.context.addApplicationListener(keeping);
		String place = isDefault ? "" : "@" + database.name();
		if (presence != null) {
			lifecycles.accept("advisoryLockInstancePresence" + place, presence);
		}
		lifecycles.accept("advisoryLockLedgerLifecycle" + place, lifecycle);
		if (this.context.isRunning()) {
			lifecycle.catchUp();
		}
	}

	/**
	 * A mock that a test has put in the place of what takes locks records nothing.
	 */
	private @Nullable AdvisoryLockOperations operations(LockDatabase database, boolean isDefault) {
		return (isDefault
				&& this.context.getBeanFactory()
					.getSingleton("advisoryLockOperations") instanceof AdvisoryLockOperations operations
				&& !(operations instanceof LockDatabases.Router)) ? operations : database.template().get();
	}

	/**
	 * Roles are those of the default database.
	 */
	private InstancePresence presence(Supplier<PostgresAdvisoryLockLedger> ledger, boolean isDefault) {
		return new InstancePresence(ledger, this.settings.namespace(), this.version,
				() -> isDefault ? this.roles.getRoles() : List.of(), this.threads);
	}

	private Predicate<SingleRunnerMethod> isIn(LockDatabase database) {
		return (method) -> known().has(database, method);
	}

	@Override
	public void check(LockDatabases databases) {
		for (LockDatabase database : databases.all()) {
			Keeping keeping = databases.isNamed(database) ? this.keepings.get(database.name()) : null;
			if (keeping != null) {
				keeping.lifecycle.prepare();
			}
		}
	}

	/**
	 * What looks after the ledger of a database.
	 */
	private record Keeping(LedgerLifecycle lifecycle, @Nullable InstancePresence presence,
			boolean withRoles) implements GenericApplicationListener {

		private void opened() {
			this.lifecycle.ledgerOpened();
			if (this.presence != null) {
				this.presence.ledgerOpened();
			}
		}

		/**
		 * Asked once for each type, so that no run comes by here.
		 */
		@Override
		public boolean supportsEventType(ResolvableType type) {
			Class<?> event = type.hasGenerics() ? type.getGeneric().toClass() : type.toClass();
			return event == ApplicationReadyEvent.class || event == LeadershipGainedEvent.class
					|| event == LeadershipLostEvent.class;
		}

		@Override
		public void onApplicationEvent(ApplicationEvent event) {
			if (event instanceof ApplicationReadyEvent) {
				this.lifecycle.catchUp();
			}
			if (this.withRoles && this.presence != null && event instanceof PayloadApplicationEvent<?> carrier) {
				if (carrier.getPayload() instanceof LeadershipGainedEvent gained) {
					this.presence.gained(gained.role(), gained.term());
				}
				if (carrier.getPayload() instanceof LeadershipLostEvent lost) {
					this.presence.lost(lost.role());
				}
			}
		}

	}

}
