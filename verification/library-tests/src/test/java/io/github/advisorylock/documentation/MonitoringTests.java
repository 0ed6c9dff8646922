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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockMetricsAutoConfiguration;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the dashboard and the alerts: what they ask Prometheus for is there.
 */
@Tag("gate")
class MonitoringTests {

	/**
	 * Added by Prometheus itself.
	 */
	private static final Set<String> TARGET_LABELS = Set.of("job", "instance");

	private static final Pattern SAMPLE = Pattern.compile("(?m)^(\\w+)(?:\\{(.*)})? \\S+$");

	private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

	private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{ *(?:\\$labels\\.)?(\\w+) *}}");

	private static final Map<String, Set<String>> scraped = new TreeMap<>();

	@BeforeAll
	static void scrape() {
		scrape(LockContextRunner.create());
		scrape(ReportingDatabase.application());
	}

	private static void scrape(ApplicationContextRunner application) {
		PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		application.withConfiguration(AutoConfigurations.of(AdvisoryLockMetricsAutoConfiguration.class))
			.withBean(PrometheusMeterRegistry.class, () -> registry)
			.withBean(Jobs.class)
			.run((context) -> {
				assertThatIllegalStateException().isThrownBy(() -> context.getBean(Jobs.class).fail())
					.withMessage("no");
				SAMPLE.matcher(registry.scrape()).results().forEach((sample) -> {
					Set<String> labels = scraped.computeIfAbsent(sample.group(1), (absent) -> new TreeSet<>());
					if (sample.group(2) != null) {
						labels.addAll(groups(LABEL, sample.group(2)));
					}
				});
			});
	}

	@ParameterizedTest
	@MethodSource("queries")
	void queryUsesMetricsAndLabelsThatAreScraped(Query query) {
		Set<String> labels = new HashSet<>(TARGET_LABELS);
		for (PromQlExpression.Selector selector : query.expression().selectors()) {
			assertThat(metrics()).as(query.toString()).containsKey(selector.metric());
			Set<String> known = new HashSet<>(metrics().getOrDefault(selector.metric(), Set.of()));
			known.addAll(TARGET_LABELS);
			assertThat(known).as(query.toString()).containsAll(selector.labels());
			labels.addAll(known);
		}
		assertThat(query.expression().selectors()).isNotEmpty();
		assertThat(labels).as(query.toString()).containsAll(query.expression().groupings());
	}

	@ParameterizedTest
	@MethodSource("queries")
	void textNamesLabelsThatTheQueryKeeps(Query query) {
		Set<String> kept = query.expression().groupings();
		Set<String> named = groups(PLACEHOLDER, query.text());
		if (kept.isEmpty()) {
			kept = metrics().getOrDefault(query.expression().selectors().get(0).metric(), Set.of());
		}
		named.removeAll(TARGET_LABELS);
		assertThat(kept).as(query.toString()).containsAll(named);
	}

	@Test
	void dashboardShowsEachMeterOfLocks() {
		Set<String> shown = queries().stream()
			.filter((query) -> query.place().startsWith("dashboard"))
			.flatMap((query) -> query.expression().selectors().stream())
			.map((selector) -> selector.metric().replaceAll("_(count|sum|max)$", ""))
			.collect(Collectors.toSet());
		assertThat(shown).containsExactlyInAnyOrderElementsOf(scraped.keySet()
			.stream()
			.filter((name) -> name.startsWith("advisory_lock_"))
			.map((name) -> name.replaceAll("_(count|sum|max)$", ""))
			.collect(Collectors.toSet()));
	}

	static List<Query> queries() {
		List<Query> queries = new ArrayList<>();
		addDashboard(load("docs/grafana-dashboard.json"), queries);
		for (Map<?, ?> group : maps(load("docs/prometheus-alerts.yaml").get("groups"))) {
			maps(group.get("rules")).stream()
				.filter((rule) -> rule.containsKey("alert"))
				.map((rule) -> new Query("alert " + rule.get("alert"),
						new PromQlExpression(rule.get("expr").toString()), rule.get("annotations").toString()))
				.forEach(queries::add);
		}
		return queries;
	}

	private static void addDashboard(Map<?, ?> dashboard, List<Query> queries) {
		for (Map<?, ?> variable : maps(((Map<?, ?>) dashboard.get("templating")).get("list"))) {
			if ("query".equals(variable.get("type"))) {
				queries.add(new Query("dashboard variable " + variable.get("name"),
						PromQlExpression.ofVariable(variable.get("definition").toString()), ""));
			}
		}
		for (Map<?, ?> panel : maps(dashboard.get("panels"))) {
			maps(panel.get("targets")).stream()
				.map((target) -> new Query("dashboard panel " + panel.get("title"),
						new PromQlExpression(target.get("expr").toString()), target.get("legendFormat").toString()))
				.forEach(queries::add);
		}
	}

	/**
	 * Return what can be asked for: what is scraped, and what the rules record.
	 */
	private static Map<String, Set<String>> metrics() {
		Map<String, Set<String>> metrics = new TreeMap<>(scraped);
		for (Map<?, ?> group : maps(load("docs/prometheus-alerts.yaml").get("groups"))) {
			maps(group.get("rules")).stream()
				.filter((rule) -> rule.containsKey("record"))
				.forEach((rule) -> metrics.put(rule.get("record").toString(),
						strings(((Map<?, ?>) rule.get("labels")).keySet())));
		}
		return metrics;
	}

	private static Map<?, ?> load(String file) {
		return new Yaml().load(Documentation.read(Path.of(file)));
	}

	private static List<Map<?, ?>> maps(Object value) {
		return ((Collection<?>) value).stream().<Map<?, ?>>map((element) -> (Map<?, ?>) element).toList();
	}

	private static Set<String> strings(Collection<?> values) {
		return values.stream().map(Object::toString).collect(Collectors.toSet());
	}

	private static Set<String> groups(Pattern pattern, String text) {
		return Stream.of(text)
			.flatMap((searched) -> pattern.matcher(searched).results())
			.map((match) -> match.group(1))
			.collect(Collectors.toSet());
	}

	/**
	 * An expression, where it stands, and the text that is shown for its series.
	 */
	record Query(String place, PromQlExpression expression, String text) {

		@Override
		public String toString() {
			return this.place + ": " + this.expression.text();
		}

	}

	static class Jobs {

		@SingleRunner(key = "monitored")
		void fail() {
			throw new IllegalStateException("no");
		}

		@LeaderOnly("monitored")
		void lead() {
		}

	}

}
