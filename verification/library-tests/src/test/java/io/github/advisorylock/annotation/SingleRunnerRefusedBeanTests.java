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

import java.lang.reflect.Proxy;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.inherited.ForeignBase;
import io.github.advisorylock.annotation.repository.Person;
import io.github.advisorylock.testsupport.LockContextRunner;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerAnnotationBeanPostProcessor}: beans whose methods would be
 * called past their lock, with which no application starts.
 */
@Tag("gate")
class SingleRunnerRefusedBeanTests {

	@ParameterizedTest
	@MethodSource
	void beanIsRefused(Class<?> configuration, String problem, String action) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(LockContextRunner.create().withUserConfiguration(configuration));
		assertThat(analysis.getDescription()).contains("@SingleRunner method '").contains(problem);
		assertThat(analysis.getAction()).contains(action);
	}

	static Stream<Arguments> beanIsRefused() {
		String itself = "would run without a lock: the container calls it on the bean itself, not on its proxy ";
		String forInterface = "would run without a lock: its bean is a proxy that was made for an interface";
		return Stream.of(Arguments.of(PostConstructJobs.class, itself + "(@PostConstruct)", "ApplicationReadyEvent"),
				Arguments.of(PreDestroyJobs.class, itself + "(@PreDestroy)", "that others call"),
				Arguments.of(InitializingJobs.class, itself + "(InitializingBean)", "ApplicationReadyEvent"),
				Arguments.of(DisposableJobs.class, itself + "(DisposableBean)", "that others call"),
				Arguments.of(InitMethodConfiguration.class, itself + "(init method)", "ApplicationReadyEvent"),
				Arguments.of(DestroyMethodConfiguration.class, itself + "(destroy method)", "that others call"),
				Arguments.of(InferredConfiguration.class, itself + "(destroy method)", "that others call"),
				Arguments.of(CloseableJobs.class, itself + "(destroy method)", "that others call"),
				Arguments.of(AutowiredJobs.class, itself + "(@Autowired)", "that others call"),
				Arguments.of(AwareJobs.class, itself + "(BeanNameAware)", "that others call"),
				Arguments.of(BeanMethodConfiguration.class, itself + "(@Bean)", "that others call"),
				Arguments.of(ForeignPackageJobs.class, "it can be seen in the package of its class only", "public"),
				Arguments.of(RecordConfiguration.class, "no proxy can be made of its class", "neither final"),
				Arguments.of(SealedConfiguration.class, "no proxy can be made of its class", "neither final"),
				Arguments.of(PlainProxyConfiguration.class, forInterface, "Annotate a method of the service"),
				Arguments.of(NoTargetConfiguration.class, forInterface, "Annotate a method of the service"),
				Arguments.of(TerminalConfiguration.class, forInterface, "Annotate a method of the service"),
				Arguments.of(LazyProductConfiguration.class, forInterface, "Annotate a method of the service"),
				Arguments.of(FrozenConfiguration.class, "its bean is a frozen proxy", "not freeze"),
				Arguments.of(StaticInterfaceJobs.class, "must not be static", "Remove the modifier"));
	}

	@Test
	void methodOfSpringDataRepositoryIsRefused() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.create()
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class,
					DataJpaRepositoriesAutoConfiguration.class))
			.withUserConfiguration(RepositoryConfiguration.class));
		assertThat(analysis.getDescription()).contains("@SingleRunner method 'deleteByName'")
			.contains("Spring Data repositories");
		assertThat(analysis.getAction()).isEqualTo("Annotate a method of the service that calls it.");
	}

	@Test
	void objectThatIsRegisteredReadyMadeIsRefused() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.create()
			.withInitializer((context) -> context.getBeanFactory().registerSingleton("jobs", new Jobs())));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'jobs'", "registered ready-made");
	}

	private static MethodInterceptor terminal() {
		return (invocation) -> (invocation.getMethod().getDeclaringClass() == Job.class) ? "done"
				: invocation.proceed();
	}

	private static ExtendedJob jobWithoutTarget() {
		return (ExtendedJob) new ProxyFactory(ExtendedJob.class, terminal()).getProxy();
	}

	static class Jobs {

		@SingleRunner("job")
		void run() {
		}

	}

	static class PostConstructJobs {

		@PostConstruct
		@SingleRunner("job")
		void run() {
		}

	}

	static class PreDestroyJobs {

		@PreDestroy
		@SingleRunner("job")
		void run() {
		}

	}

	interface Initialized extends InitializingBean {

	}

	static class InitializingJobs implements Initialized {

		@Override
		@SingleRunner("job")
		public void afterPropertiesSet() {
		}

	}

	static class DisposableJobs implements DisposableBean {

		@Override
		@SingleRunner("job")
		public void destroy() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InitMethodConfiguration {

		@Bean(initMethod = "run")
		Jobs jobs() {
			return new Jobs();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DestroyMethodConfiguration {

		@Bean(destroyMethod = "run")
		Jobs jobs() {
			return new Jobs();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InferredConfiguration {

		@Bean
		Shutdown jobs() {
			return new Shutdown();
		}

	}

	public static class Shutdown {

		@SingleRunner("job")
		public void shutdown() {
		}

	}

	static class CloseableJobs implements AutoCloseable {

		@Override
		@SingleRunner("job")
		public void close() {
		}

	}

	static class AutowiredJobs {

		@Autowired
		@SingleRunner("job")
		void run(ApplicationContext context) {
		}

	}

	static class AwareJobs implements BeanNameAware {

		@Override
		@SingleRunner("job")
		public void setBeanName(String name) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BeanMethodConfiguration {

		@Bean
		@SingleRunner("job")
		Object product() {
			return new Object();
		}

	}

	static class ForeignPackageJobs extends ForeignBase {

	}

	@Configuration(proxyBeanMethods = false)
	static class RecordConfiguration {

		@Bean
		RecordJobs jobs() {
			return new RecordJobs("jobs");
		}

	}

	record RecordJobs(String name) {

		@SingleRunner("job")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SealedConfiguration {

		@Bean
		SealedJobs jobs() {
			return new SealedJobs();
		}

	}

	static sealed class SealedJobs permits SealedSubclass {

		@SingleRunner("job")
		void run() {
		}

	}

	static final class SealedSubclass extends SealedJobs {

	}

	interface Job {

		@SingleRunner("job")
		Object run();

	}

	interface ExtendedJob extends Job {

	}

	@Configuration(proxyBeanMethods = false)
	static class PlainProxyConfiguration {

		@Bean
		Job jobs() {
			return (Job) Proxy.newProxyInstance(Job.class.getClassLoader(), new Class<?>[] { Job.class },
					(proxy, method, arguments) -> "done");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NoTargetConfiguration {

		@Bean
		ExtendedJob jobs() {
			return jobWithoutTarget();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TerminalConfiguration {

		@Bean
		ExtendedJob jobs() {
			ProxyFactory factory = new ProxyFactory(new Object());
			factory.addInterface(ExtendedJob.class);
			factory.addAdvice(terminal());
			return (ExtendedJob) factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyProductConfiguration {

		@Bean
		static FactoryBean<ExtendedJob> jobs() {
			return new FactoryBean<>() {

				@Override
				public ExtendedJob getObject() {
					return jobWithoutTarget();
				}

				@Override
				public Class<?> getObjectType() {
					return ExtendedJob.class;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FrozenConfiguration {

		@Bean
		Jobs jobs() {
			ProxyFactory factory = new ProxyFactory(new Jobs());
			factory.setProxyTargetClass(true);
			factory.setFrozen(true);
			return (Jobs) factory.getProxy();
		}

	}

	interface StaticInterface {

		@SingleRunner("job")
		static void run() {
		}

	}

	static class StaticInterfaceJobs implements StaticInterface {

	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = Person.class)
	@EnableJpaRepositories(basePackageClasses = Person.class)
	static class RepositoryConfiguration {

	}

}
