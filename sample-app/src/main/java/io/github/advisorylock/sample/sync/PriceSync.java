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

package io.github.advisorylock.sample.sync;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.sample.Instance;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Fetches the partner's changes since the last time. The lock is a session's, because no
 * transaction should be open while another company takes its time to answer; the changes
 * and the next token are stored in one. An instance whose timer is late does not ask
 * again for a tick that is done: the library remembers it (see {@code Once.AUTO}).
 */
@Component
class PriceSync {

	private static final Log logger = LogFactory.getLog(PriceSync.class);

	private final PartnerPrices partner;

	private final JdbcClient jdbc;

	private final TransactionOperations transactions;

	private final Instance instance;

	PriceSync(PartnerPrices partner, JdbcClient jdbc, TransactionOperations transactions, Instance instance) {
		this.partner = partner;
		this.jdbc = jdbc;
		this.transactions = transactions;
		this.instance = instance;
	}

	@Scheduled(cron = "${sample.sync.cron}")
	@SingleRunner(key = "partner-prices", scope = LockScope.SESSION)
	void sync() {
		String token = lastToken();
		PriceChanges changes = this.partner.since(token);
		if (!changes.next().equals(token)) {
			this.transactions.executeWithoutResult((status) -> store(token, changes));
			logger.info("Instance " + this.instance + " stored " + changes.prices().size()
					+ " price changes, next token " + changes.next());
		}
	}

	private @Nullable String lastToken() {
		return this.jdbc.sql("SELECT next_token FROM sync_run ORDER BY id DESC LIMIT 1")
			.query(String.class)
			.optional()
			.orElse(null);
	}

	private void store(@Nullable String token, PriceChanges changes) {
		for (PriceChanges.Price price : changes.prices()) {
			this.jdbc.sql("""
					INSERT INTO partner_price (sku, price, change) VALUES (?, ?, ?)
					ON CONFLICT (sku) DO UPDATE SET price = excluded.price, change = excluded.change
					""").params(price.sku(), price.price(), price.change()).update();
		}
		this.jdbc.sql("INSERT INTO sync_run (sent_token, next_token, instance) VALUES (:sent, :next, :instance)")
			.param("sent", token)
			.param("next", changes.next())
			.param("instance", this.instance.name())
			.update();
	}

}
