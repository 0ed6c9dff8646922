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

package io.github.advisorylock.actuate.page;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockEndpointAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerEndpointAutoConfiguration;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.ReportingDatabase;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for what the views of the operators' page show of jobs, instances and leaders, in
 * an application without a web server.
 */
class PageViewsTests {

	private static final String SCHEMA = "page_views_tests";

	private static final String TABLES = SCHEMA + ".al_";

	private static final AdvisoryLockKey ROLE = AdvisoryLockKey.of("test", "leader:reports");

	@BeforeEach
	void createSchema() {
		for (String url : new String[] { TestPostgres.url(), ReportingDatabase.url() }) {
			TestPostgres.execute(url, "DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE; CREATE SCHEMA " + SCHEMA);
		}
	}

	@AfterAll
	static void dropSchema() {
		for (String url : new String[] { TestPostgres.url(), ReportingDatabase.url() }) {
			TestPostgres.execute(url, "DROP SCHEMA " + SCHEMA + " CASCADE");
		}
	}

	@Test
	void jobsAreShownWithStateLastRunAndWhatCanBeDone() {
		run(LockContextRunner.create(), (page) -> {
			Jobs jobs = page.jobs();
			jobs.report();
			jobs.export("alice");
			assertThatIllegalStateException().isThrownBy(jobs::fail).withMessage("no <b>sales</b>");
			assertThatIllegalStateException().isThrownBy(jobs::fail).withMessage("no <b>sales</b>");
			TestPostgres.execute("INSERT INTO " + TABLES + "pause SELECT namespace, key, now(), 'Jane', 'stock-taking' "
					+ "FROM " + TABLES + "job WHERE key = 'report'");
			String view = page.view("jobs");
			assertThat(view).contains("<p id=\"count\">3 of 3 jobs</p>");
			assertThat(row(view, "data-key=\"test/report\""))
				.contains("data-state=\"paused\"", "Jobs.<wbr>report", "by Jane, ", "<q>stock-taking</q>",
						"T03:00:00Z\"", "executed</span>", "100\u00a0% executed", "Resume report")
				.doesNotContain("Pause report", "Run now");
			assertThat(row(view, "data-key=\"test/broken\"")).contains("data-state=\"failing\"",
					"failing 2 times</span>", "failed</span>", "0\u00a0% executed", "Run now broken", "Pause broken");
		});
	}

	@Test
	void jobsAreSearchedChosenSortedAndPaged() {
		run(LockContextRunner.create(), (page) -> {
			assertThat(page.view("jobs", "REPORT", null, null, 1))
				.contains("1 of 3 jobs", "value=\"REPORT\"", "data-key=\"test/report\"")
				.doesNotContain("data-key=\"test/broken\"");
			assertThat(page.view("jobs", "nothing like it", null, null, 1)).contains("0 of 3 jobs",
					"No job is like that.");
			assertThat(page.view("jobs", null, "idle", null, 1)).contains("3 of 3 jobs",
					"<option value=\"idle\" selected>");
			String sorted = page.view("jobs", null, null, "next", 1);
			assertThat(sorted).contains("aria-sort=\"ascending\"><a href=\"?view=jobs&amp;sort=next\">Next</a>",
					"<option value=\"next\" selected>");
			assertThat(sorted.indexOf("data-key=\"test/report\"")).isPositive()
				.isLessThan(sorted.indexOf("data-key=\"test/broken\""));
			assertThat(page.view("jobs", null, null, "failures", 1))
				.contains("aria-sort=\"descending\"><a href=\"?view=jobs&amp;sort=failures\">State</a>");
			assertThat(page.view("jobs", null, null, null, 2)).contains("Page 2 of 2", "data-key=\"test/report\"")
				.doesNotContain("data-key=\"test/broken\"");
		});
	}

	@Test
	void instancesAreShownWithHowTheyLiveOrEnded() {
		run(LockContextRunner.create(), (page) -> {
			insertInstances();
			String view = page.view("instances");
			assertThat(row(view, "data-instance=\"host-a:1\"")).contains("data-state=\"alive\"", "2.0",
					"<small>library 0.1</small>", ">right</td>");
			assertThat(row(view, "data-instance=\"host-b:2\"")).contains("data-state=\"alive\"", "badge CLOCK_SKEW",
					"1 min 30 s ahead");
			assertThat(row(view, "data-instance=\"host-c:3\""))
				.contains("data-state=\"stopped\"", "3 d ago, in order", "1.0 s behind")
				.doesNotContain("CLOCK_SKEW");
			assertThat(row(view, "data-instance=\"host-d:4\""))
				.contains("data-state=\"vanished\"", "2 d ago, without a word: killed, or cut off from the database")
				.doesNotContain("library");
		});
	}

