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

package io.github.advisorylock.interceptor;

import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link SingleRunnerInterceptor}: what it tells listeners.
 */
class SingleRunnerInterceptorTests {

	private final ApplicationContextRunner runner = LockContextRunner.create()
		.withBean(Jobs.class)
		.withBean(Listener.class);

	@Test
	void finishedRunIsPublishedOnceWithKeyScopeAndMethod() {
		this.runner.run((context) -> {
			context.getBean(Jobs.class).run(false);
			assertThat(context.getBean(Listener.class).finished()).singleElement().satisfies((event) -> {
				assertThat(event.key()).hasToString("test/job");
				assertThat(event.scope()).isEqualTo(LockScope.TRANSACTION);
				assertThat(event.method()).isEqualTo("Jobs.run");
				assertThat(event.failure()).isNull();
			});
		});
	}

	@Test
	void failedRunIsPublishedWithItsFailure() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(true));
			assertThat(context.getBean(Listener.class).finished()).singleElement()
				.extracting(SingleRunnerFinishedEvent::failure)
				.isInstanceOf(IllegalStateException.class);
		});
	}

	@Test
	void skippedRunIsPublishedWithItsReason() {
		this.runner.run((context) -> {
			try (ForeignSession lock = ForeignSession.holding(AdvisoryLockKey.of("test", "job"))) {
				context.getBean(Jobs.class).run(false);
			}
			assertThat(context.getBean(Listener.class).skipped()).containsExactly(new SingleRunnerSkippedEvent(
					AdvisoryLockKey.of("test", "job"), LockScope.TRANSACTION, "Jobs.run", LockOutcome.BUSY));
			assertThat(context.getBean(Listener.class).finished()).isEmpty();
		});
	}

	@Test
	void listenerThatFailsChangesNothing() {
		this.runner.withBean(FailingListener.class)
			.run((context) -> assertThat(context.getBean(Jobs.class).run(false)).isEqualTo("done"));
	}

	static class Jobs {

		@SingleRunner("job")
		String run(boolean fail) {
			if (fail) {
				throw new IllegalStateException("failed");
			}
			return "done";
		}

	}

	static class Listener {

		private final List<SingleRunnerFinishedEvent> finished = new ArrayList<>();

		private final List<SingleRunnerSkippedEvent> skipped = new ArrayList<>();

		@EventListener
		void onFinished(SingleRunnerFinishedEvent event) {
			this.finished.add(event);
		}

		@EventListener
		void onSkipped(SingleRunnerSkippedEvent event) {
			this.skipped.add(event);
		}

		List<SingleRunnerFinishedEvent> finished() {
			return this.finished;
		}

		List<SingleRunnerSkippedEvent> skipped() {
			return this.skipped;
		}

	}

	static class FailingListener {

		@EventListener
		void onFinished(SingleRunnerFinishedEvent event) {
			throw new IllegalStateException("listener");
		}

	}

}
