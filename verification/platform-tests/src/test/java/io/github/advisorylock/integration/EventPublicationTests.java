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

package io.github.advisorylock.integration;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.modulith.events.FailedEventPublications;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.modulith.events.ResubmissionOptions;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for events of Spring Modulith that were not delivered, and instances that start
 * at one time and deliver them: Modulith itself leaves it to its users that only one
 * does.
 */
class EventPublicationTests {

	private static final List<Integer> EVENTS = IntStream.range(0, 20).boxed().toList();

	private static final Queue<Integer> delivered = new ConcurrentLinkedQueue<>();

	private static volatile boolean broken;

	private final ExecutorService threads = Executors.newFixedThreadPool(2);

	@BeforeEach
	void leaveEventsUndelivered() {
		dropTable();
		delivered.clear();
		broken = true;
		try (ConfigurableApplicationContext instance = start()) {
			TransactionTemplate transaction = instance.getBean(TransactionTemplate.class);
			ApplicationEventPublisher events = instance;
			EVENTS.forEach((event) -> transaction
				.executeWithoutResult((status) -> events.publishEvent(new OrderPlaced(event))));
		}
		broken = false;
		assertThat(undelivered()).hasSameSizeAs(EVENTS);
	}

	@AfterEach
	void dropTable() {
		TestPostgres.execute("DROP TABLE IF EXISTS event_publication");
	}

	@Test
	void eachEventIsDeliveredOnceByInstancesThatStartAtOneTime() throws Exception {
		eachEventIsDeliveredOnceBy(Orders::deliverWhatIsLeft);
	}

	@Test
	void eachFailedEventIsDeliveredOnceByInstancesThatStartAtOneTime() throws Exception {
		eachEventIsDeliveredOnceBy(Orders::deliverWhatFailed);
	}

	private void eachEventIsDeliveredOnceBy(Delivering delivering) throws Exception {
		List<ConfigurableApplicationContext> instances = Stream.of(start(), start()).toList();
		try {
			CountDownLatch ready = new CountDownLatch(instances.size());
			List<Future<?>> starts = instances.stream().<Future<?>>map((instance) -> this.threads.submit(() -> {
				ready.countDown();
				ready.await();
				delivering.deliver(instance.getBean(Orders.class));
				return null;
			})).toList();
			for (Future<?> start : starts) {
				start.get(60, TimeUnit.SECONDS);
			}
		}
		finally {
			instances.forEach(ConfigurableApplicationContext::close);
			this.threads.shutdown();
		}
		assertThat(delivered).containsExactlyInAnyOrderElementsOf(EVENTS);
		assertThat(undelivered()).isEmpty();
	}

	private static List<String> undelivered() {
		return TestPostgres.query("SELECT id FROM event_publication WHERE completion_date IS NULL");
	}

	private static ConfigurableApplicationContext start() {
		return new SpringApplicationBuilder(Orders.class, Delivery.class).web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + TestPostgres.url(), "spring.application.name=shop",
					"spring.datasource.hikari.maximum-pool-size=4", "spring.jmx.enabled=false",
					"spring.modulith.events.jdbc.schema-initialization.enabled=true", "logging.level.root=off")
			.run();
	}

	record OrderPlaced(int number) {

	}

	interface Delivering {

		void deliver(Orders orders) throws InterruptedException;

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Delivery {

		@Bean
		Listener listener() {
			return new Listener();
		}

	}

	/**
	 * Delivers what its predecessor has not.
	 */
	static class Orders {

		private final LockRegistry<?> locks;

		private final IncompleteEventPublications publications;

		private final FailedEventPublications failed;

		Orders(LockRegistry<?> locks, IncompleteEventPublications publications, FailedEventPublications failed) {
			this.locks = locks;
			this.publications = publications;
			this.failed = failed;
		}

		void deliverWhatIsLeft() throws InterruptedException {
			this.locks.executeLocked("deliver-events",
					() -> this.publications.resubmitIncompletePublications((publication) -> true));
		}

		void deliverWhatFailed() throws InterruptedException {
			this.locks.executeLocked("deliver-events", () -> this.failed.resubmit(ResubmissionOptions.defaults()));
		}

	}

	/**
	 * Has its trouble at first.
	 */
	static class Listener {

		@TransactionalEventListener
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void on(OrderPlaced event) {
			if (broken) {
				throw new IllegalStateException("Broken");
			}
			delivered.add(event.number());
		}

	}

}
