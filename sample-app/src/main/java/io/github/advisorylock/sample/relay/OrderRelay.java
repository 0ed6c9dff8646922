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

import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sends the messages of orders. Those of one order must be sent in their order, so one
 * instance at a time may send them; but orders do not depend on each other, so all
 * instances help, each with the shards that it leads.
 */
@Component
class OrderRelay {

	static final String ROLE = "relay";

	static final int SHARDS = 8;

	private static final Log logger = LogFactory.getLog(OrderRelay.class);

	private final OrderMessages messages;

	private final Instance instance;

	private final Pace pace;

	private final Duration pause;

	OrderRelay(OrderMessages messages, Instance instance, Pace pace,
			@Value("${sample.relay.pause-per-message}") Duration pause) {
		this.messages = messages;
		this.instance = instance;
		this.pace = pace;
		this.pause = pause;
	}

	/**
	 * Send some messages of one shard, in one transaction. It is called for each shard
	 * that this instance leads. A message that leaves the database before the commit
	 * could go out twice after a crash; those who receive it need its id, and the term.
	 */
	@Scheduled(fixedDelayString = "${sample.relay.every}")
	@LeaderOnly(value = ROLE, shards = SHARDS)
	@Transactional
	void relay() {
		int shard = LockContext.currentShard();
		LockContext lead = LockContext.current().orElseThrow();
		long term = lead.fencingToken().orElseThrow();
		if (!this.messages.enterTerm(shard, term)) {
			logger.warn("Instance " + this.instance + " sends nothing of shard " + shard + " in term " + term
					+ ": a later leader has sent messages already");
			return;
		}
		for (OrderMessages.Message message : this.messages.waiting(shard)) {
			this.pace.pause(this.pause);
			lead.checkHeld();
			logger.debug("Sending " + message + " of shard " + shard + " in term " + term);
			this.messages.sent(message.id(), this.instance.name(), term);
		}
	}

}
