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

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * The other company: one of its prices changes each second.
 */
@RestController
class PartnerController {

	private static final int MOST_CHANGES = 100;

	private static final int PRODUCTS = 50;

	@GetMapping("/partner/prices")
	PriceChanges changes(@RequestParam @Nullable Long since) {
		long now = Instant.now().getEpochSecond();
		long from = Math.max((since != null) ? since : 0, now - MOST_CHANGES);
		List<PriceChanges.Price> prices = LongStream.rangeClosed(from + 1, now).mapToObj(this::change).toList();
		return new PriceChanges(prices, Long.toString(Math.max(from, now)));
	}

	private PriceChanges.Price change(long number) {
		String sku = String.format(Locale.ROOT, "SKU-%02d", number * 31 % PRODUCTS);
		return new PriceChanges.Price(sku, BigDecimal.valueOf(500 + number * 7919 % 9500, 2), number);
	}

}
