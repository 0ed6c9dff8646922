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
import java.util.Map;
import java.util.function.Supplier;

import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.RunLedger;
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
public class AdvisoryLockHealthIndicator extends AbstractHealthIndicator
		implements ApplicationListener<PayloadApplicationEvent<LockLostEvent>> {

	private final Supplier<@Nullable LockSession> session;

	private final @Nullable RunLedger ledger;

	private volatile @Nullable Loss lastLoss;

	/**
	 * Create an indicator.
	 * @param session the lock session, {@code null} as long as there is none; asked for
	 * each time
	 * @param ledger the ledger, {@code null} if there is none
	 */
	public AdvisoryLockHealthIndicator(Supplier<@Nullable LockSession> session, @Nullable RunLedger ledger) {
		super("Failed to use the ledger of advisory locks");
		this.session = session;
		this.ledger = ledger;
	}

	@Override
	public void onApplicationEvent(PayloadApplicationEvent<LockLostEvent> event) {
		this.lastLoss = new Loss(event.getPayload().key().toString(), Instant.now());
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		LockSession session = this.session.get();
		boolean connected = session != null && session.isConnected();
		builder.up().withDetail("session", connected ? "connected" : "not connected");
		String problem = (session != null) ? session.problem() : null;
		if (problem != null) {
			builder.outOfService().withDetail("sessionProblem", problem);
		}
		Loss loss = this.lastLoss;
		if (loss != null) {
			builder.withDetail("lastLoss", Map.of("key", loss.key, "time", loss.time));
		}
		RunLedger ledger = this.ledger;
		if (ledger == null || !ledger.isOpen()) {
			builder.withDetail("ledger", "not used");
			return;
		}
		builder.withDetail("ledger", "unreachable");
		ledger.check();
		builder.withDetail("ledger", "reachable");
	}

	/**
	 * A lock that was lost.
	 */
	private record Loss(String key, Instant time) {

	}

}
