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

import java.math.BigDecimal;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Reads what the scenarios have left in their tables, for the page.
 */
@Component
class ShopView {

	private final JdbcClient jdbc;

	ShopView(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Return what a customer has paid, {@code null} before the first payment.
	 */
	@Nullable BigDecimal paidBy(String customer) {
		return this.jdbc.sql("SELECT paid FROM account WHERE customer = ?")
			.params(customer)
			.query(BigDecimal.class)
			.optional()
			.orElse(null);
	}

	/**
	 * Return the next token of the partner, {@code null} before the first answer.
	 */
	@Nullable String nextToken() {
		return this.jdbc.sql("SELECT next_token FROM sync_run ORDER BY id DESC LIMIT 1")
			.query(String.class)
			.optional()
			.orElse(null);
	}

	int waitingMessages() {
		return this.jdbc.sql("SELECT count(*) FROM outbox WHERE sent_at IS NULL").query(Integer.class).single();
	}

	List<Sender> senders() {
		return this.jdbc.sql("""
				SELECT sent_by AS instance, count(*) AS messages, extract(epoch FROM now() - max(sent_at))::integer
				AS seconds_ago FROM outbox WHERE sent_at IS NOT NULL GROUP BY sent_by ORDER BY max(sent_at) DESC LIMIT 5
				""").query(Sender.class).list();
	}

	List<Tenant> tenants() {
		return this.jdbc.sql("SELECT name, plan, provisioned_by AS instance FROM tenant ORDER BY name LIMIT 10")
			.query(Tenant.class)
			.list();
	}

	/**
	 * What one instance sent.
	 */
	record Sender(String instance, int messages, int secondsAgo) {

	}

	/**
	 * A tenant, and who set it up.
	 */
	record Tenant(String name, String plan, String instance) {

	}

}
