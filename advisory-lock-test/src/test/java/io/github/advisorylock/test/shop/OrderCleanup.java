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

package io.github.advisorylock.test.shop;

import java.time.Instant;
import java.util.Optional;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * A job of the shop.
 */
@Component
public class OrderCleanup {

	private final OrderRepository orders;

	OrderCleanup(OrderRepository orders) {
		this.orders = orders;
	}

	/**
	 * Close orders that are old, each night.
	 */
	@Scheduled(cron = "0 0 3 * * *")
	@SingleRunner("order-cleanup")
	public void run() {
		this.orders.closeOld();
	}

	/**
	 * Close orders when a partner says so, at most once for each message.
	 */
	@Transactional
	@SingleRunner(key = "order-message:#{#id}", once = Once.PER_KEY)
	public void onMessage(String id) {
		this.orders.closeOld();
	}

	/**
	 * Close orders each night, and never twice for one.
	 * @return for which one
	 */
	@Scheduled(cron = "0 0 4 * * *")
	@SingleRunner(key = "nightly-cleanup", once = Once.PER_TICK)
	public Optional<Instant> runNightly() {
		this.orders.closeOld();
		return LockContext.current().flatMap(LockContext::tick);
	}

	/**
	 * Close orders on the instance that leads.
	 * @return whether this one did
	 */
	@LeaderOnly("cleanup")
	public Optional<Integer> lead() {
		return Optional.of(this.orders.closeOld());
	}

}
