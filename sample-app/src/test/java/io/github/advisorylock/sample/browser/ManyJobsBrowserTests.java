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

package io.github.advisorylock.sample.browser;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the operator page and its endpoint with 1,000 jobs of 60 runs each. Times,
 * which are the browser's, are written to the log and not limited.
 */
class ManyJobsBrowserTests extends AbstractBrowserTests {

	private static final int TIMES = 9;

	private static String address;

	@BeforeAll
	static void start() {
		address = fleet
			.start("one", "sample.report.cron=-", "sample.sync.cron=-", "sample.outbox.drain-every=1h",
					"sample.leader.measure-every=1h", "sample.leader.roll-up-every=1h")
			.address();
		fleet.execute("""
				INSERT INTO advisory_lock_run
				  (namespace, key, tick, scope, instance, fencing_token, started_at, finished_at, outcome)
				SELECT 'sample-app', 'job-' || job, t, 'TRANSACTION', 'host-' || (run / 20 + job) % 5, run, t,
				  t + INTERVAL '30 seconds', CASE WHEN run % 17 = 0 THEN 'FAILED' ELSE 'EXECUTED' END
				FROM generate_series(1, 1000) job, generate_series(1, 60) run,
				  LATERAL (SELECT now() - (61 - run) * INTERVAL '5 minutes' AS t) time ORDER BY run, job;
				INSERT INTO advisory_lock_job
				  (namespace, key, last_tick, last_started_at, last_finished_at, last_outcome, fencing_token)
				SELECT DISTINCT ON (key) namespace, key, tick, started_at, finished_at, outcome, fencing_token
				FROM advisory_lock_run WHERE key LIKE 'job-%' ORDER BY key, fencing_token DESC;
				ANALYZE
				""");
	}

	@Test
	void pageShowsAHundredOfThousandJobsAndFiltersThem() {
		printTimes("page", OperatorPage.PATH + "?view=jobs", "loadEventEnd");
		OperatorPage page = new OperatorPage(browser, address).openJobs();
		assertThat(page.keys()).hasSize(100);
		assertThat(page.element(".pages").getText()).contains("Page 1 of 11");
		assertThat(page.open("?view=jobs&q=job-999").keys()).containsExactly("job-999");
		assertThat(page.open("?view=jobs&page=11").keys()).hasSizeBetween(1, 99);
	}

	@Test
	void jobsOfManyPagesAreNotWiderThanANarrowWindow() {
		browser.resize(360, 800);
		new OperatorPage(browser, address).openJobs();
		assertThat(browser.overflow()).isZero();
		browser.resize(1200, 800);
	}

	@Test
	void endpointAnswersForThousandJobs() {
		printTimes("endpoint", "/actuator/advisorylocks", "responseEnd");
		assertThat(browser.driver().getPageSource()).contains("job-1000");
	}

	/**
	 * Open an address several times, and print the times to an event, from the third one
	 * on.
	 */
	private static void printTimes(String name, String path, String event) {
		List<Long> times = Stream.generate(() -> open(path, event)).limit(TIMES + 2).skip(2).sorted().toList();
		System.out.println("Milliseconds of the " + name + " with 1,000 jobs, " + TIMES + " times, median "
				+ times.get(TIMES / 2) + ": " + times);
	}

	private static long open(String path, String event) {
		browser.driver().get(address + path);
		OperatorPage.await().until(() -> time(event) > 0);
		return time(event);
	}

	private static long time(String event) {
		return Math
			.round(((Number) browser.run("return performance.getEntriesByType('navigation')[0][arguments[0]]", event))
				.doubleValue());
	}

}
