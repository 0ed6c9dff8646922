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

package io.github.advisorylock.annotation;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.doctor.LockDoctor;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.TestPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link SingleRunnerOperationParser}: what arguments may make of a key.
 */
class SingleRunnerKeyTests {

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean(Jobs.class);

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "leader:reports", "advisory-lock:ledger-housekeeping", "nightly-report" })
	void keyThatIsNotForArgumentsIsRefusedAndNothingRuns(String id) {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.transaction(id))
				.withMessageMatching(
						"(?s).* (is empty|is null|which is kept for the locks of|is the key of method 'report').*");
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.session(id))
				.withMessageMatching(
						"(?s).* (is empty|is null|which is kept for the locks of|is the key of method 'report').*");
			assertThat(jobs.ran()).isEmpty();
			assertThat(TestPostgres.locks()).isEmpty();
			jobs.transaction("other");
			assertThat(jobs.ran()).containsExactly("other");
		});
	}

	@Test
	void keyThatIsNotForArgumentsIsRefusedWhateverNumbersAreMadeOfIt() {
		this.runner
			.withBean(AdvisoryLockKeyFactory.class,
					() -> (namespace, name) -> AdvisoryLockKey.ofValue((namespace + name).hashCode()))
			.run((context) -> {
				Jobs jobs = context.getBean(Jobs.class);
				assertThatIllegalArgumentException().isThrownBy(() -> jobs.transaction("leader:reports"))
					.withMessageContaining("kept for the locks of leaders");
				assertThatIllegalArgumentException().isThrownBy(() -> jobs.transaction("nightly-report"))
					.withMessageContaining("is the key of method 'report'")
					.withMessageContaining("'allowSharedKey'");
			});
	}

	@Test
	void keyThatCannotBeEvaluatedIsToldByKeyMethodAndBean() {
		LockContextRunner.create().withBean("orders", Orders.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThatIllegalArgumentException().isThrownBy(() -> orders.process(42))
				.withMessageContaining("'order:#{#order.nmae}'")
				.withMessageContaining("method 'process'")
				.withMessageContaining("on bean 'orders'");
			assertThatIllegalArgumentException().isThrownBy(() -> orders.pay(null))
				.withMessageContaining("'pay:#{#id}'")
				.withMessageContaining("on bean 'orders'");
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', quoteCharacter = '"', commentCharacter = '%', textBlock = """
			t#{#ticket.next()}; t1
			#{'t' + #ticket.next()}; t1
			#{#ticket.next() + '-' + #ticket.next()}; 1-2
			#{#ticket.next() + ('-' + #ticket.next())}; 1-2
			#{'t' + (#ticket.next() ?: 0)}; t1
			#{'t' + (#ticket.next() + 1)}; t2
			""")
	void argumentIsReadOncePerCall(String key, String expected) {
		LockContextRunner.create().withBean(Tickets.class).withPropertyValues("key=" + key).run((context) -> {
			AtomicInteger reads = new AtomicInteger();
			boolean free = context.getBean(Tickets.class)
				.isFreeWhileRunning(reads::incrementAndGet, AdvisoryLockKey.of("test", expected));
			assertThat(free).as("the key that is locked is not '" + expected + "'").isFalse();
			assertThat(reads).hasValue(StringUtils.countOccurrencesOf(key, "next"));
		});
	}

	@Test
	void fixedKeyOfMethodThatAllowsThatTooMayBeMade() {
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.sharing("shared");
			assertThat(jobs.ran()).containsExactly("shared");
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.sharing("nightly-report"))
				.withMessageContaining("'test/nightly-report' is the key of method 'report'");
			assertThatIllegalArgumentException().isThrownBy(() -> jobs.transaction("shared"))
				.withMessageContaining("'test/shared' is the key of method 'shared'");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock:own", "leader:x" })
	void textThatIsKeptIsRefusedAtStart(String key) {
		assertThat(LockContextRunner
			.analyzeFailure(LockContextRunner.create().withBean(Configured.class).withPropertyValues("key=" + key))
			.getDescription()).contains("attribute 'key' starts with '" + key.substring(0, key.indexOf(':') + 1));
	}

	@Test
	void doctorWarnsOfKeysWithoutTextOfTheirOwn() {
		String logger = LockDoctor.class.getName();
		try (LogRecorder log = LogRecorder.of(logger, "info")) {
			this.runner.run(LockContextRunner.started(() -> assertThat(warnings(log)).hasSize(3)
				.anyMatch((warning) -> warning.contains("The key '#{#id}' of method 'transaction'")
						&& warning.contains("advisory-lock.doctor.bare-key"))
				.noneMatch((warning) -> warning.contains("export"))));
		}
		try (LogRecorder log = LogRecorder.of(logger, "info")) {
			this.runner.withPropertyValues("advisory-lock.doctor.bare-key=off")
				.run(LockContextRunner.started(() -> assertThat(warnings(log)).isEmpty()));
		}
		this.runner.withPropertyValues("advisory-lock.doctor.bare-key=fail")
			.run((context) -> assertThat(context).hasFailed());
	}

	private static List<String> warnings(LogRecorder log) {
		return log.events()
			.stream()
			.filter((event) -> event.getLevel() == Level.WARN)
			.map(ILoggingEvent::getFormattedMessage)
			.filter((message) -> message.contains("The key '"))
			.toList();
	}

	static class Orders {

		@SingleRunner("order:#{#order.nmae}")
		void process(Object order) {
		}

		@SingleRunner("pay:#{#id}")
		void pay(@Nullable String id) {
		}

	}

	static class Jobs {

		private final List<String> ran = new CopyOnWriteArrayList<>();

		@SingleRunner("nightly-report")
		void report() {
		}

		@SingleRunner(key = "shared", allowSharedKey = true)
		void shared() {
		}

		@SingleRunner("#{#id}")
		void transaction(String id) {
			this.ran.add(id);
		}

		@SingleRunner(key = "#{#name}", scope = LockScope.SESSION)
		void session(String name) {
			this.ran.add(name);
		}

		@SingleRunner(key = "#{#text}", allowSharedKey = true)
		void sharing(String text) {
			this.ran.add(text);
		}

		@SingleRunner("export:#{#id}")
		void export(String id) {
			this.ran.add(id);
		}

		List<String> ran() {
			return this.ran;
		}

	}

	static class Tickets {

		@SingleRunner("${key}")
		Boolean isFreeWhileRunning(Ticket ticket, AdvisoryLockKey expected) {
			return ForeignSession.isFree(expected);
		}

	}

	/**
	 * An argument that shows how often it is read.
	 */
	@FunctionalInterface
	public interface Ticket {

		int next();

	}

	static class Configured {

		@SingleRunner("${key}")
		void run() {
		}

	}

}
