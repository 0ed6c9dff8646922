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
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.advisorylock.LockLostEvent;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Tells whether the lock session is connected, whether the ledger can be used, and which
 * lock was lost last. Is out of service while the last attempt to open the connection of
 * session locks has failed, each check having it tried again, and down if a ledger that
 * is in use can't be used. Skipping, not leading, and a session that waits for its next
 * lock are healthy.
 *
 * @since 0.1.0
 */
public class AdvisoryLockHealthIndicator extends AbstractHealthIndicator {

	private final BooleanSupplier sessionConnected;

	private final Supplier<@Nullable String> sessionProblem;

	private final @Nullable Runnable ledgerCheck;

	private final BooleanSupplier ledgerUsed;

	private volatile @Nullable Loss lastLoss;

	/**
	 * Create an indicator.
	 * @param sessionConnected whether the lock session is connected
	 * @param sessionProblem why the lock session can't be connected, {@code null} if that
	 * is not known to be so
	 * @param ledgerUsed whether the ledger is in use
	 * @param ledgerCheck throws if the ledger can't be used, {@code null} if there is
	 * none
	 */
	public AdvisoryLockHealthIndicator(BooleanSupplier sessionConnected, Supplier<@Nullable String> sessionProblem,
			BooleanSupplier ledgerUsed, @Nullable Runnable ledgerCheck) {
		super("Failed to use the ledger of advisory locks");
		this.sessionConnected = sessionConnected;
		this.sessionProblem = sessionProblem;
		this.ledgerUsed = ledgerUsed;
		this.ledgerCheck = ledgerCheck;
	}

	/**
	 * Note a lock that was lost.
	 * @param event the loss
	 */
	public void lost(LockLostEvent event) {
		this.lastLoss = new Loss(event.key().toString(), Instant.now());
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		builder.up().withDetail("session", this.sessionConnected.getAsBoolean() ? "connected" : "not connected");
		String problem = this.sessionProblem.get();
		if (problem != null) {
			builder.outOfService().withDetail("sessionProblem", problem);
		}
		Loss loss = this.lastLoss;
		if (loss != null) {
			builder.withDetail("lastLoss", Map.of("key", loss.key, "time", loss.time));
		}
		if (this.ledgerCheck == null || !this.ledgerUsed.getAsBoolean()) {
			builder.withDetail("ledger", "not used");
			return;
		}
		builder.withDetail("ledger", "unreachable");
		this.ledgerCheck.run();
		builder.withDetail("ledger", "reachable");
	}

	/**
	 * A lock that was lost.
	 */
	private record Loss(String key, Instant time) {

	}

}
