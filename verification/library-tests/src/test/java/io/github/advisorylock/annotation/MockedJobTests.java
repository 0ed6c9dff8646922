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

import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.BDDMockito;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;

/**
 * Tests for applications whose tests have mocks in the place of beans. Their contexts,
 * which Spring would keep, have names of instances that later tests expect for theirs.
 */
@Tag("slow")
@DirtiesContext
class MockedJobTests {

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry registry) {
		registry.add("spring.datasource.url", TestPostgres::url);
	}

	@Test
	void mockThatIsNotStubbedSaysSo() {
		LockContextRunner.create()
			.withBean(AdvisoryLockOperations.class, () -> BDDMockito.mock(AdvisoryLockOperations.class))
			.withUserConfiguration(ScheduledJob.class)
			.run((context) -> assertThatIllegalStateException()
				.isThrownBy(() -> context.getBean(ScheduledJob.class).run())
				.withMessageContaining("A mock has to return a LockResult"));
	}

	@Nested
	@SpringBootTest(classes = Application.class)
	class MockitoBeanOfJob {

		@MockitoBean
		private ScheduledJob job;

		@MockitoBean
		private LeaderJob leaderJob;

		@Test
		void replacesIt() {
			given(this.job.run()).willReturn("mocked");
			assertThat(this.job.run()).isEqualTo("mocked");
			then(this.leaderJob).shouldHaveNoInteractions();
		}

	}

	@Nested
	@SpringBootTest(classes = Application.class, properties = "advisory-lock.enabled=false")
	class MockitoBeanOfJobWithoutLocks {

		@MockitoBean
		private ScheduledJob job;

		@Test
		void replacesIt() {
			given(this.job.run()).willReturn("mocked");
			assertThat(this.job.run()).isEqualTo("mocked");
		}

	}

	@Nested
	@SpringBootTest(classes = { Application.class, PrimaryMockOfJob.Mocks.class })
	class PrimaryMockOfJob {

		@Autowired
		private ScheduledJob job;

		@Test
		void standsBesideIt() {
			assertThat(Mockito.mockingDetails(this.job).isMock()).isTrue();
			assertThat(this.job.run()).isNull();
		}

		@Configuration(proxyBeanMethods = false)
		static class Mocks {

			@Bean
			@Primary
			ScheduledJob mockedJob() {
				return BDDMockito.mock(ScheduledJob.class);
			}

		}

	}

	@Nested
	@SpringBootTest(classes = Application.class)
	class MockitoSpyBeanOfJob {

		@MockitoSpyBean
		private ScheduledJob job;

		@Autowired
		private Caller caller;

		@Test
		void isGuarded() {
			assertThat(this.caller.call()).isEqualTo("held: true");
			then(this.job).should().run();
		}

	}

	@Nested
	@SpringBootTest(classes = Application.class)
	class MockitoBeanOfOperations {

		@MockitoBean
		private AdvisoryLockOperations operations;

		@Autowired
		private Caller caller;

		@Test
		void replacesThem() throws Exception {
			given(this.operations.execute(any(LockRequest.class), any())).willReturn(LockResult.executed("stubbed"));
			assertThat(this.caller.call()).isEqualTo("stubbed");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class, AdvisoryLockAutoConfiguration.class,
			AdvisoryLockLedgerAutoConfiguration.class })
	@Import({ ScheduledJob.class, LeaderJob.class, Caller.class })
	static class Application {

	}

	@Component
	static class ScheduledJob {

		private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("mocked-job");

		@Scheduled(cron = "0 0 4 * * *")
		@SingleRunner("mocked-job")
		String run() {
			return "held: " + ForeignSession.isHeld(KEY);
		}

	}

	@Component
	static class LeaderJob {

		@Scheduled(cron = "0 0 4 * * *")
		@LeaderOnly("mocked")
		void run() {
		}

	}

	@Component
	static class Caller {

		private final Supplier<String> job;

		Caller(ScheduledJob job) {
			this.job = job::run;
		}

		String call() {
			return this.job.get();
		}

	}

}
