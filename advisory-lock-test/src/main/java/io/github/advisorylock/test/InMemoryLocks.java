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
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.leader.UnguardedLeaderElection;
import io.github.advisorylock.ledger.JobPausedEvent;
import io.github.advisorylock.ledger.JobRescheduledEvent;
import io.github.advisorylock.ledger.JobResumedEvent;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.Assert;

/**
 * Locks that are kept in memory, for tests without PostgreSQL. They exclude each other,
 * with waits, shared locks, nested calls and transactions; work is done once for a key or
 * a tick; a job can be paused. A test decides the rest: {@linkplain #answer how a call
 * ends}, {@linkplain #lose which lock is lost}, {@linkplain #leadElsewhere who leads}.
 * <p>
 * But in a {@link FleetTest}, {@code minInterval}, {@code catchUp}, {@code maxRun} and
 * fencing tokens are refused with an {@link UnsupportedOperationException}: tests of
 * those run on PostgreSQL, by {@link AdvisoryLockTest#postgres()} or without
 * {@link AutoConfigureInMemoryLocks}. So do tests in which savepoints, aborted
 * transactions or isolation levels matter.
 *
 * @since 0.1.0
 */
public final class InMemoryLocks implements TestLocks {

	private final HoldTable table;

	private final InMemoryAnswers answers;

	private final @Nullable Fleet fleet;

	private final CallRecorder calls;

	private final Consumer<Object> eventPublisher;

	private final Set<String> rolesLedElsewhere = ConcurrentHashMap.newKeySet();

	private final AtomicLong term = new AtomicLong(1);

	private final SingleRunnerSettings settings;

	/**
	 * Create locks without a namespace, for a test that needs no application context.
	 */
	public InMemoryLocks() {
		this(new SingleRunnerSettings("", AdvisoryLockKeyFactory.sha256(), Duration.ZERO, Duration.ZERO,
				SingleRunnerSettings.LedgerUse.ON_DEMAND, (type) -> null, (key) -> null), new CallRecorder(),
				(event) -> {
				}, null);
	}

	/**
	 * Create locks.
	 * @param settings of the application
	 * @param calls is told how calls end
	 * @param eventPublisher is told of lost locks, and what operators do
	 * @param fleet whose locks they are, {@code null} if not those of a fleet
	 */
	InMemoryLocks(SingleRunnerSettings settings, CallRecorder calls, Consumer<Object> eventPublisher,
			@Nullable Fleet fleet) {
		this.settings = settings;
		this.calls = calls;
		this.eventPublisher = eventPublisher;
		this.fleet = fleet;
		VirtualTime time = (fleet != null) ? fleet.time() : null;
		this.answers = new InMemoryAnswers(time);
		this.table = new HoldTable(eventPublisher, time);
	}

	/**
	 * Create what takes locks for one instance of an application; calls of another one's
	 * exclude those of this one. Work of scope TRANSACTION runs without a transaction
	 * where there is none.
	 * @return new operations
	 */
	public AdvisoryLockOperations createOperations() {
		return createOperations(new DefaultListableBeanFactory());
	}

	/**
	 * Create what takes locks for one instance of an application; calls of another one's
	 * exclude those of this one.
	 * @param transactionManager begins the transaction of a run of scope TRANSACTION
	 * where there is none
	 * @return new operations
	 */
	public AdvisoryLockOperations createOperations(PlatformTransactionManager transactionManager) {
		Assert.notNull(transactionManager, "'transactionManager' must not be null");
		ConfigurableListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("transactionManager", transactionManager);
		return createOperations(beans);
	}

	InMemoryLockOperations createOperations(ConfigurableListableBeanFactory beans) {
		return createOperations(beans, (this.fleet != null) ? this.fleet.test() : null);
	}

	InMemoryLockOperations createOperations(ConfigurableListableBeanFactory beans, @Nullable FleetInstance instance) {
		return new InMemoryLockOperations(this, beans, instance);
	}

	/**
	 * Return what an instance of a fleet holds.
	 */
	List<InMemoryHold> holds(FleetInstance instance) {
		return this.table.all().stream().filter((hold) -> hold.process() == instance).toList();
	}

	@Nullable Fleet fleet() {
		return this.fleet;
	}

	/**
	 * Make sure that the database can be asked.
	 */
	void checkDatabase(AdvisoryLockKey key) {
		if (this.fleet != null && this.fleet.isDatabaseDown()) {
			throw new DataAccessResourceFailureException("Failed to acquire advisory lock '" + key
					+ "': the database is down, as Fleet.databaseDown() says");
		}
	}

	@Override
	public HeldLock holdElsewhere(AdvisoryLockKey key) {
		InMemoryHold hold = new InMemoryHold(this.table, key, LockMode.EXCLUSIVE, 1, null);
		Assert.state(this.table.enter(hold, 0),
				() -> "Advisory lock '" + key + "' can't be held elsewhere: it is held already");
		return hold;
	}

	/**
	 * Lose a lock, as if its connection were gone: others can have it, the run that holds
	 * it is interrupted and fails, and whoever asked to be told is told.
	 * @param key the name of the key
	 * @throws IllegalStateException if nobody holds it
	 */
	public void lose(String key) {
		AdvisoryLockKey lost = key(key);
		List<InMemoryHold> holds = this.table.holds(lost);
		Assert.state(!holds.isEmpty(), () -> "Advisory lock '" + lost + "' can't be lost: it is not held");
		holds.forEach(InMemoryHold::lose);
	}

