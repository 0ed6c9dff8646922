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
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PaymentController}.
 */
@SampleTest
class PaymentControllerTests {

	private final String id = UUID.randomUUID().toString();

	private final String payment = "{\"id\": \"" + this.id + "\", \"customer\": \"" + this.id
			+ "\", \"amount\": 12.50}";

	@Autowired
	private Instance instance;

	@Autowired
	private JdbcClient jdbc;

	private HttpCalls calls;

	@BeforeEach
	void setUp() {
		this.calls = new HttpCalls(this.instance.port());
	}

	@Test
	void firstDeliveryIsProcessedAndSecondIsDuplicate() {
		assertThat(deliver().body()).contains("\"status\":\"processed\"");
		HttpResponse<String> again = deliver();
		assertThat(again.statusCode()).isEqualTo(200);
		assertThat(again.body()).contains("\"status\":\"duplicate\"");
		assertThat(paid()).isEqualByComparingTo("12.50");
	}

	@Test
	void concurrentDeliveriesOfOneEventHaveOneEffect() {
		List<CompletableFuture<HttpResponse<String>>> deliveries = Stream
			.generate(() -> this.calls.postAsync("/webhooks/payments", this.payment))
			.limit(8)
			.toList();
		List<String> answers = deliveries.stream().map((delivery) -> delivery.join().body()).toList();
		assertThat(answers).filteredOn((answer) -> answer.contains("processed")).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.contains("duplicate")).hasSize(7);
		assertThat(answers).filteredOn((answer) -> answer.contains("\"paid\":12.50")).hasSize(8);
		assertThat(paid()).isEqualByComparingTo("12.50");
	}

	@Test
	void deliveryWhileAnotherIsInProgressIsToldToComeBack() throws Exception {
		try (OutsideLock held = OutsideLock.on("payment:" + this.id)) {
			HttpResponse<String> answer = deliver();
			assertThat(answer.statusCode()).isEqualTo(409);
			assertThat(answer.headers().firstValue("Retry-After")).contains("5");
			assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
		}
		assertThat(deliver().body()).contains("processed");
	}

	@Test
	void deliveryWaitsForAnotherThatEndsInTime() throws Exception {
		CompletableFuture<HttpResponse<String>> delivery;
		try (OutsideLock held = OutsideLock.on("payment:" + this.id)) {
			delivery = this.calls.postAsync("/webhooks/payments", this.payment);
			OutsideLock.awaitWaiter();
		}
		assertThat(delivery.join().body()).contains("processed");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{", "[]", "{}", "{\"id\": \"\", \"customer\": \"ada\", \"amount\": 1}",
			"{\"customer\": \"ada\", \"amount\": 1}", "{\"id\": \"evt\", \"amount\": 1}",
			"{\"id\": \"evt\", \"customer\": \"ada\", \"amount\": -1}",
			"{\"id\": \"evt\", \"customer\": \"ada\", \"amount\": \"much\"}" })
	void eventThatIsNotCompleteIsBadRequest(String body) {
		HttpResponse<String> answer = this.calls.post("/webhooks/payments", body);
		assertThat(answer.statusCode()).isEqualTo(400);
		assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
	}

	@Test
	void eventWhoseIdCannotBeRememberedIsBadRequest() {
		for (String wrong : List.of("x".repeat(256), "a\\u0000b")) {
			HttpResponse<String> answer = this.calls.post("/webhooks/payments", this.payment.replace(this.id, wrong));
			assertThat(answer.statusCode()).isEqualTo(400);
		}
	}

	private HttpResponse<String> deliver() {
		return this.calls.post("/webhooks/payments", this.payment);
	}

	private BigDecimal paid() {
		return this.jdbc.sql("SELECT paid FROM account WHERE customer = ?")
			.param(this.id)
			.query(BigDecimal.class)
			.single();
	}

}
