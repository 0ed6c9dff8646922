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

package io.github.advisorylock.ledger;

import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;

/**
 * The parameters of {@link RunStatements} for a run that nothing is decided about yet.
 */
final class RunParameters {

	private static final int LONGEST_TEMPLATE = 255;

	private RunParameters() {
	}

	/**
	 * Return what is known of a run before it begins.
	 * @param runs writes the run
	 * @param key the key
	 * @param scope how long its lock lives
	 * @param request what is asked
	 * @param keepsJob whether the run leaves something behind in the row of its job
	 */
	static MapSqlParameterSource of(RunRepository runs, AdvisoryLockKey key, LockScope scope, LockRequest request,
			boolean keepsJob) {
		LedgerSettings settings = runs.settings();
		Instant tick = request.tick();
		OffsetDateTime time = (tick != null) ? tick.atOffset(ZoneOffset.UTC) : null;
		Duration minInterval = request.minInterval();
		RequestDetail.Backfill backfill = request.detail(RequestDetail.Backfill.class);
		RequestDetail.Recorded recorded = request.detail(RequestDetail.Recorded.class);
		String of = (recorded != null) ? recorded.template() : null;
		String template = template(key.name(), of);
		boolean kept = tick != null || key.name().equals(of);
		return new MapSqlParameterSource().addValue("namespace", key.namespace())
			.addValue("key", key.name())
			.addValue("tick", time, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("ofTick", time, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("backfilled", backfill != null)
			.addValue("again", backfill != null && backfill.again())
			.addValue("scope", scope.name())
			.addValue("instance", runs.instance())
			.addValue("oncePerKey", request.isOncePerKey())
			.addValue("planned", request.detail(RequestDetail.Planned.class) != null)
			.addValue("scheduleKnown", null, Types.TIMESTAMP_WITH_TIMEZONE)
			.addValue("backOff", RequestDetail.Retries.of(request).backOff())
			.addValue("minInterval", (minInterval != null) ? LedgerSettings.micros(minInterval) : null, Types.BIGINT)
			.addValue("template", template, Types.VARCHAR)
			.addValue("keepsJob", keepsJob)
			.addValue("keepRuns", LedgerSettings.micros(settings.keepRunsFor()))
			.addValue("rememberKeys", LedgerSettings.micros(settings.rememberKeys()))
			.addValue("remembered", !kept)
			.addValue("pausable", kept || (keepsJob && template == null))
			.addValue("rememberJob", LedgerSettings.micros(max(settings.rememberKeys(), minInterval)))
			.addValue("lock", PostgresAdvisoryLockTemplate.lockEntry(key))
			.addValue("result", null, Types.VARCHAR)
			.addValue("givenUp", false)
			.addValue("badOutcome", LedgerRun.Outcome.FAILED.name())
			.addValue("traceId", null, Types.VARCHAR);
	}

	private static Duration max(Duration one, @Nullable Duration other) {
		return (other == null || one.compareTo(other) >= 0) ? one : other;
	}

	/**
	 * Of a template that has no room in an index, or is the key itself, runs are recorded
	 * as those of keys without one.
	 */
	private static @Nullable String template(String key, @Nullable String template) {
		return (template == null || template.equals(key) || template.length() > LONGEST_TEMPLATE
				|| template.indexOf('\0') >= 0) ? null : template;
	}

}
