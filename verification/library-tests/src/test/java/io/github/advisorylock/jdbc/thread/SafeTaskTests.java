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

package io.github.advisorylock.jdbc.thread;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SafeTask}.
 */
class SafeTaskTests {

	private final AtomicInteger done = new AtomicInteger();

	private final SafeTask task = new SafeTask("Failed, as expected", this.done::incrementAndGet);

	private final List<Runnable> accepted = new ArrayList<>();

	@Test
	void isDoneOnceForAllWhoAskBeforeItBegins() {
		this.task.handTo(this.accepted::add);
		this.task.handTo(this.accepted::add);
		assertThat(this.accepted).hasSize(1);
		this.accepted.get(0).run();
		this.task.handTo(this.accepted::add);
		assertThat(this.accepted).hasSize(2);
		assertThat(this.done).hasValue(1);
	}

	@Test
	void isAskedForAgainAfterARefusal() {
		this.task.handTo((task) -> {
			throw new RejectedExecutionException("expected");
		});
		this.task.handTo((task) -> {
			throw new OutOfMemoryError("expected");
		});
		this.task.handTo(this.accepted::add);
		assertThat(this.accepted).hasSize(1);
	}

}
