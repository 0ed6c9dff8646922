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

package io.github.advisorylock.sample.home;

import java.util.List;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Counts who sent how many messages of the outbox, for the page.
 */
@Component
class OutboxView {

	private final JdbcClient jdbc;

	OutboxView(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	int waiting() {
		return this.jdbc.sql("SELECT count(*) FROM outbox WHERE sent_at IS NULL").query(Integer.class).single();
	}

	List<Sender> senders() {
		return this.jdbc
			.sql("""
					SELECT sent_by AS instance, count(*) AS messages, extract(epoch FROM now() - max(sent_at))::integer
					AS seconds_ago FROM outbox WHERE sent_at IS NOT NULL GROUP BY sent_by ORDER BY max(sent_at) DESC LIMIT 10
					""")
			.query(Sender.class)
			.list();
	}

	/**
	 * What one instance sent.
	 */
	record Sender(String instance, int messages, int secondsAgo) {

	}

}
