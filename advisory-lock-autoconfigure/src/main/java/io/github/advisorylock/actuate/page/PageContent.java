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
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.DatabaseDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import org.jspecify.annotations.Nullable;

/**
 * The content of the page: jobs and locks of a moment, as far as they are asked for.
 */
final class PageContent {

	private static final int MOST_PAGES = 100;

	private static final int SLOTS = 400;

	private final AdvisoryLocksSource source;

	private final PageQuery query;

	private final boolean writable;

	private final AdvisoryLocksDescriptor all;

	private final AdvisoryLocksDescriptor problems;

	private final @Nullable JobDetailsDescriptor one;

	private final Times times;

	private final JobRows jobRows;

	PageContent(AdvisoryLocksSource source, PageQuery query, int rows, boolean writable, boolean showValues) {
		this.writable = writable;
		this.query = query;
		this.source = source;
		this.all = source.getLocks(query.text(), query.state(), query.page(), rows, showValues);
		this.problems = source.getLocks("", "problem", 1, Problems.MOST, showValues);
		this.one = (query.key() != null) ? find(source, query.key(), showValues) : null;
		this.times = new Times(this.all.time());
		this.jobRows = new JobRows(this.times, writable);
	}

	/**
	 * What may mean several jobs is shown as none.
	 */
	private static @Nullable JobDetailsDescriptor find(AdvisoryLocksSource source, String key, boolean showValues) {
		try {
			return source.getJob(key, null, showValues).orElse(null);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	String title() {
		int problems = this.problems.matching();
		return ((problems > 0) ? "(" + problems + ") " : "") + "Advisory locks of " + this.all.namespace();
	}

	private List<JobDescriptor> shown() {
		if (this.query.key() == null) {
			return this.all.jobs();
		}
		return (this.one != null) ? List.of(this.one.job()) : List.of();
	}

	Html write() {
		return Html.of("""
				<main><header><h1>Advisory locks</h1>%s</header><p id="status" role="status"></p>%s%s%s%s%s%s%s</main>
				""", summary(), new Problems(this.times).list(this.problems), filter(), this.jobRows.table(shown()),
				pages(), details(), timeline(shown()), new LockRows(this.jobRows).table(this.all));
	}

	private Html summary() {
		return Html.of("""
				<p id="summary">%s, namespace %s, %s%s. As of <time id="updated"
				datetime="%s">%s</time>%s</p>
				""", this.all.instance(), this.all.namespace().isEmpty() ? "(none)" : this.all.namespace(), databases(),
				leaders(), this.all.time(), this.times.at(this.all.time()).markup().replaceAll("<[^>]*>", ""),
				this.all.ledger() ? ""
						: ". The ledger is not in use, so nothing is known of runs: see advisory-lock.ledger.enabled");
	}

	private Html databases() {
		List<DatabaseDescriptor> databases = this.all.databases();
		if (databases == null) {
			return Html.of("database %s, clock %s ms off", this.all.database(), this.all.clockSkew().toMillis());
		}
		return Html.of("databases%s",
				databases.stream()
					.map((database) -> Html.of(" %s (%s, clock %s ms off)", database.transactionManager(),
							database.database(), database.clockSkew().toMillis()))
					.collect(Html.joining()));
	}

	private Html leaders() {
		return this.all.locks()
			.stream()
			.filter((lock) -> lock.kind() == Kind.LEADER && lock.key() != null)
			.map((lock) -> Html.of(", %s %s", lock.key(),
					lock.holders().stream().map(this.jobRows::holder).collect(Html.joining())))
			.collect(Html.joining());
	}

	private Html filter() {
		return Html.of("""
				<form id="filter" method="get"><label>Key or method <input name="q" type="search" value="%s"></label>
				<label>State <select name="state">%s</select></label>
				<label>Timeline <select name="hours">%s</select></label><button type="submit">Show</button>
				<label class="scripted">Refresh <span><input type="checkbox" id="paused"> stopped</span></label>
				<button type="button" id="local" class="scripted">UTC or local time</button>%s</form>
				""", this.query.text(),
				AdvisoryLocksSource.STATES.stream()
					.map((state) -> option(state, state, state.equals(this.query.state())))
					.collect(Html.joining()),
				hours(), (this.query.key() != null) ? new Html("<a href=\"?\">All jobs</a>") : Html.NONE);
	}

	private Html hours() {
		return Stream.concat(PageQuery.HOURS.stream(), Stream.of(this.query.hours()))
			.distinct()
			.sorted()
			.map((hours) -> option(hours.toString(), hours + ((hours == 1) ? " hour" : " hours"),
					hours == this.query.hours()))
			.collect(Html.joining());
	}

	private static Html option(String value, String text, boolean selected) {
		return Html.of("<option value=\"%s\"%s>%s</option>", value, selected ? " selected" : "", text);
	}

	private Html pages() {
		int matching = (this.query.key() != null) ? shown().size() : this.all.matching();
		int pages = (matching + this.all.size() - 1) / this.all.size();
		Html links = (pages <= 1) ? Html.NONE
				: Html.of(", page %s",
						IntStream.rangeClosed(1, Math.min(pages, MOST_PAGES))
							.mapToObj((page) -> (page == this.query.page()) ? Html.of("<strong>%s</strong>", page)
									: Html.of("<a href=\"%s\">%s</a>", this.query.withPage(page), page))
							.collect(Html.joining()));
		return Html.of("<nav id=\"pages\" aria-label=\"Pages\">%s of %s jobs%s%s</nav>", matching, this.all.jobCount(),
				links, (this.writable || pages > 1) ? "" : ", read-only");
	}

	private Html details() {
		return (this.one == null) ? Html.NONE
				: new RunRows(this.times).table(PageQuery.name(this.one.job()), this.one.runs());
	}

	private Html timeline(List<JobDescriptor> shown) {
		Duration length = Duration.ofHours(this.query.hours());
		return new Timeline(this.all.time(), length)
			.draw(this.source.getPeriods(shown, length, length.dividedBy(SLOTS)));
	}

}
