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

package io.github.advisorylock.sample.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import io.github.advisorylock.test.Fleet;
import io.github.advisorylock.test.FleetTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;

/**
 * Tests for {@link OrderRelay} on several instances.
 */
@FleetTest(OrderRelay.class)
class OrderRelayFleetTests {

	@MockitoBean
	private OrderMessages messages;

	@MockitoBean
	private Instance instance;

	@MockitoBean
	private Pace pace;

	private final List<OrderMessages.Message> waiting = new ArrayList<>();

	private final List<Long> sent = new ArrayList<>();

	private final Map<Integer, Long> terms = new HashMap<>();

	@BeforeEach
	void keepMessages() {
		given(this.messages.enterTerm(anyInt(), anyLong())).willAnswer((call) -> {
			long term = call.getArgument(1);
			return this.terms.merge(call.getArgument(0), term, Long::max) == term;
		});
		given(this.messages.waiting(anyInt())).willAnswer((call) -> this.waiting.stream()
			.filter((message) -> message.orderNo() % OrderRelay.SHARDS == call.<Integer>getArgument(0))
			.toList());
		willAnswer((call) -> {
			Long id = call.getArgument(0);
			this.sent.add(id);
			this.waiting.removeIf((message) -> message.id() == id);
			return null;
		}).given(this.messages).sent(anyLong(), any(), anyLong());
	}

	@Test
	void shardsMoveWhenAnInstanceIsKilledAndEachMessageIsSentOnce(Fleet fleet) {
		fleet.advanceBy(Duration.ofMinutes(1));
		assertThat(fleet.instances()).hasSize(3)
			.allSatisfy((one) -> assertThat(fleet.shardsOf(OrderRelay.ROLE, one)).hasSizeBetween(2, 3));
		Map<Integer, Long> before = Map.copyOf(this.terms);
		place(0);
		fleet.kill(0);
		fleet.advanceBy(Duration.ofMinutes(1));
		place(OrderRelay.SHARDS);
		fleet.advanceBy(Duration.ofSeconds(2));
		assertThat(fleet.instances()).hasSize(2)
			.allSatisfy((one) -> assertThat(fleet.shardsOf(OrderRelay.ROLE, one)).hasSize(4));
		assertThat(this.sent)
			.containsExactlyInAnyOrderElementsOf(LongStream.range(0, 2 * OrderRelay.SHARDS).boxed().toList());
		assertThat(this.terms).hasSize(OrderRelay.SHARDS)
			.allSatisfy((shard, term) -> assertThat(term).isGreaterThanOrEqualTo(before.get(shard)));
		assertThat(this.terms).isNotEqualTo(before);
	}

	/**
	 * Place an order for each shard.
	 */
	private void place(long first) {
		LongStream.range(first, first + OrderRelay.SHARDS)
			.forEach((order) -> this.waiting.add(new OrderMessages.Message(order, order, "placed")));
	}

}