	@Test
	void leadersAreShownWithTermsAndWhoWouldTakeOver() {
		run(LockContextRunner.create(), (page) -> {
			insertInstances();
			assertThat(row(page.view("leaders"), "data-role=\"reports\"")).contains("nobody leads", "host-b:2")
				.doesNotContain("775");
			try (ForeignSession leader = holding("al:test@host-a:1", ROLE)) {
				assertThat(row(page.view("leaders"), "data-role=\"reports\""))
					.contains(">host-a:1<", "for 3 h", ">775<", "<span class=\"holder\">host-b:2</span>")
					.doesNotContain("nobody");
				assertThat(row(page.view("leaders"), "data-role=\"mail\"")).contains("nobody leads",
						"<span class=\"holder\">host-a:1</span>");
				assertThat(row(page.view("instances"), "data-instance=\"host-a:1\""))
					.contains("#i-leader", "reports ", ">1</td>")
					.doesNotContain("mail");
			}
		});
	}

	@Test
	void overviewCountsAndNamesWhatNeedsAnOperator() {
		run(LockContextRunner.create(), (page) -> {
			insertInstances();
			assertThatIllegalStateException().isThrownBy(page.jobs()::fail).withMessage("no <b>sales</b>");
			try (ForeignSession leader = holding("al:test@host-a:1", ROLE);
					ForeignSession job = holding("al:test@host-b:2", AdvisoryLockKey.of("test", "report"))) {
				String view = page.view("overview");
				assertThat(view)
					.contains("1 job failed", "no &lt;b&gt;sales&lt;/b&gt;", "1 instance vanished",
							"1 clock differs from the database", "<code>PT-1M-30S</code>", "2 alive", "1 stopped",
							"1 vanished",
							"<b>1</b> <svg class=\"icon\" aria-hidden=\"true\"><use href=\"#i-running\"/></svg>running",
							"<b>2</b> <svg class=\"icon\" aria-hidden=\"true\"><use href=\"#i-lock\"/></svg>locks",
							"on <span class=\"instance\">host-a:1</span> for 3 h")
					.doesNotContain("Nothing runs at the moment", "Nothing needs you now");
				assertThat(section(view, "running")).contains(">report</a>",
						"on <span class=\"instance\">host-b:2</span>");
				assertThat(view.indexOf("data-problem=\"FAILED\"")).isPositive()
					.isLessThan(view.indexOf("data-problem=\"INSTANCE_VANISHED\""));
			}
		});
	}

	@Test
	void secondPageOfTwoDatabasesGoesOnWhereTheFirstEnds() {
		run(ReportingDatabase.application().withBean(ReportingJobs.class),
				(page) -> assertThat(page.view("jobs", null, null, null, 2))
					.contains("Page 2 of 2", "data-key=\"test/report\"", "data-key=\"test/reporting-broken\"")
					.doesNotContain("data-key=\"test/broken\""));
	}

	@Test
	void overviewOfTwoDatabasesIsTheSumOfBoth() {
		run(ReportingDatabase.application().withBean(ReportingJobs.class), (page) -> {
			insertInstances();
			ReportingJobs jobs = page.bean(ReportingJobs.class);
			assertThatIllegalStateException().isThrownBy(jobs::fail).withMessage("reporting");
			assertThatIllegalStateException().isThrownBy(page.jobs()::fail).withMessage("no <b>sales</b>");
			String view = page.view("overview");
			assertThat(view).contains("in databases postgres of mainTx and reporting of reportingTx", "2 jobs failed",
					"1 instance vanished", "2 alive", "1 vanished");
			assertThat(section(view, "problems")).containsSubsequence(">broken</a>", ">reporting-broken</a>");
			page.bean(AdvisoryLockOperations.class)
				.execute(LockRequest.of("reporting-broken").transactionManager("reportingTx"), (lock) -> {
					assertThat(section(page.view("overview"), "running")).contains(">reporting-broken</a>");
					return true;
				})
				.orElseThrow();
			assertThat(row(page.view("jobs"), "data-key=\"test/reporting-broken\"")).contains("(reportingTx)");
		});
	}

	@Test
	void applicationWithoutLedgerShowsWhatTheServerKnows() {
		run(LockContextRunner.create().withBean("role", Role.class), (page) -> {
			Awaitility.await().atMost(Patience.TIME).until(() -> page.bean(LeaderElection.class).isLeader("reports"));
			assertThat(page.view("instances")).contains("Instances make themselves known in the ledger");
			assertThat(row(page.view("leaders"), "data-role=\"reports\"")).contains("nobody</td>")
				.doesNotContain("nobody leads");
			page.bean(AdvisoryLockOperations.class).execute(LockRequest.of("report"), (lock) -> {
				String view = page.view("overview");
				assertThat(view).contains("The ledger is not in use", "No instance is known.");
				assertThat(section(view, "running")).contains(">report</a>");
				assertThat(section(view, "leaders")).contains("<b>reports</b> <small>on ");
				return true;
			}).orElseThrow();
			assertThat(page.view("overview")).contains("Nothing runs at the moment", "Nothing needs you now");
			assertThat(page.view("jobs")).contains("3 of 3 jobs").doesNotContain("id=\"all\"");
		}, "advisory-lock.ledger.enabled=false");
	}

