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

package io.github.advisorylock.sample.outbox;

import java.time.Duration;
import java.util.List;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sends what the report put into the outbox. There is no {@code @SingleRunner} here: the
 * work is many rows that do not depend on each other, so all instances help, and a lock
 * for the whole would leave all but one idle. Each takes rows that nobody else has.
 */
@Component
class OutboxDrain {

	private static final Log logger = LogFactory.getLog(OutboxDrain.class);

	private final JdbcClient jdbc;

	private final Instance instance;

	private final Pace pace;

	private final Duration pause;

	OutboxDrain(JdbcClient jdbc, Instance instance, Pace pace,
			@Value("${sample.outbox.pause-per-message}") Duration pause) {
		this.jdbc = jdbc;
		this.instance = instance;
		this.pace = pace;
		this.pause = pause;
	}

	/**
	 * Send a few messages, in one transaction: the rows stay locked to its end, and after
	 * a crash they are free again. A message that leaves the database before the commit,
	 * say by mail, could then go out twice; those who receive it need its id.
	 * @return how many messages were sent
	 */
	@Transactional
	@Scheduled(fixedDelayString = "${sample.outbox.drain-every}")
	int drain() {
		List<Message> messages = this.jdbc.sql("""
				SELECT id, topic, payload FROM outbox WHERE sent_at IS NULL
				ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED
				""").query(Message.class).list();
		messages.forEach(this::send);
		if (!messages.isEmpty()) {
			logger.info("Instance " + this.instance + " sent " + messages.size() + " messages of the outbox");
		}
		return messages.size();
	}

	private void send(Message message) {
		logger.debug("Sending " + message);
		this.pace.pause(this.pause);
		this.jdbc.sql("UPDATE outbox SET sent_at = clock_timestamp(), sent_by = ? WHERE id = ?")
			.params(this.instance.name(), message.id())
			.update();
	}

	/**
	 * A row of the outbox.
	 */
	private record Message(long id, String topic, String payload) {

	}

}
