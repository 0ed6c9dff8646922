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

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockLifecycle}.
 */
class AdvisoryLockLifecycleTests {

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final CountDownLatch running = new CountDownLatch(1);

	@AfterEach
	void stopThreads() {
		this.threads.shutdownNow();
	}

	@Test
	void runThatEndsWithinThePhaseKeepsItsLockAndTheDataSource() throws Exception {
		ConfigurableApplicationContext context = start("30s");
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		CountDownLatch closing = new CountDownLatch(1);
		Future<Integer> job = run(context, () -> {
			closing.await();
			TestPostgres.query("SELECT pg_sleep(0.5)"); // the pool would be closed by now
			return jdbc.queryForObject("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", Integer.class);
		});
		context.addApplicationListener((event) -> closing.countDown());
		context.close();
		assertThat(job.get(5, TimeUnit.SECONDS)).isOne();
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@Test
	void runThatOutlastsThePhaseIsTold() throws Exception {
		ConfigurableApplicationContext context = start("200ms");
		Future<Throwable> job = run(context, () -> {
			try {
				new CountDownLatch(1).await();
				return null;
			}
			catch (InterruptedException ex) {
				return ex;
			}
		});
		context.close();
		assertThat(job).failsWithin(5, TimeUnit.SECONDS)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void contextThatIsClosedInsideARunDoesNotWaitForThatRun() throws Exception {
		ConfigurableApplicationContext context = start("60s");
		Future<Boolean> job = run(context, () -> {
			context.close();
			return true;
		});
		assertThat(job).failsWithin(30, TimeUnit.SECONDS)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockLostException.class);
	}

	private <T> Future<T> run(ConfigurableApplicationContext context, Callable<T> action) throws InterruptedException {
		AdvisoryLockOperations operations = context.getBean(AdvisoryLockOperations.class);
		Future<T> job = this.threads
			.submit(() -> operations.execute(LockRequest.of("job").scope(LockScope.SESSION), (lock) -> {
				this.running.countDown();
				return action.call();
			}).orElseThrow());
		assertThat(this.running.await(10, TimeUnit.SECONDS)).isTrue();
		return job;
	}

	private static ConfigurableApplicationContext start(String timeout) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + TestPostgres.url(),
					"spring.lifecycle.timeout-per-shutdown-phase=" + timeout, "spring.jpa.hibernate.ddl-auto=none",
					"spring.flyway.enabled=false", "spring.liquibase.enabled=false")
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
