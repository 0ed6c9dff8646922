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

package io.github.advisorylock.leader;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import io.github.advisorylock.concurrency.Schedules;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests for {@link PreviousLeader} under many schedules: what is heard, seen and asked at
 * one time could have been one after the other, and evidence of an earlier leader is none
 * against the next.
 */
class PreviousLeaderScheduleTests {

	@TestFactory
	List<DynamicTest> newsCountsAsIfItCameOneByOne() {
		return Schedules.ofPairsAndTriples((news) -> {
			BitSet right = Schedules.sequentially(PreviousLeaderScheduleTests::silent, news,
					PreviousLeaderScheduleTests::run, (previous) -> previous.isOver() ? 1 : 0);
			return () -> new Follower(right);
		}, List.of(News.values()));
	}

	/**
	 * One that was seen once, at the time 0.
	 */
	private static PreviousLeader silent() {
		PreviousLeader previous = new PreviousLeader(10);
		previous.seen(holder("now"), 0, 0);
		return previous;
	}

	private static PreviousLeader.Holder holder(String lastSaid) {
		return new PreviousLeader.Holder(1, true, lastSaid);
	}

	private static int run(PreviousLeader previous, News news) {
		switch (news) {
			case SILENCE -> previous.seen(holder("now"), 100, 100);
			case SIGN_OF_LIFE -> previous.seen(holder("later"), 100, 100);
			case RESIGNED -> previous.resigned(1);
			case ELECTED -> previous.elected();
			case ASK -> {
				return previous.isOver() ? 1 : 0;
			}
		}
		return 0;
	}

	private enum News {

		SILENCE, SIGN_OF_LIFE, RESIGNED, ELECTED, ASK

	}

	/**
	 * Who hears, looks and asks.
	 */
	private static final class Follower implements Schedules.State<News> {

		private final PreviousLeader previous = silent();

		private final BitSet right;

		private Follower(BitSet right) {
			this.right = right;
		}

		@Override
		public int run(News operation) {
			return PreviousLeaderScheduleTests.run(this.previous, operation);
		}

		@Override
		public void check(int[] answers) {
			boolean over = this.previous.isOver();
			if (!this.right.get(Schedules.outcome(answers, over ? 1 : 0))) {
				throw new AssertionError(
						"They have answered " + Arrays.toString(answers) + ", and it is over: " + over);
			}
		}

	}

}
