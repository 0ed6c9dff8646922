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

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.SampleInstance;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PaymentService} with two instances of the application on one database.
 */
@Tag("gate")
class TwoInstancesDeliveryTests {

	private static List<SampleInstance> instances;

	private final String id = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		instances = SampleInstance.startTogether(2, "spring.datasource.hikari.maximum-pool-size=30",
				"advisory-lock.jobs.[payment:#{#event.id}].wait-for=20s");
	}

	@AfterAll
	static void stop() {
		instances.forEach(SampleInstance::close);
	}

	@Test
	void fiftyDeliveriesOfOneEventOverTwoInstancesHaveOneEffect() {
		List<String> answers = deliver(50).stream().map(HttpResponse::body).toList();
		assertThat(answers).filteredOn((answer) -> answer.contains("processed")).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.contains("duplicate")).hasSize(49);
		assertThat(answers).as("the first answer")
			.filteredOn((answer) -> answer.contains("\"paid\":12.50"))
			.hasSize(50);
		assertThat(paid()).containsExactly("12.50");
	}

	@Test
	void deliveryThatFailsIsProcessedWhenItComesAgainElsewhere() {
		TestPostgres.execute("ALTER TABLE account ADD CONSTRAINT seeded CHECK (customer <> '" + this.id + "')");
		try {
			assertThat(deliver(1)).extracting(HttpResponse::statusCode).containsExactly(500);
			assertThat(paid()).isEmpty();
		}
		finally {
			TestPostgres.execute("ALTER TABLE account DROP CONSTRAINT seeded");
		}
		HttpResponse<String> again = instances.get(1).calls().post("/webhooks/payments", payment());
		assertThat(again.body()).contains("processed");
		assertThat(deliver(2)).hasSize(2).allSatisfy((answer) -> assertThat(answer.body()).contains("duplicate"));
		assertThat(paid()).containsExactly("12.50");
	}

	private List<HttpResponse<String>> deliver(int times) {
		List<HttpCalls> calls = instances.stream().map(SampleInstance::calls).toList();
		List<CompletableFuture<HttpResponse<String>>> deliveries = IntStream.range(0, times)
			.mapToObj((i) -> calls.get(i % calls.size()).postAsync("/webhooks/payments", payment()))
			.toList();
		return deliveries.stream().map(CompletableFuture::join).toList();
	}

	private String payment() {
		return "{\"id\": \"" + this.id + "\", \"customer\": \"" + this.id + "\", \"amount\": 12.50}";
	}

	private List<String> paid() {
		return TestPostgres.query("SELECT paid FROM account WHERE customer = '" + this.id + "'");
	}

}
