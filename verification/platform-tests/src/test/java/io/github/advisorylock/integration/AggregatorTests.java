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
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.jdbc.store.JdbcMessageStore;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.messaging.MessageChannel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for aggregators of two instances that share their groups, and the lock on each.
 */
@Tag("gate")
class AggregatorTests {

	private static final int GROUPS = 25;

	private static final int GROUP_SIZE = 4;

	private static final Queue<String> complete = new ConcurrentLinkedQueue<>();

	private final ExecutorService threads = Executors.newFixedThreadPool(GROUP_SIZE);

	@BeforeEach
	void createTables() {
		dropTables();
		DataSource dataSource = new SingleConnectionDataSource(TestPostgres.url(), true);
		new ResourceDatabasePopulator(
				new ClassPathResource("org/springframework/integration/jdbc/schema-postgresql.sql"))
			.execute(dataSource);
		((SingleConnectionDataSource) dataSource).destroy();
	}

	@AfterEach
	void stop() {
		this.threads.shutdown();
		dropTables();
	}

	private static void dropTables() {
		TestPostgres.execute("DROP TABLE IF EXISTS INT_MESSAGE, INT_GROUP_TO_MESSAGE, INT_MESSAGE_GROUP, INT_LOCK, "
				+ "INT_CHANNEL_MESSAGE, INT_METADATA_STORE CASCADE; DROP SEQUENCE IF EXISTS INT_MESSAGE_SEQ");
	}

	@Test
	void groupWhosePartsComeToTwoInstancesIsCompleteOnce() throws Exception {
		complete.clear();
		try (ConfigurableApplicationContext first = start(); ConfigurableApplicationContext second = start()) {
			assertThat(first.getBean(LockRegistry.class)).isInstanceOf(AdvisoryLockRegistry.class);
			List<MessageChannel> inputs = List.of(first.getBean("orders.input", MessageChannel.class),
					second.getBean("orders.input", MessageChannel.class));
			CyclicBarrier together = new CyclicBarrier(GROUP_SIZE);
			List<Future<?>> senders = IntStream.range(0, GROUP_SIZE)
				.<Future<?>>mapToObj((part) -> this.threads.submit(() -> {
					for (int group = 0; group < GROUPS; group++) {
						together.await(Patience.SECONDS, TimeUnit.SECONDS);
						inputs.get(part % 2)
							.send(MessageBuilder.withPayload("part " + part)
								.setCorrelationId("order-" + group)
								.build());
					}
					return null;
				}))
				.toList();
			for (Future<?> sender : senders) {
				sender.get(60, TimeUnit.SECONDS);
			}
			Awaitility.await().until(() -> complete.size() >= GROUPS);
			assertThat(complete).hasSize(GROUPS).containsOnly("[part 0, part 1, part 2, part 3]");
			assertThat(TestPostgres.query("SELECT group_key FROM int_message_group")).isEmpty();
			assertThat(TestPostgres.locks()).isEmpty();
		}
	}

	private static ConfigurableApplicationContext start() {
		return new SpringApplicationBuilder(Orders.class).web(WebApplicationType.NONE)
			.properties("spring.datasource.url=" + TestPostgres.url(), "spring.application.name=shop",
					"spring.datasource.hikari.maximum-pool-size=4", "spring.jmx.enabled=false")
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.modulith.events.config.EventPublicationAutoConfiguration",
					"org.springframework.modulith.events.jdbc.JdbcEventPublicationAutoConfiguration" })
	static class Orders {

		@Bean
		JdbcMessageStore groups(DataSource dataSource) {
			return new JdbcMessageStore(dataSource);
		}

		@Bean
		IntegrationFlow orders(JdbcMessageStore groups, LockRegistry<?> locks) {
			return (flow) -> flow
				.aggregate((parts) -> parts.messageStore(groups)
					.lockRegistry(locks)
					.releaseStrategy((group) -> group.size() == GROUP_SIZE)
					.expireGroupsUponCompletion(true))
				.handle((message) -> complete
					.add(((List<?>) message.getPayload()).stream().sorted().toList().toString()));
		}

	}

}
