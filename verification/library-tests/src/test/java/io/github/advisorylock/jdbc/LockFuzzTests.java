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

package io.github.advisorylock.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that counters without any synchronization of their own stay exact under the locks
 * of two applications, whose threads use both scopes.
 */
@Tag("slow")
class LockFuzzTests extends AbstractLockTests {

	private static final int THREADS = 8;

	private static final int CALLS = 150;

	private final Counter[] counters = { new Counter(), new Counter() };

	@Test
	void unsynchronizedCountersAreExactOverTwoApplications() throws Exception {
		usePool(TestPostgres.pool(THREADS));
		try (HikariDataSource otherPool = TestPostgres.pool(THREADS)) {
			PostgresAdvisoryLockTemplate other = createTemplate(otherPool, new JdbcTransactionManager(otherPool));
			List<Future<Integer>> executed = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				executed.add(this.threads.submit(() -> countUnderLocks(this.template)));
				executed.add(this.threads.submit(() -> countUnderLocks(other)));
			}
			int runs = 0;
			for (Future<Integer> each : executed) {
				runs += each.get(120, TimeUnit.SECONDS);
			}
			assertThat(runs).isEqualTo(2 * THREADS * CALLS);
			assertThat(this.counters[0].value + this.counters[1].value).isEqualTo(runs);
			assertThat(this.counters[0].overlaps + this.counters[1].overlaps).isZero();
		}
	}

	private int countUnderLocks(PostgresAdvisoryLockTemplate template) {
		int executed = 0;
		for (int i = 0; i < CALLS; i++) {
			int counter = ThreadLocalRandom.current().nextInt(this.counters.length);
			LockScope scope = LockScope.values()[ThreadLocalRandom.current().nextInt(2)];
			LockRequest request = LockRequest.of("counter-" + counter).scope(scope).waitFor(LONG.multipliedBy(6));
			if (template.execute(request, (lock) -> this.counters[counter].increment()).executed()) {
				executed++;
			}
		}
		return executed;
	}

	private static final class Counter {

		private int value;

		private int overlaps;

		private boolean inside;

		private int increment() {
			if (this.inside) {
				this.overlaps++;
			}
			this.inside = true;
			int before = this.value;
			Thread.yield();
			this.value = before + 1;
			this.inside = false;
			return this.value;
		}

	}

}
