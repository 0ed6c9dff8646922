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

import java.math.BigDecimal;

import io.github.advisorylock.LockResult;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Gives each payment its one effect. Deliveries of one event queue up; that it is
 * completed is recorded in the transaction of its effect, so a delivery that fails may
 * come again, and one that comes after it took effect may not.
 */
@Service
class PaymentService {

	private final JdbcClient jdbc;

	PaymentService(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Return what the customer has paid in all, to each delivery the same.
	 */
	@Transactional
	@SingleRunner(key = "payment:#{#event.id}", once = Once.PER_KEY, keepResult = true, waitFor = "5s")
	LockResult<BigDecimal> receive(PaymentEvent event) {
		return LockResult.executed(this.jdbc.sql("""
				INSERT INTO account AS known (customer, paid) VALUES (?, ?)
				ON CONFLICT (customer) DO UPDATE SET paid = known.paid + excluded.paid RETURNING paid
				""").params(event.customer(), event.amount()).query(BigDecimal.class).single());
	}

}
