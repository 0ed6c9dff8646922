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
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.DatabaseDescriptor;
import io.github.advisorylock.actuate.OverviewDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Who tells what is on the page, and when.
 *
 * @param time the moment, by the database's clock
 * @param instance the instance that tells it
 * @param namespace its namespace
 * @param databases the databases it has it from, none if that is not told
 * @param ledger whether the ledger is in use
 */
record About(Instant time, String instance, String namespace, List<DatabaseDescriptor> databases, boolean ledger) {

	private static final Duration TOLERATED_SKEW = Duration.ofSeconds(1);

	static About of(AdvisoryLocksDescriptor all) {
		return new About(all.time(), all.instance(), all.namespace(),
				databases(all.databases(), all.database(), all.clockSkew(), all.ledger()), all.ledger());
	}

	static About of(OverviewDescriptor all) {
		return new About(all.time(), all.instance(), all.namespace(),
				databases(all.databases(), all.database(), all.clockSkew(), all.ledger()), all.ledger());
	}

	private static List<DatabaseDescriptor> databases(@Nullable List<DatabaseDescriptor> several, String database,
			Duration skew, boolean ledger) {
		return (several != null) ? several : List.of(new DatabaseDescriptor("", database, skew, ledger));
	}

	Html write() {
		return Html.of("""
				<b>%s</b>%s, as of <span id="updated" data-time="%s">%s</span>, told by <span
				class="instance">%s</span>.%s%s""", this.namespace.isEmpty() ? "No namespace" : this.namespace, names(),
				this.time, new Times(this.time).at(this.time), this.instance, Html.each(this.databases, About::skew),
				this.ledger ? "" : " The ledger is not in use, so nothing is known of runs: set "
						+ "advisory-lock.ledger.enabled.");
	}

	private String names() {
		return this.databases.isEmpty() ? "" : this.databases.stream()
			.map((one) -> one.transactionManager().isEmpty() ? one.database()
					: one.database() + " of " + one.transactionManager())
			.collect(
					Collectors.joining(" and ", (this.databases.size() == 1) ? " in database " : " in databases ", ""));
	}

	private static Html skew(DatabaseDescriptor database) {
		Duration skew = database.clockSkew();
		return (skew.abs().compareTo(TOLERATED_SKEW) <= 0) ? Html.NONE
				: Html.of(" <span class=\"skew\">Its clock is %s %s that of database %s.</span>",
						Times.text(skew.abs()), skew.isNegative() ? "ahead of" : "behind", database.database());
	}

}
