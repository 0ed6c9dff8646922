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

import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for results that are kept with a completed key.
 */
class KeptResultTests {

	private final ApplicationContextRunner plain = LockContextRunner.create()
		.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=kept_tests.ledger_");

	private final ApplicationContextRunner runner = this.plain
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class))
		.withBean("orders", Orders.class);

	private final ExecutorService executor = Executors.newCachedThreadPool();

	@AfterEach
	void shutDown() {
		this.executor.shutdownNow();
	}

	@BeforeEach
	void createSchema() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS kept_tests CASCADE; CREATE SCHEMA kept_tests; "
				+ "CREATE TABLE kept_tests.effect (id text)");
	}

	@Test
	void secondDeliveryGetsFirstOnesAnswerOnAnotherInstance() {
		this.runner.run((first) -> this.runner.run((second) -> {
			Receipt receipt = orders(first).receipt("a");
			assertThat(orders(second).receipt("a")).isEqualTo(receipt).isNotSameAs(receipt);
			assertThat(orders(first).maybe("a")).contains(orders(second).maybe("a").orElseThrow());
			LockResult<Receipt> executed = orders(first).result("a");
			LockResult<Receipt> again = orders(second).result("a");
			assertThat(executed.outcome()).isEqualTo(LockOutcome.EXECUTED);
			assertThat(again.outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(again.value()).isEqualTo(executed.value());
			assertThat(orders(second).generic("a")).isEqualTo(orders(first).generic("a"));
			assertThat(orders(second).session("a")).isEqualTo(orders(first).session("a"));
			assertThat(orders(second).transactional("a")).isEqualTo(orders(first).transactional("a"));
			assertThat(orders(first).calls() + orders(second).calls()).isEqualTo(6);
			assertThat(orders(second).payments("a")).isEqualTo(orders(first).payments("a"))
				.containsExactly(new Card("1234"), new Transfer("DE02"));
		}));
	}

	@Test
	void secondCallInTheTransactionOfTheFirstGetsItsAnswer() {
		this.runner.run((context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			Receipt receipt = transaction.execute((status) -> {
				Receipt first = orders(context).receipt("a");
				assertThat(TestPostgres.query("SELECT key FROM kept_tests.ledger_completion")).isEmpty();
				assertThat(orders(context).receipt("a")).isEqualTo(first);
				return first;
			});
			assertThat(orders(context).receipt("a")).isEqualTo(receipt);
			assertThat(orders(context).calls()).isOne();
		});
	}

	@Test
	void textOfAnyAlphabetComesBack() {
		this.runner.run((context) -> {
			assertThat(orders(context).echo("key", "\u20ac \u4e2d\u6587 \ud83d\udd12 \u0000 \"")).isNotEmpty();
			assertThat(orders(context).echo("key", "")).isEqualTo("\u20ac \u4e2d\u6587 \ud83d\udd12 \u0000 \"");
			assertThat(TestPostgres.query("SELECT result FROM kept_tests.ledger_completion")).singleElement()
				.asString()
				.matches("\\p{ASCII}+");
		});
	}

	@Test
	void nothingIsKeptOfNothing() {
		this.runner.run((context) -> {
			assertThat(orders(context).none("a")).isNull();
			assertThat(orders(context).none("a")).isNull();
			assertThat(orders(context).noneMaybe("a")).isEmpty();
			assertThat(orders(context).noneMaybe("a")).isEmpty();
			assertThat(orders(context).calls()).isEqualTo(2);
		});
	}

	@Test
	void valueIsCommittedWithItsEffectOrNotAtAll() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> orders(context).failing("a"))
				.withMessage("the first time");
			assertThat(TestPostgres.query("SELECT result FROM kept_tests.ledger_completion")).isEmpty();
			assertThat(orders(context).failing("a")).isEqualTo("second");
			assertThat(orders(context).failing("a")).isEqualTo("second");
		});
	}

	@Test
	void valueThatCannotBeWrittenFailsTheRunBeforeItsCommit() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> orders(context).unwritable("a"))
				.withMessageContainingAll("'Orders.unwritable'", "advisory lock 'test/unwritable:a'", "nesting depth")
				.withCauseInstanceOf(JacksonException.class);
			assertNothingIsDone();
		});
	}

	@Test
	void valueThatIsTooLargeFailsTheRunBeforeItsCommit() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> orders(context).large("a"))
				.withMessageContainingAll("'Orders.large'", "advisory lock 'test/large:a'", "more than 1048576");
			assertNothingIsDone();
		});
	}

	private static void assertNothingIsDone() {
		assertThat(TestPostgres.query("SELECT id FROM kept_tests.effect")).isEmpty();
		assertThat(TestPostgres.query("SELECT key FROM kept_tests.ledger_completion")).isEmpty();
		assertThat(TestPostgres.query("SELECT outcome FROM kept_tests.ledger_run")).containsExactly("FAILED");
	}

	@Test
	void valueThatCannotBeReadAnyMoreIsAnErrorAndTheWorkIsNotDoneAgain() {
		this.runner.run((context) -> {
			orders(context).receipt("a");
			TestPostgres.execute("UPDATE kept_tests.ledger_completion SET result = '{\"number\":\"seven\"}'");
			assertThatIllegalStateException().isThrownBy(() -> orders(context).receipt("a"))
				.withMessageContaining("Orders.receipt")
				.withMessageContaining("receipt:a")
				.withMessageContaining("is not done again");
			assertThat(orders(context).calls()).isOne();
		});
	}

	@Test
	void keyThatWasCompletedBeforeResultsWereKeptHasNone() {
		this.runner.run((context) -> {
			assertThat(orders(context).maybe("a")).isPresent();
			TestPostgres.execute("UPDATE kept_tests.ledger_completion SET result = NULL");
			assertThat(orders(context).maybe("a")).isEmpty();
		});
	}

	@Test
	void deliveryThatComesInBetweenIsBusyAndOneThatWaitsGetsTheValue() {
		ApplicationContextRunner patient = this.runner.withPropertyValues("advisory-lock.wait-for=30s");
		this.runner.run((first) -> this.runner.run((second) -> patient.run((third) -> {
			Orders orders = orders(first);
			CountDownLatch hold = new CountDownLatch(1);
			orders.holdUp(hold);
			Future<LockResult<Receipt>> running = this.executor.submit(() -> orders.result("slow"));
			orders.awaitEntered();
			assertThat(orders(second).result("slow").outcome()).isEqualTo(LockOutcome.BUSY);
			Future<LockResult<Receipt>> waiting = this.executor.submit(() -> orders(third).result("slow"));
			hold.countDown();
			assertThat(waiting.get().outcome()).isEqualTo(LockOutcome.ALREADY_RAN);
			assertThat(waiting.get().value()).isEqualTo(running.get().value());
		})));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void mistakeIsFoundAtTheStart(Class<?> type, String problem) {
		this.plain.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class))
			.withBean("jobs", type)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("'jobs'")
				.rootCause()
				.hasMessageContaining("keepResult")
				.hasMessageContaining(problem));
	}

	static List<Arguments> mistakeIsFoundAtTheStart() {
		return List.of(Arguments.of(NotPerKey.class, "needs attribute 'once' to be PER_KEY"),
				Arguments.of(ReturnsNothing.class, "returns 'void'"),
				Arguments.of(ReturnsAnything.class, "returns 'java.lang.Object'"),
				Arguments.of(ReturnsRawResult.class, "returns 'io.github.advisorylock.LockResult'"));
	}

	@Test
	void jacksonThatIsMissingIsNamedAtTheStart() {
		this.plain.withBean("orders", Orders.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("there is no 'JsonMapper' bean"));
	}

	@Test
	void whatIsKeptCanBeWrittenAheadOfTime() {
		RuntimeHints hints = new RuntimeHints();
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, Orders.class);
		assertThat(RuntimeHintsPredicates.reflection().onType(Receipt.class).test(hints)).isTrue();
	}

	private static Orders orders(ApplicationContext context) {
		return context.getBean(Orders.class);
	}

	/**
	 * What a handler answers.
	 */
	record Receipt(int number, BigDecimal amount, Instant at, List<String> items) {

	}

	/**
	 * One of several types, which its JSON names.
	 */
	@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME)
	@JsonSubTypes({ @JsonSubTypes.Type(Card.class), @JsonSubTypes.Type(Transfer.class) })
	interface Payment {

	}

	record Card(String number) implements Payment {

	}

	record Transfer(String account) implements Payment {

	}

	/**
	 * Handlers of deliveries.
	 */
	static class Orders {

		private final AtomicInteger calls = new AtomicInteger();

		private final CountDownLatch entered = new CountDownLatch(1);

		private volatile @Nullable CountDownLatch hold;

		private final JdbcTemplate jdbc;

		Orders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		int calls() {
			return this.calls.get();
		}

		void holdUp(CountDownLatch hold) {
			this.hold = hold;
		}

		void awaitEntered() throws InterruptedException {
			assertThat(this.entered.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}

		private Receipt make() {
			return new Receipt(this.calls.incrementAndGet(), new BigDecimal("12.50"),
					Instant.parse("2026-03-01T03:00:00.123456Z"), List.of("pen", "ink"));
		}

		@SingleRunner(key = "receipt:#{#id}", once = Once.PER_KEY, keepResult = true)
		Receipt receipt(String id) {
			return make();
		}

		@SingleRunner(key = "maybe:#{#id}", once = Once.PER_KEY, keepResult = true)
		Optional<Receipt> maybe(String id) {
			return Optional.of(make());
		}

		@SingleRunner(key = "result:#{#id}", once = Once.PER_KEY, keepResult = true)
		LockResult<Receipt> result(String id) throws InterruptedException {
			CountDownLatch hold = this.hold;
			if (hold != null) {
				this.entered.countDown();
				hold.await();
			}
			return LockResult.executed(make());
		}

		@SingleRunner(key = "generic:#{#id}", once = Once.PER_KEY, keepResult = true)
		Map<String, List<Receipt>> generic(String id) {
			return Map.of(id, List.of(make()));
		}

		@SingleRunner(key = "payments:#{#id}", once = Once.PER_KEY, keepResult = true)
		List<Payment> payments(String id) {
			return List.of(new Card("1234"), new Transfer("DE02"));
		}

		@SingleRunner(key = "session:#{#id}", once = Once.PER_KEY, keepResult = true, scope = LockScope.SESSION)
		Receipt session(String id) {
			return make();
		}

		@Transactional
		@SingleRunner(key = "transactional:#{#id}", once = Once.PER_KEY, keepResult = true)
		Receipt transactional(String id) {
			return make();
		}

		@SingleRunner(key = "echo:#{#id}", once = Once.PER_KEY, keepResult = true)
		String echo(String id, String text) {
			return text;
		}

		@SingleRunner(key = "none:#{#id}", once = Once.PER_KEY, keepResult = true)
		@Nullable Receipt none(String id) {
			this.calls.incrementAndGet();
			return null;
		}

		@SingleRunner(key = "none-maybe:#{#id}", once = Once.PER_KEY, keepResult = true)
		Optional<Receipt> noneMaybe(String id) {
			this.calls.incrementAndGet();
			return Optional.empty();
		}

		@SingleRunner(key = "failing:#{#id}", once = Once.PER_KEY, keepResult = true)
		String failing(String id) {
			if (this.calls.incrementAndGet() == 1) {
				throw new IllegalStateException("the first time");
			}
			return "second";
		}

		@SingleRunner(key = "unwritable:#{#id}", once = Once.PER_KEY, keepResult = true)
		Map<String, Object> unwritable(String id) {
			this.jdbc.update("INSERT INTO kept_tests.effect VALUES (?)", id);
			Map<String, Object> endless = new HashMap<>();
			endless.put("itself", endless);
			return endless;
		}

		@SingleRunner(key = "large:#{#id}", once = Once.PER_KEY, keepResult = true)
		String large(String id) {
			this.jdbc.update("INSERT INTO kept_tests.effect VALUES (?)", id);
			return "x".repeat(1 << 20);
		}

	}

	static class NotPerKey {

		@SingleRunner(key = "job", keepResult = true)
		String run() {
			return "";
		}

	}

	static class ReturnsNothing {

		@SingleRunner(key = "job:#{#id}", once = Once.PER_KEY, keepResult = true)
		void run(String id) {
		}

	}

	static class ReturnsAnything {

		@SingleRunner(key = "job:#{#id}", once = Once.PER_KEY, keepResult = true)
		Object run(String id) {
			return id;
		}

	}

	static class ReturnsRawResult {

		@SingleRunner(key = "job:#{#id}", once = Once.PER_KEY, keepResult = true)
		@SuppressWarnings("rawtypes")
		LockResult run(String id) {
			return LockResult.executed(id);
		}

	}

}
