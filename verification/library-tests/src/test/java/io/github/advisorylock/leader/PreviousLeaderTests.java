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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PreviousLeader}.
 */
class PreviousLeaderTests {

	private final PreviousLeader previous = new PreviousLeader(10);

	@Test
	void leaderThatWasSilentForLongerThanTheWindowIsOver() {
		this.previous.seen(holder(1, "now"), 1000, 1000);
		this.previous.seen(holder(1, "now"), 1010, 1010);
		assertThat(this.previous.isOver()).isFalse();
		this.previous.seen(holder(1, "now"), 1011, 1011);
		assertThat(this.previous.isOver()).isTrue();
	}

	/**
	 * A leader may have said something between a question and its answer.
	 */
	@Test
	void silenceLastsFromAnAnswerToTheNextQuestion() {
		this.previous.seen(holder(1, "now"), 1000, 1005);
		this.previous.seen(holder(1, "now"), 1015, 1030);
		assertThat(this.previous.isOver()).isFalse();
		this.previous.seen(holder(1, "now"), 1016, 1031);
		assertThat(this.previous.isOver()).isTrue();
	}

	@Test
	void anythingThatIsSaidEndsTheSilence() {
		this.previous.seen(holder(1, "now"), 1000, 1000);
		this.previous.seen(holder(1, "later"), 1011, 1011);
		this.previous.seen(holder(1, "later"), 1021, 1021);
		assertThat(this.previous.isOver()).isFalse();
		this.previous.seen(holder(2, "later"), 1022, 1022);
		assertThat(this.previous.isOver()).isFalse();
		this.previous.seen(PreviousLeader.Holder.UNKNOWN, 1040, 1040);
		this.previous.seen(PreviousLeader.Holder.UNKNOWN, 1060, 1060);
		assertThat(this.previous.isOver()).as("nothing is known").isFalse();
	}

	/**
	 * Of a process of another role the server may tell no more.
	 */
	@Test
	void processThatTheServerTellsNothingOfIsNotSilent() {
		PreviousLeader.Holder hidden = PreviousLeader.Holder.parse("7 false ");
		assertThat(hidden).isEqualTo(new PreviousLeader.Holder(7, false, ""));
		this.previous.seen(hidden, 1000, 1000);
		this.previous.seen(hidden, 1020, 1020);
		assertThat(this.previous.isOver()).isFalse();
		assertThat(this.previous.isSuspect(1020)).isFalse();
	}

	@Test
	void answerOfTheServerIsRead() {
		assertThat(PreviousLeader.Holder.parse("7 true 2026-01-02 03:04:05+00"))
			.isEqualTo(new PreviousLeader.Holder(7, true, "2026-01-02 03:04:05+00"));
		assertThat(PreviousLeader.Holder.parse("")).isEqualTo(PreviousLeader.Holder.UNKNOWN);
	}

	@Test
	void resignationMayBeHeardBeforeTheLookThatShowsWhoseItIs() {
		this.previous.resigned(1);
		assertThat(this.previous.isOver()).isFalse();
		this.previous.seen(holder(2, "now"), 1000, 1000);
		assertThat(this.previous.isOver()).as("of another process").isFalse();
		this.previous.seen(holder(1, "now"), 1001, 1001);
		assertThat(this.previous.isOver()).isTrue();
		this.previous.elected();
		this.previous.seen(holder(1, "later"), 1002, 1002);
		assertThat(this.previous.isOver()).as("of an earlier term").isFalse();
	}

	private static PreviousLeader.Holder holder(int process, String lastSaid) {
		return new PreviousLeader.Holder(process, true, lastSaid);
	}

}
