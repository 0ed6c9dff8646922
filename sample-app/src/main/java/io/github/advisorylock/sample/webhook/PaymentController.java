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
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * Takes deliveries. A sender that is told 409 comes back later.
 */
@RestController
class PaymentController {

	private final PaymentService payments;

	PaymentController(PaymentService payments) {
		this.payments = payments;
	}

	@PostMapping("/webhooks/payments")
	ResponseEntity<Object> receive(@RequestBody PaymentEvent event) {
		LockResult<BigDecimal> paid = this.payments.receive(event);
		return switch (paid.outcome()) {
			case EXECUTED -> ResponseEntity.ok(new Answer(event.id(), "processed", paid.value()));
			case ALREADY_RAN -> ResponseEntity.ok(new Answer(event.id(), "duplicate", paid.value()));
			case BUSY, TOO_SOON, PAUSED -> comeBack("Another delivery of event '" + event.id() + "' is in progress");
		};
	}

	private ResponseEntity<Object> comeBack(String detail) {
		return ResponseEntity.status(HttpStatus.CONFLICT)
			.header(HttpHeaders.RETRY_AFTER, "5")
			.body(ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, detail));
	}

	/**
	 * The answer to a delivery that was dealt with.
	 *
	 * @param paid what the customer had paid in all after the first delivery
	 */
	record Answer(String id, String status, @Nullable BigDecimal paid) {

	}

}
