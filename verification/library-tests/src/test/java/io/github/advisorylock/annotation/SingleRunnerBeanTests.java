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

package io.github.advisorylock.annotation;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.inherited.OpenJobs;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mockito.BDDMockito;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Lookup;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerAnnotationBeanPostProcessor}: beans of many kinds, each of
 * which is guarded.
 */
class SingleRunnerBeanTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("test", "job");

	private static final Supplier<Boolean> HELD = () -> ForeignSession.isHeld(KEY);

	@ParameterizedTest
	@MethodSource
	void beanIsGuarded(Class<?> configuration, Function<ApplicationContext, Boolean> call) {
		LockContextRunner.create().withUserConfiguration(configuration).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(call.apply(context)).isTrue();
			assertThat(call.apply(context)).isTrue();
			assertThat(HELD.get()).isFalse();
		});
	}

	static Stream<Arguments> beanIsGuarded() {
		return Stream.of(guarded(FullConfiguration.class, FullConfiguration.class, FullConfiguration::run),
				guarded(LiteConfiguration.class, LiteConfiguration.class, LiteConfiguration::run),
				guarded(DefaultMethodJobs.class, DefaultMethodJobs.class, DefaultMethodJobs::run),
				guarded(SubinterfaceJobs.class, Job.class, (jobs) -> jobs.run(HELD)),
				guarded(SubinterfaceJobs.class, SubinterfaceJobs.class, (jobs) -> jobs.run(HELD)),
				guarded(GenericJobs.class, GenericBase.class, SingleRunnerBeanTests::callGeneric),
				guarded(GenericJobs.class, GenericJobs.class, (jobs) -> jobs.run(HELD)),
				guarded(GenericInterfaceJobs.class, GenericInterface.class, SingleRunnerBeanTests::callGeneric),
				guarded(OpenJobs.class, OpenJobs.class, (jobs) -> jobs.apply(HELD)),
				guarded(ScopedJobs.class, ScopedJobs.class, ScopedJobs::run),
				guarded(LookupJobs.class, LookupJobs.class, LookupJobs::run),
				guarded(ProductConfiguration.class, Jobs.class, Jobs::run),
				guarded(AnonymousConfiguration.class, Job.class, (jobs) -> jobs.run(HELD)),
				guarded(LambdaConfiguration.class, BooleanJob.class, BooleanJob::run),
				guarded(JdkProxyConfiguration.class, Job.class, (jobs) -> jobs.run(HELD)),
				guarded(OpaqueConfiguration.class, Jobs.class, Jobs::run),
				guarded(TwiceProxiedConfiguration.class, TransactionalJobs.class, TransactionalJobs::run),
				guarded(TwiceProxiedConfiguration.class, TransactionalJobs.class, TransactionalJobs::session));
	}

	private static <T> Arguments guarded(Class<?> configuration, Class<T> type, Function<T, Boolean> call) {
		return Arguments.of(Named.of(configuration.getSimpleName() + " as " + type.getSimpleName(), configuration),
				(Function<ApplicationContext, Boolean>) (context) -> call.apply(context.getBean(type)));
	}

	@SuppressWarnings({ "rawtypes", "unchecked" })
	private static Boolean callGeneric(GenericInterface jobs) {
		return (Boolean) jobs.run(HELD);
	}

	@Test
	void objectThatIsCreatedForOthersIsGuardedEachTime() {
		LockContextRunner.create().run((context) -> {
			for (int i = 0; i < 3; i++) {
				assertThat(context.getAutowireCapableBeanFactory().createBean(Jobs.class).run()).isTrue();
			}
		});
	}

	@Test
	void mockThatStandsForBeanIsLeftAlone() {
		LockContextRunner.create()
			.withInitializer(
					(context) -> context.getBeanFactory().registerSingleton("jobs", BDDMockito.mock(Jobs.class)))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void prototypesAreReadOnceAndEachIsGuarded() {
		AtomicInteger read = new AtomicInteger();
		LockContextRunner.create()
			.withInitializer((context) -> context.getBeanFactory().addEmbeddedValueResolver((text) -> {
				read.addAndGet(text.equals("job") ? 1 : 0);
				return text;
			}))
			.withUserConfiguration(PrototypeConfiguration.class)
			.run((context) -> {
				List<Jobs> jobs = Stream.generate(() -> context.getBean(Jobs.class)).limit(50).toList();
				assertThat(jobs).hasSize(50)
					.doesNotHaveDuplicates()
					.allMatch(Jobs::run)
					.allMatch(Advised.class::isInstance);
				assertThat(read).hasValueLessThan(5);
				assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class).getMethods()).hasSize(1);
			});
	}

	@Configuration
	static class FullConfiguration {

		@Bean
		Object other() {
			return new Object();
		}

		@SingleRunner("job")
		Boolean run() {
			return HELD.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LiteConfiguration {

		@Bean
		static Object other() {
			return new Object();
		}

		@SingleRunner("job")
		protected Boolean run() {
			return HELD.get();
		}

	}

	interface DefaultMethod {

		@SingleRunner("job")
		default Boolean run() {
			return HELD.get();
		}

	}

	static class DefaultMethodJobs implements DefaultMethod {

	}

	interface Job {

		@SingleRunner("job")
		<T> T run(Supplier<T> work);

	}

	interface Subinterface extends Job {

	}

	static class SubinterfaceJobs implements Subinterface {

		@Override
		public <T> T run(Supplier<T> work) {
			return work.get();
		}

	}

	interface GenericInterface<W, R> {

		R run(W work);

	}

	abstract static class GenericBase<W, R> implements GenericInterface<W, R> {

		@Override
		@SingleRunner("job")
		public abstract R run(W work);

	}

	static class GenericJobs extends GenericBase<Supplier<Boolean>, Boolean> {

		@Override
		public Boolean run(Supplier<Boolean> work) {
			return work.get();
		}

	}

	static class GenericInterfaceJobs implements GenericInterface<Supplier<Boolean>, Boolean> {

		@Override
		@SingleRunner("job")
		public Boolean run(Supplier<Boolean> work) {
			return work.get();
		}

	}

	static class Jobs {

		@SingleRunner("job")
		Boolean run() {
			return HELD.get();
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedJobs extends Jobs {

	}

	abstract static class LookupJobs extends Jobs {

		@Lookup
		abstract ApplicationContext context();

	}

	static class TransactionalJobs {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@SingleRunner("job")
		Boolean run() {
			return HELD.get();
		}

		@Transactional
		@SingleRunner(key = "session", scope = LockScope.SESSION)
		Boolean session() {
			return ForeignSession.isHeld(AdvisoryLockKey.of("test", "session"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProductConfiguration {

		@Bean
		static FactoryBean<Jobs> jobs() {
			return new FactoryBean<>() {

				@Override
				public Jobs getObject() {
					return new Jobs();
				}

				@Override
				public Class<?> getObjectType() {
					return Jobs.class;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnonymousConfiguration {

		@Bean
		Job jobs() {
			return new Job() {

				@Override
				public <T> T run(Supplier<T> work) {
					return work.get();
				}

			};
		}

	}

	@FunctionalInterface
	interface BooleanJob {

		@SingleRunner("job")
		Boolean run();

	}

	@Configuration(proxyBeanMethods = false)
	static class LambdaConfiguration {

		@Bean
		BooleanJob jobs() {
			return () -> HELD.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JdkProxyConfiguration {

		@Bean
		Job jobs() {
			ProxyFactory factory = new ProxyFactory(new SubinterfaceJobs());
			factory.setProxyTargetClass(false);
			return (Job) factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OpaqueConfiguration {

		@Bean
		Jobs jobs() {
			ProxyFactory factory = new ProxyFactory(new Jobs());
			factory.setProxyTargetClass(true);
			factory.setOpaque(true);
			return (Jobs) factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwiceProxiedConfiguration {

		@Bean
		static DefaultAdvisorAutoProxyCreator autoProxyCreator() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setProxyTargetClass(true);
			return creator;
		}

		@Bean
		TransactionalJobs jobs() {
			return new TransactionalJobs();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeConfiguration {

		@Bean
		@Scope("prototype")
		Jobs jobs() {
			return new Jobs();
		}

	}

}
