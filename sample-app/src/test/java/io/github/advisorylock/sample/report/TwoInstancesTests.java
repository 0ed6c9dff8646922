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

package io.github.advisorylock.sample.report;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.SingleRunnerFinishedEvent;
import io.github.advisorylock.interceptor.SingleRunnerSkippedEvent;
import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleApplication;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link NightlyReport} with two instances of the application on one database.
 */
class TwoInstancesTests {

	private static final Queue<Object> first = new ConcurrentLinkedQueue<>();

	private static final Queue<Object> second = new ConcurrentLinkedQueue<>();

	private static ConfigurableApplicationContext one;

	private static ConfigurableApplicationContext two;

	@BeforeAll
	static void startTwoInstancesAtOnceOnOnePort() {
		CompletableFuture<ConfigurableApplicationContext> starting = CompletableFuture
			.supplyAsync(() -> start(first, "0"));
		two = start(second, "0");
		one = starting.join();
	}

	@AfterAll
	static void stop() {
		one.close();
		two.close();
	}

	@Test
	void reportThatRunsOnOneInstanceIsSkippedOnTheOther() {
		int before = runs();
		CompletableFuture<Void> running = CompletableFuture.runAsync(() -> one.getBean(NightlyReport.class).create());
		OutsideLock.awaitHolder("nightly-report");
		two.getBean(NightlyReport.class).create();
		assertThat(running).isNotDone();
		running.join();
		assertThat(first).singleElement().isInstanceOf(SingleRunnerFinishedEvent.class);
		assertThat(second).singleElement()
			.isInstanceOfSatisfying(SingleRunnerSkippedEvent.class,
					(skipped) -> assertThat(skipped.outcome()).isEqualTo(LockOutcome.BUSY));
		assertThat(runs()).isEqualTo(before + 1);
	}

	@Test
	void ordersAreCreatedOnceWhenTwoInstancesStartTogether() {
		Integer orders = two.getBean(JdbcClient.class)
			.sql("SELECT count(*) FROM customer_order")
			.query(Integer.class)
			.single();
		assertThat(orders).isEqualTo(3000);
	}

	@Test
	void instanceTakesAnotherPortWhenItsOwnIsTaken() {
		int taken = one.getBean(Instance.class).port();
		try (ConfigurableApplicationContext third = start(new ConcurrentLinkedQueue<>(), Integer.toString(taken))) {
			int port = third.getBean(Instance.class).port();
			assertThat(port).isNotEqualTo(taken);
			assertThat(new HttpCalls(port).get("/reports").statusCode()).isEqualTo(200);
		}
	}

	private int runs() {
		return one.getBean(JdbcClient.class).sql("SELECT count(*) FROM report_run").query(Integer.class).single();
	}

	private static ConfigurableApplicationContext start(Queue<Object> events, String port) {
		Map<String, Object> properties = new HashMap<>(SampleTest.Properties.ALL);
		properties.put("server.port", port);
		properties.put("sample.report.pause-per-day", "10ms");
		List<String> arguments = properties.entrySet()
			.stream()
			.map((property) -> "--" + property.getKey() + "=" + property.getValue())
			.toList();
		return new SpringApplicationBuilder(SampleApplication.class)
			.listeners((ApplicationEvent event) -> remember(event, events))
			.run(arguments.toArray(String[]::new));
	}

	private static void remember(ApplicationEvent event, Queue<Object> events) {
		if (event instanceof PayloadApplicationEvent<?> payload
				&& payload.getPayload().getClass().getSimpleName().startsWith("SingleRunner")) {
			events.add(payload.getPayload());
		}
	}

}
