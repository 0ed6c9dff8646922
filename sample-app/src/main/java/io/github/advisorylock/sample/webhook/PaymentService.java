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

package io.github.advisorylock.sample.webhook;

import io.github.advisorylock.LockResult;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.sample.Instance;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Gives each payment its one effect. Deliveries of one event queue up; the event is
 * recorded in the transaction of its effect, so those behind the first find it there.
 */
@Service
class PaymentService {

	private final JdbcClient jdbc;

	private final Instance instance;

	PaymentService(JdbcClient jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	@Transactional
	@SingleRunner(key = "payment:#{#event.id}", waitFor = "5s")
	LockResult<Delivery> receive(PaymentEvent event) {
		int recorded = this.jdbc.sql("""
				INSERT INTO processed_events (event_id, instance) VALUES (?, ?) ON CONFLICT DO NOTHING
				""").params(event.id(), this.instance.name()).update();
		if (recorded == 0) {
			return LockResult.executed(Delivery.DUPLICATE);
		}
		this.jdbc.sql("""
				INSERT INTO account AS known (customer, paid) VALUES (?, ?)
				ON CONFLICT (customer) DO UPDATE SET paid = known.paid + excluded.paid
				""").params(event.customer(), event.amount()).update();
		return LockResult.executed(Delivery.PROCESSED);
	}

	/**
	 * What a delivery was found to be.
	 */
	enum Delivery {

		/**
		 * The first one, which took effect.
		 */
		PROCESSED,

		/**
		 * A later one, which did not.
		 */
		DUPLICATE

	}

}
