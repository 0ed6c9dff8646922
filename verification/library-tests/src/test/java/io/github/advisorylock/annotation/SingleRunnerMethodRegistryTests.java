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

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.annotation.SingleRunnerSettings.LedgerUse;
import org.aopalliance.aop.Advice;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerMethodRegistry}: what a method costs where there are
 * thousands of others.
 */
class SingleRunnerMethodRegistryTests {

	private static final int METHODS = 20_000;

	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	/**
	 * Processor time, which other threads do not spoil, of many methods in one registry
	 * beside as many in a hundred. Where each method is compared with all others, the one
	 * takes seconds, and nearly a hundred times what the others take. The clock may tick
	 * in hundredths of a second, of which some are forgiven.
	 */
	@Test
	void methodIsNotComparedWithAllOthers() {
		Duration apart = processorTime(
				() -> IntStream.range(0, 100).forEach((i) -> register(registry(), METHODS / 100)));
		SingleRunnerMethodRegistry registry = registry();
		Duration together = processorTime(() -> register(registry, METHODS));
		assertThat(registry.all()).hasSize(METHODS);
		assertThat(together).isLessThan(apart.multipliedBy(3).plusMillis(200));
	}

	private static Duration processorTime(Runnable runnable) {
		long before = THREADS.getCurrentThreadCpuTime();
		runnable.run();
		return Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - before);
	}

	private static void register(SingleRunnerMethodRegistry registry, int methods) {
		List<Method> shared = List.of(Shared.class.getDeclaredMethods());
		for (int i = 0; i < methods; i++) {
			registry.register("bean" + i, Shared.class, shared);
		}
	}

	private static SingleRunnerMethodRegistry registry() {
		SingleRunnerSettings settings = new SingleRunnerSettings("registry", AdvisoryLockKeyFactory.sha256(),
				Duration.ZERO, Duration.ZERO, LedgerUse.OFF, (type) -> null, (key) -> null);
		return new SingleRunnerMethodRegistry(new AnnotationSingleRunnerOperationSource(() -> settings, (text) -> text),
				new Advice() {
				});
	}

	static class Shared {

		@SingleRunner(key = "shared", allowSharedKey = true)
		void run() {
		}

	}

}
