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

package io.github.advisorylock.architecture;

import java.lang.StackWalker.Option;
import java.net.URL;
import java.security.CodeSource;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for how short the way from a call to its job is: how many frames of the library
 * stand between them, lambdas and proxies included.
 */
class CallPathTests {

	private static final long TRANSACTION = 7;

	private static final long SESSION = 7;

	private static final long RECORDED = 7;

	private static final URL LIBRARY = AdvisoryLockKey.class.getProtectionDomain().getCodeSource().getLocation();

	private static final StackWalker WALKER = StackWalker
		.getInstance(Set.of(Option.RETAIN_CLASS_REFERENCE, Option.SHOW_HIDDEN_FRAMES));

	@Test
	void jobIsFewFramesBelowItsCall() {
		LockContextRunner.create()
			.withPropertyValues("advisory-lock.ledger.initialize-schema=always")
			.withBean(Jobs.class)
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				keep("scope TRANSACTION", jobs.transaction(), TRANSACTION);
				keep("scope SESSION", jobs.session(), SESSION);
				Awaitility.await().atMost(Patience.TIME).until(() -> {
					jobs.tick(); // skipped until there is a tick after the first start
					return jobs.framesAboveTick() > 0;
				});
				keep("recorded run", jobs.framesAboveTick(), RECORDED);
			});
	}

	private static void keep(String call, long frames, long most) {
		assertThat(frames).as(call).isPositive();
		Bar.keep("Frames above a job, " + call, frames, most);
	}

	private static long framesOfLibrary() {
		return WALKER.walk((frames) -> frames.filter((frame) -> isOfLibrary(frame.getDeclaringClass())).count());
	}

	private static boolean isOfLibrary(Class<?> type) {
		CodeSource source = type.getProtectionDomain().getCodeSource();
		return source != null && LIBRARY.equals(source.getLocation());
	}

	static class Jobs {

		private long framesAboveTick;

		@SingleRunner(key = "call-path-transaction")
		Long transaction() {
			return framesOfLibrary();
		}

		@SingleRunner(key = "call-path-session", scope = LockScope.SESSION)
		Long session() {
			return framesOfLibrary();
		}

		@Scheduled(cron = "* * * * * *")
		@SingleRunner(key = "call-path-tick", once = Once.PER_TICK)
		void tick() {
			this.framesAboveTick = framesOfLibrary();
		}

		long framesAboveTick() {
			return this.framesAboveTick;
		}

	}

}
