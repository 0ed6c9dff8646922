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

package io.github.advisorylock.health;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.jdbc.thread.TimeLimit;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;

/**
 * Tells whether the lock session is connected, whether the ledger can be used, and which
 * lock was lost last. Is out of service while the last attempt to open the connection of
 * session locks has failed, each check having it tried again, and down if a ledger that
 * is in use can't be used. Skipping, not leading, and a session that waits for its next
 * lock are healthy.
 *
 * @since 0.1.0
 */
class AdvisoryLockHealthIndicator extends AbstractHealthIndicator
		implements ApplicationListener<PayloadApplicationEvent<LockLostEvent>> {

	private final Supplier<List<LockDatabase>> databases;

	private final TimeLimit limit;

	private volatile @Nullable Loss lastLoss;

	/**
	 * Create an indicator.
	 * @param databases the databases that are in use, the default one first, none as long
	 * as nothing has asked for a lock; asked for each time
	 * @param limit limits how long is waited for the ledger
	 */
	AdvisoryLockHealthIndicator(Supplier<List<LockDatabase>> databases, TimeLimit limit) {
		super("Failed to use the ledger of advisory locks");
		this.databases = databases;
		this.limit = limit;
	}

	@Override
	public void onApplicationEvent(PayloadApplicationEvent<LockLostEvent> event) {
		LockLostEvent loss = event.getPayload();
		this.lastLoss = new Loss(loss.key().toString(), Instant.now(), loss.database());
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.up();
		Loss loss = this.lastLoss;
		if (loss != null) {
			builder.withDetail("lastLoss", loss.details());
		}
		List<LockDatabase> all = this.databases.get();
		List<LockDatabase> others = all.stream().skip(1).toList();
		Map<String, Map<String, Object>> databases = new LinkedHashMap<>();
		if (!others.isEmpty()) {
			others.forEach((other) -> databases.put(other.name(), new LinkedHashMap<>()));
			builder.withDetail("databases", databases);
		}
		LockDatabase first = all.isEmpty() ? null : all.get(0);
		check((first != null) ? first.session().get() : null, (first != null) ? first.ledger().get() : null, builder,
				builder::withDetail);
		others.forEach((other) -> check(other.session().get(), other.ledger().get(), builder,
				Objects.requireNonNull(databases.get(other.name()))::put));
	}

	private void check(@Nullable LockSession session, @Nullable RunLedger ledger, Health.Builder builder,
			BiConsumer<String, Object> details) {
		boolean connected = session != null && session.isConnected();
		details.accept("session", connected ? "connected" : "not connected");
		if (session != null) {
			session.countMembers(null);
			session.members().ifPresent((members) -> details.accept("members", members));
		}
		String problem = (session != null) ? session.problem() : null;
		if (problem != null) {
			builder.outOfService();
			details.accept("sessionProblem", problem);
		}
		if (ledger == null || !ledger.isOpen()) {
			details.accept("ledger", "not used");
			return;
		}
		details.accept("ledger", "unreachable");
		this.limit.ask(() -> {
			ledger.check();
			return true;
		});
		details.accept("ledger", "reachable");
	}

	/**
	 * A lock that was lost.
	 */
	private record Loss(String key, Instant time, @Nullable String database) {

		private Map<String, Object> details() {
			Map<String, Object> details = new LinkedHashMap<>(Map.of("key", this.key, "time", this.time));
			if (this.database != null) {
				details.put("database", this.database);
			}
			return details;
		}

	}

}
