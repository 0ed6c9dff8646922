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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.jdbc.LockLifecycle;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link AdvisoryLockAutoConfiguration} in contexts that have a parent.
 */
class ChildContextTests {

	private static final CountDownLatch STARTED = new CountDownLatch(1);

	@Test
	void callsOfChildWithSameAutoConfigurationExcludeThoseOfOthers() throws Exception {
		try (ConfigurableApplicationContext child = application().child(ChildApplication.class)
			.web(WebApplicationType.NONE)
			.run(); ConfigurableApplicationContext parent = (ConfigurableApplicationContext) child.getParent()) {
			assertThat(parent).isNotNull();
			assertThat(overlapping(child.getBean(Jobs.class))).isZero();
			assertThat(child.getBean(Jobs.class).session()).isTrue();
			try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "child"))) {
				assertThat(child.getBean(Jobs.class).run(new CountDownLatch(0))).isNull();
			}
		}
	}

	@Test
	void childSharesSessionAndOperationsAndHasItsOwnPostProcessor() {
		SpringApplicationBuilder parent = application();
		try (ConfigurableApplicationContext child = parent.child(ChildApplication.class)
			.web(WebApplicationType.NONE)
			.run()) {
			ConfigurableApplicationContext above = (ConfigurableApplicationContext) child.getParent();
			assertThat(above).isNotNull();
			assertThat(child.getBean(LockSession.class)).isSameAs(above.getBean(LockSession.class));
			assertThat(child.getBean(AdvisoryLockOperations.class))
				.isSameAs(above.getBean(AdvisoryLockOperations.class));
			assertThat(child.getBean(SingleRunnerAnnotationBeanPostProcessor.class))
				.isNotSameAs(above.getBean(SingleRunnerAnnotationBeanPostProcessor.class));
			assertThat(child.getBeanFactory().getBeanNamesForType(LockLifecycle.class)).isEmpty();
			child.close();
			assertThat(above.isActive()).isTrue();
			assertThat(above.getBean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("after").scope(LockScope.SESSION), (lock) -> "done")
				.value()).isEqualTo("done");
			above.close();
		}
	}

	@Test
	void childWithoutAutoConfigurationIsRefused() {
		try (ConfigurableApplicationContext parent = application().run();
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(Jobs.class);
			assertThatException().isThrownBy(child::refresh)
				.isInstanceOf(InvalidSingleRunnerException.class)
				.withMessageContaining("would run without a lock: its bean is in the child context");
		}
	}

	@Test
	void childWithoutAnnotatedMethodsIsLeftAlone() {
		try (ConfigurableApplicationContext parent = application().run();
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(Plain.class);
			child.refresh();
			assertThat(child.isActive()).isTrue();
		}
	}

	@Test
	void roleOfChildIsRefusedWhereItWouldNotBeObeyed() {
		try (ConfigurableApplicationContext parent = application().run();
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(Followers.class);
			assertThatException().isThrownBy(child::refresh)
				.isInstanceOf(InvalidSingleRunnerException.class)
				.withMessageContaining("would run on every instance: its bean is in the child context");
		}
	}

	private static SpringApplicationBuilder application() {
		return new SpringApplicationBuilder(ParentApplication.class).web(WebApplicationType.NONE)
			.properties("spring.application.name=test", "spring.main.banner-mode=off",
					"spring.datasource.url=" + TestPostgres.url(), "spring.datasource.hikari.maximum-pool-size=4",
					"spring.datasource.hikari.minimum-idle=0");
	}

	/**
	 * Let ten calls begin while one is under way, and count those that run too.
	 */
	private static int overlapping(Jobs jobs) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(2);
		int overlapping = 0;
		try {
			CountDownLatch end = new CountDownLatch(1);
			Future<Boolean> first = executor.submit(() -> jobs.run(end));
			assertThat(STARTED.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
			for (int i = 0; i < 10; i++) {
				overlapping += (jobs.run(new CountDownLatch(0)) != null) ? 1 : 0;
			}
			end.countDown();
			assertThat(first.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			executor.shutdownNow();
		}
		return overlapping;
	}

	@SpringBootConfiguration
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
			AdvisoryLockAutoConfiguration.class })
	static class ParentApplication {

	}

	@SpringBootConfiguration
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
			AdvisoryLockAutoConfiguration.class })
	static class ChildApplication {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

	}

	static class Jobs {

		@SingleRunner("child")
		Boolean run(CountDownLatch end) throws InterruptedException {
			STARTED.countDown();
			return end.await(Patience.SECONDS, TimeUnit.SECONDS);
		}

		@SingleRunner(key = "child-session", scope = LockScope.SESSION)
		Boolean session() {
			return ForeignSession.isHeld(AdvisoryLockKey.of("test", "child-session"));
		}

	}

	static class Followers {

		@LeaderOnly("child")
		void lead() {
		}

	}

	static class Plain {

	}

}