	@Test
	void freshApplicationWithoutWritesSaysHowToBeginAndHasNoButtons() {
		run(LockContextRunner.create(), (writable) -> {
			Page page = new Page(writable.context(), null);
			assertThat(page.view("jobs")).contains("3 of 3 jobs, read-only").doesNotContain("<button type=\"button\"");
			assertThat(page.view("instances")).contains("No instance has made itself known yet");
			assertThat(page.view("leaders")).contains("There are no roles with a leader: see @LeaderOnly.");
			assertThat(page.view("overview")).contains("Nothing needs you now", "There are no roles with a leader.");
		});
	}

	/**
	 * Two that live, of which the clock of one is wrong, one that stopped and one that
	 * vanished.
	 */
	private static void insertInstances() {
		TestPostgres.execute("INSERT INTO " + TABLES
				+ "instance (namespace, instance, started_at, seen_at, stopped_at, "
				+ "version, library, clock_skew_ms, roles, terms, led_since) VALUES "
				+ "('test', 'host-a:1', now() - interval '4 days', now(), NULL, '2.0', '0.1', 0, '{reports,mail}', "
				+ "'{775,NULL}', ARRAY[now() - interval '3 hours', NULL]), "
				+ "('test', 'host-b:2', now() - interval '4 days', now(), NULL, '2.0', '0.1', -90000, '{reports}', "
				+ "'{NULL}', '{NULL}'), "
				+ "('test', 'host-c:3', now() - interval '9 days', now() - interval '3 days', now() - interval '3 days', "
				+ "'1.0', '0.1', 1000, '{}', '{}', '{}'), "
				+ "('test', 'host-d:4', now() - interval '9 days', now() - interval '2 days', NULL, '1.0', NULL, NULL, "
				+ "'{}', '{}', '{}')");
	}

	/**
	 * Open a session of an instance elsewhere that holds a lock.
	 */
	private static ForeignSession holding(String application, AdvisoryLockKey key) {
		ForeignSession session = ForeignSession.holding(key);
		session.rename(application);
		return session;
	}

	private static String row(String view, String attribute) {
		int start = view.indexOf("<tr " + attribute);
		assertThat(start).as(attribute).isPositive();
		return view.substring(start, view.indexOf("</tr>", start));
	}

	private static String section(String view, String id) {
		int start = view.indexOf("<section id=\"" + id + "\"");
		assertThat(start).as(id).isPositive();
		return view.substring(start, view.indexOf("</section>", start));
	}

	private static void run(ApplicationContextRunner application, Check check, String... properties) {
		application
			.withConfiguration(AutoConfigurations.of(AdvisoryLockEndpointAutoConfiguration.class,
					AdvisoryLockLedgerEndpointAutoConfiguration.class))
			.withBean(Jobs.class)
			.withPropertyValues("management.endpoints.web.exposure.include=advisorylocks",
					"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.enabled=true",
					"advisory-lock.ledger.table-prefix=" + TABLES)
			.withPropertyValues(properties)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				check.check(new Page(context, "advisorylocks"));
			});
	}

	interface Check {

		void check(Page page);

	}

	/**
	 * The page, with two rows for jobs at a time where it is paged.
	 *
	 * @param context the application
	 * @param writable where writes go to
	 */
	private record Page(ApplicationContext context, @Nullable String writable) {

		<T> T bean(Class<T> type) {
			return this.context.getBean(type);
		}

		Jobs jobs() {
			return bean(Jobs.class);
		}

		String view(String view) {
			return view(view, null, null, null, null);
		}

		String view(String view, @Nullable String text, @Nullable String state, @Nullable String sort,
				@Nullable Integer page) {
			int rows = (page != null && page > 1) ? 2 : 10;
			WebEndpointResponse<String> answer = new AdvisoryLocksPageEndpoint(bean(AdvisoryLocksSource.class),
					new AdvisoryLocksPageEndpoint.Settings(Duration.ofSeconds(5), Duration.ofDays(1), rows, Show.ALWAYS,
							Set.of(), new AdvisoryLocksPageEndpoint.Links("", "")),
					() -> this.writable)
				.page(SecurityContext.NONE, view, null, null, text, state, null, sort, null, page);
			String document = Objects.requireNonNull(answer.getBody());
			return document.substring(document.indexOf("<main"), document.indexOf("</main>"));
		}

	}

	static class Jobs {

		@Scheduled(cron = "0 0 3 * * *", zone = "UTC")
		@SingleRunner("report")
		void report() {
		}

		@SingleRunner("broken")
		void fail() {
			throw new IllegalStateException("no <b>sales</b>");
		}

		@SingleRunner("export:#{#user}")
		void export(String user) {
		}

	}

	static class ReportingJobs {

		@SingleRunner(key = "reporting-broken", transactionManager = "reportingTx")
		void fail() {
			throw new IllegalStateException("reporting");
		}

	}

	static class Role {

		@LeaderOnly("reports")
		void lead() {
		}

	}

}
