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

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * A payment, as the payment provider tells us about it: at least once.
 *
 * @param id what all deliveries of the event have in common
 * @param customer who paid
 * @param amount how much
 */
record PaymentEvent(String id, String customer, BigDecimal amount) {

	PaymentEvent(@Nullable String id, @Nullable String customer, @Nullable BigDecimal amount) {
		Assert.hasText(id, "'id' must not be empty");
		Assert.isTrue(id.length() <= 255 && id.indexOf('\0') < 0, "'id' must be a text of up to 255 characters");
		Assert.hasText(customer, "'customer' must not be empty");
		Assert.isTrue(amount != null && amount.signum() > 0, "'amount' must be more than zero");
		this.id = id;
		this.customer = customer;
		this.amount = amount;
	}

}
