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

package io.github.advisorylock.sample.outbox;

import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.SampleInstance;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataIntegrityViolationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link OutboxDrain} with two instances of the application on one database.
 */
@Tag("gate")
class OutboxDrainTests {

	private static SampleInstance one;

	private static SampleInstance two;

	@BeforeAll
	static void start() {
		one = SampleInstance.start("sample.outbox.pause-per-message=20ms");
		two = SampleInstance.start("sample.outbox.pause-per-message=20ms");
	}

	@AfterAll
	static void stop() {
		one.close();
		two.close();
	}

	@BeforeEach
	void emptyOutbox() {
		TestPostgres.execute("DELETE FROM outbox");
	}

	@Test
	void twoInstancesShareTheMessagesAndSendEachOnce() {
		insert(60);
		CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> drainAll(one));
		CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> drainAll(two));
		assertThat(first.join() + second.join()).isEqualTo(60);
		assertThat(first.join()).isPositive();
		assertThat(second.join()).isPositive();
		assertThat(TestPostgres.query("SELECT count(*) FROM outbox WHERE sent_by = '" + name(one) + "'"))
			.containsExactly(first.join().toString());
		assertThat(TestPostgres.query("SELECT count(*) FROM outbox WHERE sent_by = '" + name(two) + "'"))
			.containsExactly(second.join().toString());
		assertThat(two.calls().get("/").body()).contains("Who sent how many", name(one), name(two));
	}

	@Test
	void messagesThatAnotherHasAreNotWaitedForAndAreFreeWhenItGaveUp() throws Exception {
		insert(7);
		try (Connection other = TestPostgres.open(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("SELECT FROM outbox ORDER BY id LIMIT 5 FOR UPDATE");
			assertThat(CompletableFuture.supplyAsync(() -> drainAll(one))).succeedsWithin(Patience.TIME).isEqualTo(2);
			other.rollback();
		}
		assertThat(drainAll(two)).isEqualTo(5);
	}

	@Test
	void messagesOfAnInstanceThatFailsAreSentByAnother() {
		insert(3);
		String last = TestPostgres.query("SELECT max(id) FROM outbox").get(0);
		TestPostgres.execute("ALTER TABLE outbox ADD CONSTRAINT seeded CHECK (id < " + last + ") NOT VALID");
		try {
			assertThatExceptionOfType(DataIntegrityViolationException.class)
				.isThrownBy(one.bean(OutboxDrain.class)::drain)
				.havingRootCause()
				.withMessageContaining("seeded");
		}
		finally {
			TestPostgres.execute("ALTER TABLE outbox DROP CONSTRAINT seeded");
		}
		assertThat(drainAll(two)).isEqualTo(3);
	}

	private static int drainAll(SampleInstance instance) {
		int all = 0;
		for (int sent = instance.bean(OutboxDrain.class).drain(); sent > 0;) {
			all += sent;
			sent = instance.bean(OutboxDrain.class).drain();
		}
		return all;
	}

	private static void insert(int messages) {
		TestPostgres.execute("INSERT INTO outbox (topic, payload) SELECT 'test', n::text FROM generate_series(1, "
				+ messages + ") AS n");
	}

	/**
	 * Both are in this process, whose name they have.
	 */
	private static String name(SampleInstance instance) {
		return instance.bean(Instance.class).name();
	}

}
