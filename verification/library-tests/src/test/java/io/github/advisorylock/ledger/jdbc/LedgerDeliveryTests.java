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

package io.github.advisorylock.ledger.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockRequest#oncePerKey()}: events that arrive many times at once, at
 * two instances, and whose first attempt fails now and then.
 */
class LedgerDeliveryTests extends AbstractLedgerTests {

	private static final int DELIVERIES = 50;

	private final Set<Integer> failed = ConcurrentHashMap.newKeySet();

	private final AtomicInteger alreadyRan = new AtomicInteger();

	@Test
	@Timeout(60)
	void eachOfFortyEventsHasOneEffect() throws Exception {
		assertThatEachEventHasOneEffect(40);
	}

	@Test
	@Tag("chaos")
	@Timeout(600)
	void eachOfThousandEventsHasOneEffect() throws Exception {
		assertThatEachEventHasOneEffect(1000);
	}

	private void assertThatEachEventHasOneEffect(int events) throws Exception {
		usePool(TestPostgres.pool(10));
		try (HikariDataSource otherPool = TestPostgres.pool(10)) {
			PostgresAdvisoryLockTemplate other = createTemplate(otherPool, new JdbcTransactionManager(otherPool));
			List<Future<?>> deliveries = new ArrayList<>();
			for (int i = 0; i < DELIVERIES; i++) {
				PostgresAdvisoryLockTemplate receiver = (i % 2 == 0) ? this.template : other;
				JdbcTemplate jdbc = (i % 2 == 0) ? this.jdbc : new JdbcTemplate(otherPool);
				deliveries.add(this.threads.submit(() -> deliverAll(receiver, jdbc, events)));
			}
			for (Future<?> delivery : deliveries) {
				delivery.get(10, TimeUnit.MINUTES);
			}
		}
		assertThat(effects()).hasSize(events).doesNotHaveDuplicates();
		assertThat(this.failed).hasSize(events / 10);
		assertThat(this.alreadyRan).hasValue((DELIVERIES - 1) * events);
		assertThat(outcomes().stream().filter("EXECUTED"::equals)).hasSize(events);
		assertThat(outcomes().stream().filter("FAILED"::equals)).hasSize(events / 10);
		assertThat(outcomes()).hasSize(events + events / 10);
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_completion")).hasSize(events);
		assertThat(TestPostgres.query("SELECT key FROM ledger_tests_job")).isEmpty();
	}

	private void deliverAll(PostgresAdvisoryLockTemplate receiver, JdbcTemplate jdbc, int events) {
		for (int event = 0; event < events; event++) {
			LockOutcome outcome = deliver(receiver, jdbc, event);
			while (outcome == LockOutcome.BUSY) {
				outcome = deliver(receiver, jdbc, event);
			}
			if (outcome == LockOutcome.ALREADY_RAN) {
				this.alreadyRan.incrementAndGet();
			}
		}
	}

	/**
	 * Deliver once, with a failure where that is the first attempt of every tenth event;
	 * a failure is delivered again as a busy event is.
	 */
	private LockOutcome deliver(PostgresAdvisoryLockTemplate receiver, JdbcTemplate jdbc, int event) {
		LockRequest request = LockRequest.of("event-" + event).oncePerKey().waitFor(SHORT);
		try {
			return receiver.execute(request, (lock) -> {
				jdbc.update("INSERT INTO ledger_effect (id) VALUES (?)", "event-" + event);
				if (event % 10 == 0 && this.failed.add(event)) {
					throw new IllegalStateException("expected");
				}
				return null;
			}).outcome();
		}
		catch (IllegalStateException ex) {
			return LockOutcome.BUSY;
		}
	}

}
