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

package io.github.advisorylock.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import ch.qos.logback.classic.spi.ILoggingEvent;
import com.jayway.jsonpath.JsonPath;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.log.LockLog;
import io.github.advisorylock.testsupport.LogRecorder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the events and log lines of the document on operating: it lists what there
 * is.
 */
@Tag("gate")
class EventsAndLogsTests {

	private static final Path DOCUMENT = Path.of("docs/operating.md");

	private static final Pattern EVENT_ROW = Pattern.compile("(?m)^\\| `(\\w+Event)` \\| ([^|]+) \\|");

	private static final Pattern FIELD_ROW = Pattern.compile("(?m)^\\| `(advisory_lock\\.\\w+)`");

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("shop", "nightly-report");

	private static final String METHOD = "NightlyReport.write";

	private static final Instant TICK = Instant.parse("2026-11-21T02:00:00Z");

	@Test
	void tableOfEventsListsEachEventWithItsFields() throws Exception {
		Map<String, String> documented = new TreeMap<>();
		EVENT_ROW.matcher(Documentation.read(DOCUMENT))
			.results()
			.forEach((row) -> documented.put(row.group(1), row.group(2).replace("`", "")));
		assertThat(documented).isEqualTo(events());
	}

	@Test
	void tableOfFieldsListsEachFieldThatIsLogged() {
		List<String> documented = FIELD_ROW.matcher(Documentation.read(DOCUMENT))
			.results()
			.map((row) -> row.group(1))
			.toList();
		List<String> logged = lines().stream().flatMap((line) -> LogRecorder.fields(line).keySet().stream()).toList();
		assertThat(documented).doesNotHaveDuplicates().hasSameElementsAs(logged);
	}

	@Test
	void linesOfTableAreThoseThatAreLogged() {
		String document = Documentation.read(DOCUMENT);
		assertThat(lines()).hasSize(15).allSatisfy((line) -> {
			String message = line.getFormattedMessage();
			String beginning = message.substring(0, message.contains("since") ? message.indexOf("since")
					: message.contains("tick") ? message.indexOf(" of ") : message.length());
			assertThat(document)
				.contains("| `" + beginning.split(": another|, and nothing| \\(no session|; set the same")[0]);
		});
		assertThat(lines()).extracting(ILoggingEvent::getLoggerName)
			.isNotEmpty()
			.allSatisfy((logger) -> assertThat(document).contains("| `" + logger + "` |"));
	}

	@Test
	void exampleIsWhatSpringBootWritesForRun() {
		String example = Documentation.codeBlocks()
			.stream()
			.filter((block) -> block.place().startsWith(DOCUMENT.toString()) && block.language().equals("json"))
			.map(CodeBlock::text)
			.collect(Collectors.joining());
		Map<String, Object> written = JsonPath.read(LogRecorder.json(lines().get(0), "ecs"), "$");
		Map<String, Object> shown = JsonPath.read(example, "$");
		assertThat(shown).containsOnlyKeys(written.keySet());
		for (String same : List.of("message", "advisory_lock", "ecs")) {
			assertThat(shown).containsEntry(same, written.get(same));
		}
	}

	private static List<ILoggingEvent> lines() {
		try (LogRecorder runs = LogRecorder.of(LockLog.RUN, "debug");
				LogRecorder alerts = LogRecorder.of(LockLog.ALERT, "warn")) {
			LockLog.finished(KEY, true, LockScope.TRANSACTION, METHOD, Duration.ofMillis(812), null, TICK, 2, true);
			LockLog.finished(KEY, true, LockScope.TRANSACTION, METHOD, Duration.ofMillis(12),
					new IllegalStateException(), TICK, 1, false);
			LockLog.finished(KEY, true, LockScope.TRANSACTION, METHOD, Duration.ofMillis(12), new IOException(), TICK,
					1, true);
			LockLog.skipped(KEY, LockScope.TRANSACTION, METHOD, LockOutcome.BUSY, null, LockRequest.of("job"), null);
			LockLog.lost(AdvisoryLockKey.of("shop", "price-sync"), LockScope.SESSION, null);
			LockLog.ended(AdvisoryLockKey.of("shop", "price-sync"), LockScope.SESSION, LockLostEvent.Reason.MAX_RUN,
					"it was held for longer than 'maxRun' allows, PT30M", null, null);
			LockLog.lost(AdvisoryLockKey.of("shop", "monthly-report"), LockScope.TRANSACTION, "reportingTx");
			LockLog.heldLong(KEY, LockScope.TRANSACTION, Duration.ofMinutes(10), null);
			LockLog.heldLong(AdvisoryLockKey.of("shop", "price-sync"), LockScope.SESSION, Duration.ofMinutes(10), null);
			LockLog.unclosed(AdvisoryLockKey.of("shop", "price-sync"));
			LockLog.overdue(KEY, Instant.EPOCH, Instant.EPOCH);
			LockLog.lostTick(KEY, TICK, Duration.ofHours(6));
			LockLog.futureTick(KEY, TICK, Instant.EPOCH);
			LockLog.unremembered(KEY, TICK, "no session");
			LockLog.permitsDiffer(AdvisoryLockKey.of("shop", "partner-api"), 2, 3);
			return Stream.concat(runs.events().stream(), alerts.events().stream()).toList();
		}
	}

	private static Map<String, String> events() throws IOException, ClassNotFoundException {
		Map<String, String> events = new TreeMap<>();
		for (Path sources : Documentation.sources()) {
			try (Stream<Path> files = Files.walk(sources)) {
				for (Path file : files.filter((path) -> path.toString().endsWith("Event.java")).toList()) {
					String type = sources.relativize(file).toString().replace(".java", "").replace('/', '.');
					events.put(type.substring(type.lastIndexOf('.') + 1),
							Arrays.stream(Class.forName(type).getRecordComponents())
								.map((field) -> field.getName())
								.collect(Collectors.joining(", ")));
				}
			}
		}
		return events;
	}

}
