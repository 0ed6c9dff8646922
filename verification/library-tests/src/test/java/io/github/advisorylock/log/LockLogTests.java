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

package io.github.advisorylock.log;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import com.jayway.jsonpath.JsonPath;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.LogRecorder;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockLog}: what runs, skips and losses leave in the log.
 */
@Tag("gate")
class LockLogTests {

	private final ApplicationContextRunner runner = LockContextRunner.create().withBean(Jobs.class);

	@Test
	void runIsOneLineAtInfoWithKeyOutcomeAndDuration() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "info")) {
				long begin = System.nanoTime();
				context.getBean(Jobs.class).run(() -> Pause.of(Duration.ofMillis(20)));
				long took = Duration.ofNanos(System.nanoTime() - begin).toMillis();
				ILoggingEvent line = onlyLine(log, Level.INFO);
				assertThat(line.getFormattedMessage()).matches("Ran 'test/logged' \\(Jobs\\.run\\) in \\d+ ms");
				assertThat(LogRecorder.fields(line))
					.containsAllEntriesOf(Map.of("advisory_lock.key", "logged", "advisory_lock.namespace", "test",
							"advisory_lock.scope", "transaction", "advisory_lock.method", "Jobs.run",
							"advisory_lock.outcome", "executed"))
					.hasEntrySatisfying("advisory_lock.duration_ms",
							(millis) -> assertThat((Long) millis).isBetween(20L, took));
			}
		});
	}

	@Test
	void plannedTimeIsAFieldOfRunAndSkip() {
		Instant tick = Instant.now().truncatedTo(ChronoUnit.DAYS);
		this.runner.run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
				PlannedTime.run(tick, jobs::daily);
				try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "logged-daily"))) {
					PlannedTime.run(tick, jobs::daily);
				}
				assertThat(log.events()).extracting((line) -> LogRecorder.fields(line).get("advisory_lock.tick"))
					.containsExactly(tick.toString(), tick.toString());
			}
		});
	}

	@Test
	void failedRunIsOneLineAtInfoWithTypeAndWithoutStackTrace() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "info")) {
				assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(() -> {
					throw new IllegalStateException("secret");
				})).withMessage("secret");
				ILoggingEvent line = onlyLine(log, Level.INFO);
				assertThat(line.getThrowableProxy()).isNull();
				assertThat(line.getFormattedMessage())
					.matches("Failed 'test/logged' \\(Jobs\\.run\\) after \\d+ ms: java.lang.IllegalStateException");
				assertThat(LogRecorder.fields(line)).containsEntry("advisory_lock.outcome", "failed")
					.containsEntry("advisory_lock.error", "java.lang.IllegalStateException");
			}
		});
	}

	@Test
	void skipIsOneLineAtDebugWithReasonAndNoneAtInfo() {
		this.runner.run((context) -> {
			try (ForeignSession foreign = ForeignSession.holding(AdvisoryLockKey.of("test", "logged"))) {
				try (LogRecorder log = LogRecorder.of(LockLog.RUN, "info")) {
					context.getBean(Jobs.class).run(() -> {
					});
					assertThat(log.events()).isEmpty();
				}
				try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
					context.getBean(Jobs.class).run(() -> {
					});
					ILoggingEvent line = onlyLine(log, Level.DEBUG);
					assertThat(line.getFormattedMessage())
						.isEqualTo("Skipped 'test/logged' (Jobs.run), busy: another holder has the lock");
					assertThat(LogRecorder.fields(line)).containsEntry("advisory_lock.outcome", "busy")
						.containsEntry("advisory_lock.reason", "another holder has the lock");
				}
			}
		});
	}

	@Test
	void runOfKeyWithArgumentsIsOneLineAtDebugAndNoneAtInfo() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "info")) {
				context.getBean(Jobs.class).runFor("x");
				assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).runFor("fail"))
					.withMessage("fail");
				assertThat(log.events()).isEmpty();
			}
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
				context.getBean(Jobs.class).runFor("x");
				assertThat(onlyLine(log, Level.DEBUG).getFormattedMessage())
					.startsWith("Ran 'test/for:x' (Jobs.runFor)");
			}
		});
	}

	@Test
	void levelWarnOfLoggerQuietsRunsAndFailures() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "warn")) {
				context.getBean(Jobs.class).run(() -> {
				});
				assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).run(() -> {
					throw new IllegalStateException("no");
				})).withMessage("no");
				assertThat(log.events()).isEmpty();
			}
		});
	}

	@Test
	void lostLockIsOneWarningWithKey() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.ALERT, "warn")) {
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> context.getBean(Jobs.class).runLong(LockLogTests::loseLock));
				Awaitility.await().until(() -> !log.events().isEmpty());
				ILoggingEvent line = onlyLine(log, Level.WARN);
				assertThat(line.getFormattedMessage()).startsWith("Lost the lock on 'test/logged-long'");
				assertThat(LogRecorder.fields(line)).containsEntry("advisory_lock.alert", "lost")
					.containsEntry("advisory_lock.key", "logged-long")
					.containsEntry("advisory_lock.namespace", "test")
					.containsEntry("advisory_lock.scope", "session");
			}
		});
	}

	@Test
	void keyFromOutsideCanNotFakeLine() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
				context.getBean(Jobs.class).runFor("x\nRan 'fake'");
				assertThat(log.messages()).singleElement().asString().startsWith("Ran 'test/for:x?Ran 'fake''");
			}
		});
	}

	@Test
	void keyFromOutsideCanNotTurnLineAround() {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
				context.getBean(Jobs.class).runFor("a\u202eb\u2028c\u2029d\u0085e");
				assertThat(log.messages()).singleElement().asString().startsWith("Ran 'test/for:a?b?c?d?e' (");
				assertThat(LogRecorder.fields(log.events().get(0))).containsEntry("advisory_lock.key", "for:a?b?c?d?e");
			}
		});
	}

	@Test
	void longKeyFromOutsideFillsNeitherLineNorEvent() {
		List<SingleRunnerFinishedEvent> events = new ArrayList<>();
		this.runner
			.withInitializer((context) -> context
				.addApplicationListener(ApplicationListener.<SingleRunnerFinishedEvent>forPayload(events::add)))
			.run((context) -> {
				try (LogRecorder log = LogRecorder.of(LockLog.RUN, "debug")) {
					context.getBean(Jobs.class).runFor("x".repeat(100_000));
					assertThat(log.messages()).singleElement().asString().hasSizeLessThan(300).contains("(100009 char");
					assertThat(LogRecorder.fields(log.events().get(0)).toString()).hasSizeLessThan(600);
					assertThat(events).singleElement().asString().hasSizeLessThan(500);
					assertThat(events.get(0).key().name()).hasSize(100_004);
				}
			});
	}

	@ParameterizedTest
	@CsvSource({ "ecs, $.advisory_lock.", "logstash, $['advisory_lock.", "gelf, $['_advisory_lock." })
	void structuredLoggingOfSpringBootMakesFieldsOfPairs(String format, String prefix) {
		this.runner.run((context) -> {
			try (LogRecorder log = LogRecorder.of(LockLog.RUN, "info")) {
				context.getBean(Jobs.class).run(() -> {
				});
				String json = LogRecorder.json(onlyLine(log, Level.INFO), format);
				String end = prefix.contains("[") ? "']" : "";
				assertThat(JsonPath.<String>read(json, prefix + "key" + end)).isEqualTo("logged");
				assertThat(JsonPath.<String>read(json, prefix + "outcome" + end)).isEqualTo("executed");
				assertThat(JsonPath.<Number>read(json, prefix + "duration_ms" + end).longValue()).isNotNegative();
			}
		});
	}

	private static ILoggingEvent onlyLine(LogRecorder log, Level level) {
		assertThat(log.events()).singleElement().extracting(ILoggingEvent::getLevel).isEqualTo(level);
		return log.events().get(0);
	}

	private static void loseLock() {
		TestPostgres.terminate("test");
		LockContext lock = LockContext.current().orElseThrow();
		Awaitility.await().atMost(Patience.TIME).until(() -> !lock.isHeld());
	}

	static class Jobs {

		@SingleRunner(key = "logged")
		void run(Runnable work) {
			work.run();
		}

		@SingleRunner("logged-daily")
		@Scheduled(cron = "0 0 0 * * *", zone = "UTC")
		void daily() {
		}

		@SingleRunner(key = "logged-long", scope = LockScope.SESSION)
		void runLong(Runnable work) {
			work.run();
		}

		@SingleRunner(key = "for:#{#name}")
		void runFor(String name) {
			if (name.equals("fail")) {
				throw new IllegalStateException(name);
			}
		}

	}

}
