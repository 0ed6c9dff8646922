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

package io.github.advisorylock.actuate.page;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link WaitGraph}.
 */
class WaitGraphTests {

	@Test
	void locksThatNobodyWaitsForAreNoChain() {
		assertThat(text(lock("report", 1))).contains("Nobody waits.");
	}

	@Test
	void chainIsDrawnFromWhoHoldsUpTheOthers() {
		String drawn = text(lock("report", 1, 2), lock("export", 2, 3));
		assertThat(drawn).containsSubsequence("server-1:1 (1)", "holds up", "server-2:1 (2)",
				"waits for shop/report, for 5.0 s", "process-3 (3)", "waits for shop/export");
		assertThat(drawn).doesNotContain("deadlock").containsOnlyOnce("holds up");
	}

	@Test
	void circleIsDrawnAsDeadlockAndOnce() {
		String drawn = text(lock("report", 1, 2), lock("export", 2, 1, 3));
		assertThat(drawn).containsOnlyOnce("deadlock</span>")
			.containsSubsequence("server-2:1 (2)</b> waits for", "server-1:1 (1)")
			.containsSubsequence("server-1:1 (1)</b> waits for", "server-2:1 (2)");
	}

	@Test
	void manyWaitersOfOneAreBesideEachOther() {
		assertThat(text(lock("report", 1, 2, 3, 4)).split("waits for shop/report")).hasSize(4);
	}

	private static String text(LockDescriptor... locks) {
		return new WaitGraph(List.of(locks), List.of()).draw().markup();
	}

	private static LockDescriptor lock(String key, int holder, Integer... waiters) {
		HolderDescriptor held = new HolderDescriptor("server-" + holder + ":1", holder, null, null, null, null, null,
				null);
		List<WaiterDescriptor> waiting = Arrays.stream(waiters)
			.map((pid) -> new WaiterDescriptor(pid, null, Duration.ofSeconds(5), List.of(holder), "process-" + pid,
					null, null))
			.toList();
		return new LockDescriptor(Kind.JOB, key, "shop", null, "com.example.Jobs." + key, "1", "shop", false,
				List.of(held), waiting);
	}

}
