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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerAnnotationBeanPostProcessor}: whoever registers methods of
 * beans, to call them later, gets the proxy.
 */
class SingleRunnerRawCallerTests {

	@Test
	void listenerContainerThatIsDefinedFirstWithLowestPrecedenceGetsProxy() {
		LockContextRunner.create().withUserConfiguration(Listening.class).run((context) -> {
			assertThat(context).hasNotFailed();
			Registrar registrar = context.getBean(Registrar.class);
			assertThat(registrar.jobs).hasSize(1).allMatch(Jobs::run).allMatch(Advised.class::isInstance);
		});
	}

	@Test
	void schedulerGetsProxyOfBeanThatPostProcessorDependsOn() {
		LockContextRunner.create().withUserConfiguration(Scheduling.class).run((context) -> {
			assertThat(context).hasNotFailed();
			ScheduledJobs jobs = context.getBean(ScheduledJobs.class);
			assertThat(jobs.done().await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			assertThat(jobs.locked()).containsOnly(true);
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Listening {

		@Bean
		static Registrar registrar() {
			return new Registrar();
		}

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

	}

	static class Jobs {

		@SingleRunner("job")
		Boolean run() {
			return LockContext.current().isPresent();
		}

	}

	/**
	 * Registers methods as those for messages do.
	 */
	static class Registrar implements BeanPostProcessor, Ordered {

		private final List<Jobs> jobs = new ArrayList<>();

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof Jobs registered) {
				this.jobs.add(registered);
			}
			return bean;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

		@Bean
		ScheduledJobs jobs() {
			return new ScheduledJobs();
		}

		@Bean
		static BeanPostProcessor dependent(ScheduledJobs jobs) {
			return new BeanPostProcessor() {
			};
		}

	}

	static class ScheduledJobs {

		private final CountDownLatch done = new CountDownLatch(2);

		private final List<Boolean> locked = new CopyOnWriteArrayList<>();

		@Scheduled(fixedDelay = 10)
		@SingleRunner("scheduled")
		void run() {
			this.locked.add(LockContext.current().isPresent());
			this.done.countDown();
		}

		CountDownLatch done() {
			return this.done;
		}

		List<Boolean> locked() {
			return List.copyOf(this.locked);
		}

	}

}
