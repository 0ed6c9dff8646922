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

package io.github.advisorylock.faults;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;

import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.ledger.jdbc.LedgerLifecycle;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ReflectionUtils;

/**
 * Pauses and resumes a job, and keeps house.
 */
class Operator {

	/**
	 * How long the job runs, and how long it is paused, in milliseconds.
	 */
	private static final int TIME = 5_000;

	private final AdvisoryLockLedger ledger;

	private final ObjectProvider<LedgerLifecycle> lifecycle;

	private final JdbcTemplate jdbc;

	private final RecordedWork work;

	Operator(AdvisoryLockLedger ledger, ObjectProvider<LedgerLifecycle> lifecycle, JdbcTemplate jdbc,
			RecordedWork work) {
		this.ledger = ledger;
		this.lifecycle = lifecycle;
		this.jdbc = jdbc;
		this.work = work;
	}

	/**
	 * Resume before anything else: an operator before this one may have been killed.
	 */
	void operate() {
		String key = Promise.PAUSED.key();
		this.work.say(Event.Kind.RESUMED, key, 0);
		PromisedWork.attempt(() -> this.ledger.resume(key, "trial"));
		PromisedWork.sleep(TIME);
		PromisedWork.attempt(() -> {
			this.ledger.pause(key, "trial");
			this.work.say(Event.Kind.PAUSED, key, 0);
			PromisedWork.sleep(TIME);
		});
		PromisedWork.attempt(() -> {
			String run = this.work.run(Promise.HOUSEKEEPING, null, null, (name) -> keepHouse());
			this.work.done(run, Promise.HOUSEKEEPING.key(), null, null);
		});
	}

	/**
	 * Have a round of housekeeping at once, for which the library takes ten minutes.
	 */
	private void keepHouse() {
		String promised = "key IN ('"
				+ String.join("', '", List.of(Promise.INTERVAL.key(), Promise.PAUSED.key(), Promise.THROWING.key()))
				+ "')";
		this.jdbc.update("UPDATE advisory_lock_run SET keep_until = now() - interval '2 min' WHERE " + promised
				+ " AND finished_at IS NOT NULL");
		this.jdbc.update("DELETE FROM advisory_lock_completion WHERE key = 'advisory-lock:ledger-housekeeping'");
		Object housekeeping = Objects.requireNonNull(invoke(this.lifecycle.getObject(), "housekeeping"));
		invoke(housekeeping, "purge");
		Integer kept = this.jdbc.queryForObject("SELECT count(*) FROM advisory_lock_run WHERE " + promised
				+ " AND keep_until < now() - interval '1 min'", Integer.class);
		if (!Integer.valueOf(0).equals(kept)) {
			throw new IllegalStateException("Still there: " + kept);
		}
	}

	private static @Nullable Object invoke(Object target, String name) {
		Method method = Objects.requireNonNull(ReflectionUtils.findMethod(target.getClass(), name));
		ReflectionUtils.makeAccessible(method);
		return ReflectionUtils.invokeMethod(method, target);
	}

}
