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

package io.github.advisorylock.shedlock;

import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockProperties;
import io.github.advisorylock.autoconfigure.LockUse;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.ExtendedLockConfigurationExtractor;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for ShedLock on advisory locks. The
 * start of an application whose ShedLock is too old for that is refused where it is used;
 * no class of ours that needs a newer one is loaded then.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class,
		afterName = "io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration")
@ConditionalOnClass(LockProvider.class)
@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.enabled", matchIfMissing = true)
@ConditionalOnBean(AdvisoryLockOperations.class)
@EnableConfigurationProperties(AdvisoryLockShedLockProperties.class)
public final class AdvisoryLockShedLockAutoConfiguration {

	private static final String PROVIDER = "advisoryLockProvider";

	private static Supplier<@Nullable RunLedger> ledger(ObjectProvider<RunLedger> ledger,
			AdvisoryLockProperties properties) {
		return () -> properties.enabled() ? ledger.getIfAvailable() : null;
	}

	private static boolean isProvided(ConfigurableListableBeanFactory beans) {
		return beans.containsBean(PROVIDER);
	}

	/**
	 * Advisory locks instead of others.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(ShedLockVersionCondition.Current.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.both-locks", havingValue = false,
			matchIfMissing = true)
	@ConditionalOnMissingBean(LockProvider.class)
	static class OneLockConfiguration {

		@Lazy
		@Bean(PROVIDER)
		AdvisoryLockProvider advisoryLockProvider(AdvisoryLockOperations operations, ObjectProvider<RunLedger> ledger,
				AdvisoryLockProperties properties, ApplicationEventPublisher eventPublisher,
				LockScheduler.Threads threads) {
			return new AdvisoryLockProvider(operations, ledger(ledger, properties), eventPublisher::publishEvent,
					threads);
		}

	}

	/**
	 * Advisory locks beside others. ShedLock takes the only provider that can be a
	 * candidate.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(ShedLockVersionCondition.Current.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.both-locks")
	static class BothLocksConfiguration {

		@Lazy
		@Bean(name = PROVIDER, autowireCandidate = false)
		AdvisoryLockProvider advisoryLockProvider(AdvisoryLockOperations operations, ObjectProvider<RunLedger> ledger,
				AdvisoryLockProperties properties, ApplicationEventPublisher eventPublisher,
				LockScheduler.Threads threads) {
			return new AdvisoryLockProvider(operations, ledger(ledger, properties), eventPublisher::publishEvent,
					threads);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static BothLocksPostProcessor advisoryLockBothLocksPostProcessor(ListableBeanFactory beanFactory) {
			return new BothLocksPostProcessor(() -> beanFactory.getBean(PROVIDER, AdvisoryLockProvider.class),
					beanFactory);
		}

	}

	/**
	 * Locks that code takes.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(ShedLockVersionCondition.Current.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
	static class CodeConfiguration {

		@Bean
		LockUse advisoryLockProviderUse(ConfigurableListableBeanFactory beanFactory) {
			return () -> isInjected(beanFactory) ? Set.of(LockScope.SESSION) : Set.of();
		}

		@Bean
		SmartInitializingSingleton advisoryLockProvidedLockCheck(ConfigurableListableBeanFactory beanFactory) {
			return () -> {
				if (isInjected(beanFactory)) {
					beanFactory.getBean(PROVIDER, AdvisoryLockProvider.class).checkKeptKeys();
				}
			};
		}

		private static boolean isInjected(ConfigurableListableBeanFactory beans) {
			return isProvided(beans)
					&& LockUse.isInjected(beans, beans.getBeanNamesForType(LockProvider.class, true, false));
		}

	}

	/**
	 * Annotations of a ShedLock that can't take its locks here.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(ShedLockVersionCondition.OldAnnotated.class)
	@ConditionalOnMissingBean(LockProvider.class)
	static class OldAnnotationConfiguration {

		OldAnnotationConfiguration() {
			throw ShedLockVersionCondition.tooOld();
		}

	}

	/**
	 * Both locks, with a ShedLock that can't take its locks here.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(ShedLockVersionCondition.Old.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.shedlock.both-locks")
	static class OldBothLocksConfiguration {

		OldBothLocksConfiguration() {
			throw ShedLockVersionCondition.tooOld();
		}

	}

	/**
	 * What is annotated.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(ShedLockVersionCondition.Current.class)
	@ConditionalOnClass(ExtendedLockConfigurationExtractor.class)
	@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
	static class AnnotationConfiguration {

		@Bean
		SchedulerLockMethods advisoryLockSchedulerLockMethods(ConfigurableListableBeanFactory beanFactory) {
			return new SchedulerLockMethods(beanFactory);
		}

		@Bean
		LockUse advisoryLockSchedulerLockUse(SchedulerLockMethods methods,
				ConfigurableListableBeanFactory beanFactory) {
			return new SchedulerLockUse(methods, () -> isProvided(beanFactory));
		}

		@Bean
		@ConditionalOnBean(ExtendedLockConfigurationExtractor.class)
		SmartInitializingSingleton advisoryLockAtLeastForCheck(SchedulerLockMethods methods,
				ObjectProvider<RunLedger> ledger, AdvisoryLockProperties properties,
				ExtendedLockConfigurationExtractor times) {
			return methods.lockAtLeastForCheck(ledger(ledger, properties), times);
		}

	}

	/**
	 * The methods with {@code @SchedulerLock}.
	 */
	private record SchedulerLockUse(SchedulerLockMethods methods, BooleanSupplier provided) implements LockUse {

		@Override
		public Set<LockScope> scopes() {
			return (this.provided.getAsBoolean() && this.methods.areGuarded()) ? Set.of(LockScope.SESSION) : Set.of();
		}

		@Override
		public List<String> unguarded() {
			return this.methods.unguarded();
		}

	}

}
