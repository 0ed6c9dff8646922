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
import java.time.Duration;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.annotation.SingleRunnerSettings.LedgerUse;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerMethodRegistry}: what a method costs where there are
 * thousands of others.
 */
class SingleRunnerMethodRegistryTests {

	private static final int BLOCK = 2000;

	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	private int created;

	/**
	 * Processor time, which other threads do not spoil, of one block beside that of
	 * another, after one that loads and compiles. Where each method is compared with all
	 * others, the last takes more than ten times what the first does.
	 */
	@Test
	void methodIsNotComparedWithAllOthers() {
		register(registry());
		SingleRunnerMethodRegistry registry = registry();
		long first = nanosOfBlock(registry);
		IntStream.range(0, 9).forEach((block) -> register(registry));
		long last = nanosOfBlock(registry);
		assertThat(registry.all()).hasSize(11 * BLOCK);
		assertThat(last).isLessThan(4 * first);
	}

	private long nanosOfBlock(SingleRunnerMethodRegistry registry) {
		long before = THREADS.getCurrentThreadCpuTime();
		register(registry);
		return THREADS.getCurrentThreadCpuTime() - before;
	}

	private void register(SingleRunnerMethodRegistry registry) {
		for (int i = 0; i < BLOCK; i++) {
			assertThat(registry.register("bean" + this.created++, Shared.class)).isTrue();
		}
	}

	private static SingleRunnerMethodRegistry registry() {
		SingleRunnerSettings settings = new SingleRunnerSettings("registry", AdvisoryLockKeyFactory.sha256(),
				Duration.ZERO, Duration.ZERO, LedgerUse.OFF, (key) -> null);
		return new SingleRunnerMethodRegistry(new AnnotatedMethodFinder(SingleRunner.class),
				new AnnotationSingleRunnerOperationSource(() -> settings, (text) -> text), (text) -> text);
	}

	static class Shared {

		@SingleRunner(key = "shared", allowSharedKey = true)
		void run() {
		}

	}

}
