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

package io.github.advisorylock.sample.browser;

import java.time.Duration;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.sample.Pace;

import org.springframework.scheduling.annotation.Scheduled;

/**
 * Jobs of a shop to look at. Not a component: only {@link BrowserInstance} has them.
 */
class ShopJobs {

	private final Pace pace;

	ShopJobs(Pace pace) {
		this.pace = pace;
	}

	@Scheduled(cron = "${shop.carts:-}")
	@SingleRunner("abandoned-carts")
	void remindOfCarts() {
		this.pace.pause(Duration.ofMillis(300));
	}

	@Scheduled(cron = "${shop.rates:0 0 3 * * *}", zone = "Europe/Berlin")
	@SingleRunner("currency-rates")
	void fetchRates() {
		this.pace.pause(Duration.ofMillis(300));
	}

	/**
	 * Ends by an operator only: a slow machine takes its time to press the button.
	 */
	@Scheduled(cron = "${shop.search:-}")
	@SingleRunner("search-index")
	void index() {
		this.pace.pause(Duration.ofMinutes(10));
	}

	@Scheduled(cron = "${shop.archive:-}")
	@SingleRunner("archive-orders")
	void archive() {
		this.pace.pause(Duration.ofMillis(300));
	}

	@Scheduled(cron = "${shop.mail:-}")
	@SingleRunner("newsletter")
	void mail() {
		throw new IllegalStateException("The mail server refused the connection");
	}

}
