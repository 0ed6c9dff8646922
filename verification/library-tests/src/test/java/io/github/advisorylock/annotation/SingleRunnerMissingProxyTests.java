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

import io.github.advisorylock.LockContext;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerAnnotationBeanPostProcessor}: beans with an annotated
 * method that end up without a proxy are found at start-up.
 */
class SingleRunnerMissingProxyTests {

	private final ApplicationContextRunner circular = LockContextRunner.create().withAllowCircularReferences(true);

	@Test
	void beanThatPostProcessorDependsOnIsNamed() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(LockContextRunner.create().withUserConfiguration(TooEarly.class));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'jobs'")
			.contains("would run without a lock: its bean was created too early to get a proxy");
		assertThat(analysis.getAction()).contains("BeanPostProcessor", "@Lazy");
	}

	@Test
	void beanOfJdkProxyWithMethodOutsideInterfaceIsNamed() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.create()
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean("jobs", HalfHidden.class));
		assertThat(analysis.getDescription()).contains("method 'other'", "on bean 'jobs'", "JDK proxy");
		assertThat(analysis.getAction()).contains("interface", "spring.aop.proxy-target-class");
	}

	@Test
	void circleIsNamedWhenOthersGetTheBeanTooEarly() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.circular.withBean("jobs", CircularJobs.class).withBean("other", Other.class));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'jobs'", "circle");
		assertThat(analysis.getAction()).contains("@Lazy");
	}

	@Test
	void circleIsFineWhenTheBeanHasItsProxyInTime() {
		this.circular.withBean("other", Other.class).withBean("jobs", CircularJobs.class).run((context) -> {
			assertThat(context.getBean(Jobs.class)).isInstanceOf(Advised.class);
			assertThat(context.getBean(Other.class).jobs).isSameAs(context.getBean(Jobs.class));
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { SelfReferring.class, TransactionalSelfReferring.class })
	void beanThatRefersToItselfIsNamed(Class<?> type) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(this.circular.withBean("jobs", type));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'jobs'", "circle");
		assertThat(analysis.getAction()).contains("@Lazy");
	}

	@Test
	void circleOfAnnotatedBeansIsNamed() {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(this.circular.withBean("one", First.class).withBean("two", Second.class));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'one'", "circle");
	}

	@Test
	void lazyReferenceToItselfIsProxied() {
		LockContextRunner.create().withBean(LazilySelfReferring.class).run((context) -> {
			LazilySelfReferring jobs = context.getBean(LazilySelfReferring.class);
			assertThat(jobs.selfIsLocked()).isTrue();
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class TooEarly {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		static Early early(Jobs jobs) {
			return new Early();
		}

	}

	static class Jobs {

		@SingleRunner("job")
		void run() {
		}

	}

	static class Early implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class HalfHidden implements Runnable {

		@Override
		@SingleRunner("job")
		public void run() {
		}

		@SingleRunner("other")
		void other() {
		}

	}

	static class CircularJobs extends Jobs {

		@Autowired
		private Other other;

	}

	static class Other {

		@Autowired
		private Jobs jobs;

	}

	static class SelfReferring {

		@Autowired
		private SelfReferring self;

		@SingleRunner("job")
		void run() {
		}

	}

	static class TransactionalSelfReferring {

		@Autowired
		private TransactionalSelfReferring self;

		@Transactional
		@SingleRunner("job")
		void run() {
		}

	}

	static class First {

		@Autowired
		private Second second;

		@SingleRunner("first")
		void run() {
		}

	}

	static class Second {

		@Autowired
		private First first;

		@SingleRunner("second")
		void run() {
		}

	}

	static class LazilySelfReferring {

		@Autowired
		@Lazy
		private LazilySelfReferring self;

		boolean selfIsLocked() {
			return this.self.isLocked();
		}

		@SingleRunner(key = "job", whenBusy = WhenBusy.FAIL)
		boolean isLocked() {
			return LockContext.current().isPresent();
		}

	}

}
