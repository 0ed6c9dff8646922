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

import java.util.Collections;
import java.util.List;
import java.util.UUID;

import io.github.advisorylock.sample.Calls;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The payment provider, for whom the home page has a button: it delivers each payment
 * five times, all at the same moment.
 */
@RestController
class PaymentProvider {

	private static final int DELIVERIES = 5;

	private final Calls calls;

	PaymentProvider(Calls calls) {
		this.calls = calls;
	}

	@PostMapping(path = "/try/payment", headers = "X-Requested-With")
	List<Calls.Answer> pay() {
		String id = "evt-" + UUID.randomUUID().toString().substring(0, 8);
		return this.calls.post(Collections.nCopies(DELIVERIES, "/webhooks/payments"), """
				{"id": "%s", "customer": "ada", "amount": 12.50}""".formatted(id));
	}

}
