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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.jdbc.server.ConnectionSource;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Locks of an application on PostgreSQL. What another instance holds is held by another
 * session, which is opened when a test first asks for it.
 */
final class PostgresTestLocks implements TestLocks, DisposableBean {

	private static final int MOST_LOCKS = 10_000;

	static final String OPERATOR = "test";

	private final SingleRunnerSettings settings;

	private final CallRecorder calls;

	private final IntSupplier heldLocks;

	private final Supplier<@Nullable AdvisoryLockLedger> ledger;

	private final LockSession session;

	private final PostgresAdvisoryLockTemplate elsewhere;

	private final Set<HeldLock> heldElsewhere = ConcurrentHashMap.newKeySet();

	/**
	 * Create locks.
	 * @param settings of the application
	 * @param connectionSource opens connections like that of its session locks
	 * @param calls is told how calls end
	 * @param heldLocks knows how many locks it holds
	 * @param ledger returns its ledger, {@code null} if it has none
	 */
	PostgresTestLocks(SingleRunnerSettings settings, ConnectionSource connectionSource, CallRecorder calls,
			IntSupplier heldLocks, Supplier<@Nullable AdvisoryLockLedger> ledger) {
		this.settings = settings;
		this.calls = calls;
		this.heldLocks = heldLocks;
		this.ledger = SingletonSupplier.ofNullable(ledger);
		this.session = new LockSession(connectionSource, "elsewhere", null, LockSessionSettings.DEFAULT,
				ServerJudge.NONE, (event) -> {
				}, LockScheduler.Threads.ofCurrent());
		this.elsewhere = new PostgresAdvisoryLockTemplate(outside(connectionSource), null, this.session,
				settings.namespace(), settings.keyFactory(), Duration.ZERO, MOST_LOCKS);
	}

	@Override
	public HeldLock holdElsewhere(AdvisoryLockKey key) {
		Optional<HeldLock> lock = this.elsewhere.tryAcquire(LockRequest.of(key));
		Assert.state(lock.isPresent(), () -> "Advisory lock '" + key + "' can't be held elsewhere: it is held already");
		this.heldElsewhere.add(lock.get());
		return lock.get();
	}

	@Override
	public void pause(String key) {
		ledger().pause(key, OPERATOR);
	}

	@Override
	public void resume(String key) {
		ledger().resume(key, OPERATOR);
	}

	@Override
	public Instant reschedule(String key, @Nullable String schedule, @Nullable String zone) {
		return ledger().reschedule(key, schedule, zone, OPERATOR, null);
	}

	private AdvisoryLockLedger ledger() {
		AdvisoryLockLedger available = this.ledger.get();
		Assert.state(available != null, "There is no ledger that could keep a pause or a schedule");
		return available;
	}

	@Override
	public AdvisoryLockKey key(String name) {
		return LockRequest.of(name).key(this.settings.namespace(), this.settings.keyFactory());
	}

	@Override
	public boolean isHeld(AdvisoryLockKey key) {
		return this.elsewhere.isHeldAnywhere(key);
	}

	@Override
	public List<String> held() {
		List<String> held = new ArrayList<>();
		this.heldElsewhere.stream()
			.filter(HeldLock::isHeld)
			.forEach((lock) -> held.add(lock.key() + " (held elsewhere)"));
		int own = this.heldLocks.getAsInt();
		if (own > 0) {
			held.add(own + " of the application");
		}
		return held;
	}

	@Override
	public List<LockCall> calls(AdvisoryLockKey key) {
		return this.calls.of(key);
	}

	@Override
	public void reset() {
		this.heldElsewhere.forEach(HeldLock::close);
		this.heldElsewhere.clear();
		this.calls.clear();
	}

	@Override
	public void destroy() {
		this.session.close();
	}

	/**
	 * Return what opens connections that belong to nobody. What is asked of a lock in a
	 * transaction must neither fail with it nor be cancelled with what it runs.
	 */
	private static DataSource outside(ConnectionSource connectionSource) {
		return new DelegatingDataSource() {

			@Override
			protected DataSource obtainTargetDataSource() {
				return connectionSource.get();
			}

		};
	}

}
