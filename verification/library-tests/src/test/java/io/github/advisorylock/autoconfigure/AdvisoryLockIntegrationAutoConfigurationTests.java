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

import java.util.List;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.integration.AdvisoryLockIntegrationAutoConfiguration;
import io.github.advisorylock.integration.AdvisoryLockRegistry;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.PassThruLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisoryLockIntegrationAutoConfiguration}.
 */
class AdvisoryLockIntegrationAutoConfigurationTests {

	private static final AutoConfigurations CONFIGURATION = AutoConfigurations
		.of(AdvisoryLockIntegrationAutoConfiguration.class);

	private final ApplicationContextRunner runner = LockContextRunner.create().withConfiguration(CONFIGURATION);

	@Test
	void registryTakesLocksOfNamespaceUntilApplicationStops() {
		this.runner.run((context) -> {
			DistributedLock lock = context.getBean(AdvisoryLockRegistry.class).obtain("orders");
			lock.lock();
			assertThat(ForeignSession.isHeld(AdvisoryLockKey.of("test", "orders"))).isTrue();
		});
		Awaitility.await().until(() -> ForeignSession.isFree(AdvisoryLockKey.of("test", "orders")));
	}

	@Test
	void registryOfUserIsTheOnlyOne() {
		this.runner.withBean(LockRegistry.class, PassThruLockRegistry::new)
			.run((context) -> assertThat(context).hasSingleBean(LockRegistry.class)
				.hasSingleBean(PassThruLockRegistry.class));
	}

	@Test
	void threadsExcludeEachOtherWhereLocksAreSwitchedOff() {
		this.runner.withPropertyValues("advisory-lock.enabled=false")
			.run((context) -> assertThat(context).hasSingleBean(LockRegistry.class)
				.hasSingleBean(DefaultLockRegistry.class));
	}

	@Test
	void thereIsNoRegistryWithoutDatabase() {
		LockContextRunner.withoutDatabase()
			.withConfiguration(CONFIGURATION)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRegistry.class));
	}

	@Test
	@Tag("slow")
	void applicationWithoutSpringIntegrationStarts() throws Exception {
		List<String> beans = ReducedApplication.runWithout(Pattern.compile("spring-integration"));
		assertThat(beans).contains("advisoryLockOperations").doesNotContain("advisoryLockRegistry");
	}

}
