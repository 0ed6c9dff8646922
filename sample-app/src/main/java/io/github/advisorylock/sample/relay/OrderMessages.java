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

import java.util.List;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The outbox of orders. A message belongs to a shard by the number of its order.
 */
@Repository
class OrderMessages {

	private final JdbcClient jdbc;

	OrderMessages(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Place orders with three messages each.
	 */
	void place(int orders) {
		this.jdbc.sql("""
				WITH placed AS MATERIALIZED (SELECT nextval('order_number') AS number FROM generate_series(1, ?))
				INSERT INTO order_message (order_no, payload) SELECT number, what
				FROM (VALUES (1, 'placed'), (2, 'paid'), (3, 'shipped')) AS step (place, what), placed
				ORDER BY number, place
				""").params(orders).update();
	}

	/**
	 * Say in which term a shard is led. Its row is locked until the transaction ends, so
	 * that leaders of two terms write one after the other.
	 * @return {@code false} if there was a later term
	 */
	boolean enterTerm(int shard, long term) {
		return this.jdbc.sql("""
				INSERT INTO order_relay_term AS last (shard, term) VALUES (?, ?)
				ON CONFLICT (shard) DO UPDATE SET term = excluded.term WHERE last.term <= excluded.term
				""").params(shard, term).update() == 1;
	}

	List<Message> waiting(int shard) {
		return this.jdbc.sql("""
				SELECT id, order_no, payload FROM order_message WHERE order_no % 8 = ? AND sent_at IS NULL
				ORDER BY id LIMIT 10
				""").params(shard).query(Message.class).list();
	}

	void sent(long id, String instance, long term) {
		this.jdbc.sql("UPDATE order_message SET sent_at = clock_timestamp(), sent_by = ?, sent_term = ? WHERE id = ?")
			.params(instance, term, id)
			.update();
	}

	/**
	 * A row of the outbox.
	 */
	record Message(long id, long orderNo, String payload) {

	}

}
