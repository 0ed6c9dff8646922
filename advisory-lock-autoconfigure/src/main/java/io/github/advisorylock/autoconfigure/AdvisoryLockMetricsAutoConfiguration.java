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

import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.TimeLimit;
import io.github.advisorylock.leader.LeaderOnlyMethods;
import io.github.advisorylock.metrics.DefaultLockExecutionObservationConvention;
import io.github.advisorylock.metrics.LockExecutionObservationConvention;
import io.github.advisorylock.metrics.MicrometerSingleRunnerObserver;
import io.github.advisorylock.monitor.DatabaseClock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationPredicate;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for meters and observations of
 * advisory locks.
 *
 * @since 0.1.0
 */
@Lazy
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnClass({ MeterRegistry.class, ObservationRegistry.class })
@ConditionalOnBean({ MeterRegistry.class, PostgresAdvisoryLockTemplate.class })
public final class AdvisoryLockMetricsAutoConfiguration {

	private static final String TAG = "database";

	private static final String CUSTOMIZER = "org.springframework.boot.micrometer.observation.autoconfigure."
			+ "ObservationRegistryCustomizer";

	private static final List<String> OBSERVATION_PROPERTIES = List.of("management.observations.enable",
			"management.observations.key-values", "management.metrics.observations");

	/**
	 * Unlike other observations, those of skips are made only if they are switched on.
	 */
	private static final String OBSERVE_SKIPS = "management.observations.enable.advisory.lock.skip";

	@Bean
	@ConditionalOnMissingBean(SingleRunnerObserver.class)
	MicrometerSingleRunnerObserver advisoryLockSingleRunnerObserver(MeterRegistry meters,
			ObjectProvider<ObservationRegistry> observations,
			ObjectProvider<LockExecutionObservationConvention> convention, ConfigurableListableBeanFactory beans,
			Environment environment) {
		Binder binder = Binder.get(environment);
		return new MicrometerSingleRunnerObserver(meters,
				mayAnybodyListen(beans, binder) ? observations.getIfUnique(() -> ObservationRegistry.NOOP)
						: ObservationRegistry.NOOP,
				convention.getIfAvailable(DefaultLockExecutionObservationConvention::new),
				binder.bind(OBSERVE_SKIPS, Boolean.class).orElse(false));
	}

	/**
	 * To observe a run costs several times what its meters cost, so it is done where it
	 * makes a difference: for a handler that is not for meters, and for whatever else an
	 * application has that is about observations.
	 */
	private static boolean mayAnybodyListen(ConfigurableListableBeanFactory beans, Binder binder) {
		ClassLoader classLoader = beans.getBeanClassLoader();
		return beans.getBeanProvider(ObservationHandler.class)
			.stream()
			.anyMatch((handler) -> !(handler instanceof MeterObservationHandler))
				|| Stream
					.of(ObservationRegistry.class, ObservationFilter.class, ObservationPredicate.class,
							LockExecutionObservationConvention.class)
					.flatMap((type) -> Arrays.stream(beans.getBeanNamesForType(type)))
					.anyMatch((name) -> !isAutoConfigured(beans, name))
				|| (ClassUtils.isPresent(CUSTOMIZER, classLoader)
						&& beans.getBeanNamesForType(ClassUtils.resolveClassName(CUSTOMIZER, classLoader)).length > 0)
				|| OBSERVATION_PROPERTIES.stream()
					.anyMatch((prefix) -> binder.bind(prefix, Bindable.mapOf(String.class, Object.class)).isBound());
	}

	private static boolean isAutoConfigured(ConfigurableListableBeanFactory beans, String name) {
		String configuration = beans.getMergedBeanDefinition(name).getFactoryBeanName();
		return configuration != null && beans.findAnnotationOnBean(configuration, AutoConfiguration.class) != null;
	}

	/**
	 * Registers the meters of methods once these are known.
	 */
	@Bean
	@ConditionalOnBean(MicrometerSingleRunnerObserver.class)
	MethodMeters advisoryLockSingleRunnerMeters(SingleRunnerAnnotationBeanPostProcessor postProcessor,
			MicrometerSingleRunnerObserver observer, ConfigurableApplicationContext context) {
		return new MethodMeters(postProcessor, observer, context);
	}

	@Bean
	DatabaseMeters advisoryLockDatabaseMeters(MeterRegistry meters, LockScheduler.Threads threads) {
		return new DatabaseMeters(meters, threads);
	}

	@Bean
	RoleMeters advisoryLockRoleMeters(MeterRegistry meters, LeaderOnlyMethods roles,
			ObjectProvider<LeaderElection> election) {
		return new RoleMeters(meters, roles, election);
	}

	/**
	 * Registers the meters of methods, and counts the locks that are lost.
	 */
	record MethodMeters(SingleRunnerAnnotationBeanPostProcessor postProcessor, MicrometerSingleRunnerObserver observer,
			ConfigurableApplicationContext context)
			implements
				LockStartup,
				ApplicationListener<PayloadApplicationEvent<LockLostEvent>> {

		@Override
		public void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
			this.context.addApplicationListener(this);
			this.postProcessor.getMethods().forEach((method) -> {
				AdvisoryLockKey key = method.fixedKey();
				this.observer.register(method.operation(),
						(key != null) ? key : AdvisoryLockKey.of(method.operation().keyTemplate()));
			});
		}

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<LockLostEvent> event) {
			this.observer.lost(event.getPayload());
		}

	}

	/**
	 * Registers which roles are led.
	 */
	record RoleMeters(MeterRegistry meters, LeaderOnlyMethods roles,
			ObjectProvider<LeaderElection> election) implements LockStartup {

		@Override
		public void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
			this.roles.getRoles()
				.stream()
				.sorted()
				.forEach((role) -> Gauge
					.builder("advisory.lock.leader", () -> this.election.getObject().isLeader(role) ? 1 : 0)
					.description("Whether this instance leads the role")
					.tag("role", role)
					.register(this.meters));
		}

	}

	/**
	 * Registers what is not of one method: locks held, and how far the clocks are apart,
	 * for each database where there are several. What one name is registered for must
	 * have the same tags from the start.
	 */
	record DatabaseMeters(MeterRegistry meters, LockScheduler.Threads threads) implements LockStartup {

		@Override
		public void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
			for (LockDatabase database : databases.all()) {
				PostgresAdvisoryLockTemplate template = database.template().get();
				if (template != null) {
					register(template::getHeldLocks, clockOf(database, databases),
							databases.areSeveral() ? Tags.of(TAG, database.name()) : Tags.empty());
				}
			}
		}

		/**
		 * A database that has no locks is not asked for its time.
		 */
		private DoubleSupplier clockOf(LockDatabase database, LockDatabases databases) {
			DatabaseClock clock = new DatabaseClock(database.dataSource(), new TimeLimit(this.threads));
			return () -> databases.isNamed(database) ? clock.getAsDouble() : Double.NaN;
		}

		private void register(Supplier<Number> held, DoubleSupplier clock, Tags tags) {
			Gauge.builder("advisory.lock.held", held)
				.description("Locks that this instance holds")
				.tags(tags)
				.register(this.meters);
			Gauge.builder("advisory.lock.clock.skew", clock::getAsDouble)
				.description("By how much the clock of the database is ahead of that of this instance")
				.baseUnit("seconds")
				.tags(tags)
				.register(this.meters);
		}

	}

}
