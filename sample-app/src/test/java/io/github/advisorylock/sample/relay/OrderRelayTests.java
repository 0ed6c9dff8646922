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

package io.github.advisorylock.sample.relay;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.sample.SampleInstance;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OrderRelay} with two instances of the application on a database of
 * their own, which is looked at from outside.
 */
@Tag("gate")
class OrderRelayTests {

	private static final String URL = TestPostgres.url().replaceFirst("(//[^/]+/)[^?]*", "$1relay");

	private static final String LOCKS = IntStream.range(0, OrderRelay.SHARDS)
		.mapToObj((shard) -> AdvisoryLockKey.of("sample-app", "leader:relay#" + shard))
		.map((key) -> String.valueOf(key.value()))
		.collect(Collectors.joining(", "));

	private static final String TERMS = "SELECT term FROM order_relay_term ORDER BY shard";

	@BeforeEach
	void createDatabase() {
		TestPostgres.execute("CREATE DATABASE relay");
	}

	@AfterEach
	void dropDatabase() {
		TestPostgres.execute("DROP DATABASE relay WITH (FORCE)");
	}

	@Test
	void instancesSendEachMessageOnceAndInOrderEachThoseOfItsShards() {
		try (SampleInstance one = start("one"); SampleInstance two = start("two")) {
			awaitShards("4", "4");
			TestPostgres.execute(URL, "CREATE TABLE sent (place serial, id bigint, order_no bigint)");
			TestPostgres.execute(URL, "CREATE RULE remember AS ON UPDATE TO order_message DO ALSO "
					+ "INSERT INTO sent (id, order_no) VALUES (OLD.id, OLD.order_no)");
			awaitOrders(one);
			assertThat(query("SELECT count(*) FROM order_message GROUP BY sent_by ORDER BY sent_by")).hasSize(2)
				.containsOnly("24");
			assertThat(two.calls().get("/").body()).contains("Who leads which shard", ">one<", ">two<", "0 wait");
			List<String> terms = query(TERMS);
			two.close();
			awaitShards("8");
			awaitOrders(one);
			assertThat(query("SELECT count(*) FROM order_message GROUP BY sent_by ORDER BY sent_by"))
				.containsExactly("72", "24");
			assertThat(query(TERMS)).hasSize(OrderRelay.SHARDS)
				.satisfies((later) -> assertThat(IntStream.range(0, OrderRelay.SHARDS)
					.map((shard) -> Long.valueOf(later.get(shard)).compareTo(Long.valueOf(terms.get(shard)))))
					.containsExactlyInAnyOrder(0, 0, 0, 0, 1, 1, 1, 1));
			assertThat(query("SELECT id FROM sent GROUP BY id HAVING count(*) > 1")).as("sent twice").isEmpty();
			assertThat(query("SELECT late.id FROM sent late JOIN sent early USING (order_no) "
					+ "WHERE late.id > early.id AND late.place < early.place"))
				.as("sent too early")
				.isEmpty();
		}
	}

	@Test
	void leaderOfAnEarlierTermSendsNothingOfItsShard() {
		try (SampleInstance one = start("one")) {
			awaitShards("8");
			TestPostgres.execute(URL, "UPDATE order_relay_term SET term = term + 1000000000 WHERE shard = 3");
			one.calls().press("/try/orders");
			awaitUnsent("3", "3", "3", "3", "3", "3");
			one.calls().press("/try/orders");
			awaitUnsent("3", "3", "3", "3", "3", "3", "3", "3", "3", "3", "3", "3");
			TestPostgres.execute(URL, "UPDATE order_relay_term SET term = term - 1000000000 WHERE shard = 3");
			awaitUnsent();
		}
	}

	private static SampleInstance start(String name) {
		return SampleInstance.start("spring.datasource.url=" + URL, "advisory-lock.instance=" + name,
				"advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=600ms",
				"sample.relay.every=100ms");
	}

	/**
	 * Have orders placed, and wait until their messages are sent.
	 */
	private static void awaitOrders(SampleInstance instance) {
		assertThat(instance.calls().press("/try/orders").statusCode()).isEqualTo(204);
		awaitUnsent();
	}

	private static void awaitUnsent(String... shards) {
		Awaitility.await()
			.untilAsserted(() -> assertThat(query("SELECT order_no % 8 FROM order_message WHERE sent_at IS NULL"))
				.containsExactly(shards));
	}

	/**
	 * Wait until so many shards are locked by each session that has some, and called.
	 */
	private static void awaitShards(String... numbers) {
		Awaitility.await().untilAsserted(() -> {
			assertThat(query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
					+ "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
					+ "AND (classid::bigint << 32) | objid::bigint IN (" + LOCKS + ") GROUP BY pid ORDER BY 1"))
				.containsExactly(numbers);
			assertThat(query(TERMS)).hasSize(OrderRelay.SHARDS);
		});
	}

	private static List<String> query(String sql) {
		return TestPostgres.query(URL, sql);
	}

}
