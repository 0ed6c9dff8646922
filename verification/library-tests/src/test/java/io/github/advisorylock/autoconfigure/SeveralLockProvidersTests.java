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

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.shedlock.AdvisoryLockProvider;
import io.github.advisorylock.shedlock.AdvisoryLockShedLockAutoConfiguration;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.LockProviderToUse;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockShedLockAutoConfiguration} where methods choose one of
 * several providers of locks.
 */
class SeveralLockProvidersTests {

	private static final String BOTH = "advisory-lock.shedlock.both-locks=true";

	private static final List<String> taken = new ArrayList<>();

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withConfiguration(AutoConfigurations.of(AdvisoryLockShedLockAutoConfiguration.class))
		.withUserConfiguration(LockingConfiguration.class);

	@Test
	void methodMayNameTheProviderOfAdvisoryLocks() {
		this.runner.withBean(OursByName.class).run((context) -> {
			assertThat(context.getBean(OursByName.class).isFree()).isFalse();
			try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "ours"))) {
				assertThat(context.getBean(OursByName.class).isFree()).isNull();
			}
		});
	}

	@Test
	void eachOfSeveralProvidersTakesBothLocks() {
		taken.clear();
		this.runner.withUserConfiguration(ProvidersConfiguration.class)
			.withBean(Chosen.class)
			.withPropertyValues(BOTH)
			.run((context) -> {
				assertThat(context.getBean(Chosen.class).first()).isFalse();
				assertThat(context.getBean(Chosen.class).second()).isFalse();
				assertThat(taken).containsExactly("first: chosen-first", "second: chosen-second");
				try (ForeignSession other = ForeignSession.holding(AdvisoryLockKey.of("test", "chosen-second"))) {
					assertThat(context.getBean(Chosen.class).second()).isNull();
				}
				assertThat(taken).hasSize(2);
			});
	}

	@Test
	void methodMayTakeTheAdvisoryLockOnlyBesideOthersThatTakeBoth() {
		taken.clear();
		this.runner.withUserConfiguration(ProvidersConfiguration.class)
			.withBean(OursByName.class)
			.withPropertyValues(BOTH)
			.run((context) -> {
				assertThat(context.getBean(OursByName.class).isFree()).isFalse();
				assertThat(taken).isEmpty();
				assertThat(context.getBean("advisoryLockProvider")).isInstanceOf(AdvisoryLockProvider.class);
			});
	}

	@Test
	void methodMayNameOneOfSeveralProvidersOfTheApplication() {
		taken.clear();
		this.runner.withUserConfiguration(ProvidersConfiguration.class).withBean(Chosen.class).run((context) -> {
			assertThat(context).doesNotHaveBean(AdvisoryLockProvider.class);
			assertThat(context.getBean(Chosen.class).second()).isTrue();
			assertThat(taken).containsExactly("second: chosen-second");
		});
	}

	@Test
	void providerThatWasMadeTooEarlyStopsTheStart() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.runner.withUserConfiguration(EarlyConfiguration.class).withPropertyValues(BOTH));
		assertThat(analysis.getDescription()).contains("'advisory-lock.shedlock.both-locks' has no effect", "[early]",
				"created too early");
		assertThat(analysis.getAction()).contains("not as a dependency of a BeanPostProcessor");
	}

	@Test
	void providerThatAPostProcessorGetsLazilyTakesBothLocks() {
		this.runner.withUserConfiguration(LaterConfiguration.class)
			.withPropertyValues(BOTH)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static LockProvider provider(String name) {
		return (configuration) -> {
			taken.add(name + ": " + configuration.getName());
			return Optional.of(() -> {
			});
		};
	}

	private static boolean isFree(String name) {
		return ForeignSession.isFree(AdvisoryLockKey.of("test", name));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class LockingConfiguration {

	}

	@Configuration(proxyBeanMethods = false)
	static class ProvidersConfiguration {

		@Bean
		LockProvider first() {
			return provider("first");
		}

		@Bean
		LockProvider second() {
			return provider("second");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyConfiguration {

		@Bean
		static LockProvider early() {
			return provider("early");
		}

		@Bean
		static BeanPostProcessor dependent(LockProvider early) {
			return new BeanPostProcessor() {

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LaterConfiguration {

		@Bean
		static LockProvider later() {
			return provider("later");
		}

		@Bean
		static BeanPostProcessor dependent(ObjectProvider<LockProvider> later) {
			return new BeanPostProcessor() {

			};
		}

	}

	static class OursByName {

		@LockProviderToUse("advisoryLockProvider")
		@SchedulerLock(name = "ours")
		Boolean isFree() {
			return SeveralLockProvidersTests.isFree("ours");
		}

	}

	static class Chosen {

		@LockProviderToUse("first")
		@SchedulerLock(name = "chosen-first")
		Boolean first() {
			return isFree("chosen-first");
		}

		@LockProviderToUse("second")
		@SchedulerLock(name = "chosen-second")
		Boolean second() {
			return isFree("chosen-second");
		}

	}

}