	/**
	 * Decide how calls for a key end that have got its lock, until the next test begins.
	 * Pauses, completed keys and ticks have no say then.
	 * @param key the name of the key
	 * @param outcome {@link LockOutcome#EXECUTED} to have the work run, else why it is
	 * skipped
	 */
	public void answer(String key, LockOutcome outcome) {
		this.answers.give(key(key), outcome);
	}

	/**
	 * Let another instance lead a role, or this one again, as it does by default.
	 * @param role the name of the role
	 * @param elsewhere whether another instance leads it
	 */
	public void leadElsewhere(String role, boolean elsewhere) {
		if (elsewhere) {
			this.rolesLedElsewhere.add(role);
		}
		else {
			this.rolesLedElsewhere.remove(role);
		}
		this.term.incrementAndGet();
	}

	/**
	 * Return the elections that {@link #leadElsewhere} decides.
	 * @return the elections
	 */
	public LeaderElection leaderElection() {
		return new InMemoryLeaderElection();
	}

	@Override
	public void pause(String key) {
		AdvisoryLockKey job = setPaused(key, true);
		this.eventPublisher.accept(new JobPausedEvent(job.namespace(), key, PostgresTestLocks.OPERATOR));
	}

	@Override
	public void resume(String key) {
		AdvisoryLockKey job = setPaused(key, false);
		this.eventPublisher.accept(new JobResumedEvent(job.namespace(), key, PostgresTestLocks.OPERATOR));
	}

	private AdvisoryLockKey setPaused(String key, boolean paused) {
		AdvisoryLockKey job = key(key);
		SingleRunnerMethod method = (this.fleet != null) ? this.fleet.method(job) : null;
		boolean recorded = (method != null) ? method.operation().ledger().recorded() : this.answers.hasJob(job);
		Assert.isTrue(this.fleet == null || recorded,
				() -> "Failed to pause or resume '" + job + "': the ledger records no method with that key; give one "
						+ "'once = Once.PER_TICK', or set 'advisory-lock.ledger.enabled' to true");
		this.answers.setPaused(job, paused);
		return job;
	}

	@Override
	public Instant reschedule(String key, @Nullable String schedule, @Nullable String zone) {
		AdvisoryLockKey lock = key(key);
		Fleet fleet = this.fleet;
		if (fleet == null) {
			throw InMemoryAnswers.refusal(lock, "another schedule", "");
		}
		Instant from = this.answers.job(lock).reschedule(lock, fleet.method(lock), schedule, zone, fleet.now());
		fleet.log("'" + lock.name() + "' has schedule " + schedule + " from " + from + " on");
		fleet.instances().forEach((instance) -> fleet.live(instance).learnSchedules());
		this.eventPublisher
			.accept(new JobRescheduledEvent(lock.namespace(), key, schedule, zone, from, PostgresTestLocks.OPERATOR));
		return from;
	}

	@Override
	public AdvisoryLockKey key(String name) {
		return key(LockRequest.of(name));
	}

	@Override
	public boolean isHeld(AdvisoryLockKey key) {
		return this.table.isHeld(key);
	}

	@Override
	public List<String> held() {
		return this.table.all().stream().map(InMemoryHold::toString).toList();
	}

	@Override
	public List<LockCall> calls(AdvisoryLockKey key) {
		return this.calls.of(key);
	}

	@Override
	public void reset() {
		this.table.all().forEach(InMemoryHold::close);
		this.calls.clear();
		this.answers.forget();
		this.rolesLedElsewhere.clear();
	}

	AdvisoryLockKey key(LockRequest request) {
		return request.key(this.settings.namespace(), this.settings.keyFactory());
	}

	HoldTable table() {
		return this.table;
	}

	InMemoryAnswers answers() {
		return this.answers;
	}

	SingleRunnerSettings settings() {
		return this.settings;
	}

	void record(LockCall call) {
		this.calls.add(call);
	}

	/**
	 * Makes this instance the leader unless a test says otherwise.
	 */
	private final class InMemoryLeaderElection implements LeaderElection {

		/**
		 * Knows what roles may be called, and into how many shards they may be divided.
		 */
		private static final LeaderElection NAMES = new UnguardedLeaderElection();

		@Override
		public boolean isLeader(String role) {
			Set<String> elsewhere = InMemoryLocks.this.rolesLedElsewhere;
			return NAMES.isLeader(role) && !elsewhere.contains(role)
					&& !elsewhere.contains(role.replaceFirst("#\\d{1,2}$", ""));
		}

		@Override
		public OptionalLong term(String role) {
			return isLeader(role) ? OptionalLong.of(InMemoryLocks.this.term.get()) : OptionalLong.empty();
		}

		@Override
		public void resign(String role) {
			leadElsewhere(role, true);
		}

		@Override
		public Set<Integer> shards(String role, int number) {
			Set<Integer> shards = NAMES.shards(role, number);
			shards.removeIf((shard) -> !isLeader(role + "#" + shard));
			return shards;
		}

	}

}
