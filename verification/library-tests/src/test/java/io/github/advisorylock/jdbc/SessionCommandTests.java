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

package io.github.advisorylock.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.FaultyDataSource;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.Patience;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link SessionCommand}: what becomes of each when its answer does not arrive,
 * whether the server has obeyed or not.
 */
class SessionCommandTests {

	private static final AdvisoryLockKey KEY = AdvisoryLockKey.of("tests", "command");

	private static final AdvisoryLockKey OTHER = AdvisoryLockKey.of("tests", "other");

	private static final SQLException CANCELLED = new SQLException("expected", "57014");

	private static final SQLException DISCONNECTED = new SQLException("expected", "08006");

	private final FaultyDataSource faulty = new FaultyDataSource();

	private final LockSession session = new LockSession(this.faulty, "tests", LockSessionSettings.DEFAULT, (lost) -> {
	});

	private final Hold hold = hold(KEY);

	@AfterEach
	void checkThatNoLockIsLeft() {
		assertThat(this.faulty.hasFailed()).isTrue();
		this.session.close();
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.locks()).isEmpty());
	}

	@ParameterizedTest
	@MethodSource("locks")
	void acquireThatWasObeyedFailsAndLeavesThatLockOnlyFree(AdvisoryLockKey key, LockMode mode) {
		Hold held = hold(OTHER);
		Hold taken = hold(key, mode);
		assertThat(this.session.tryLock(held)).isTrue();
		this.faulty.failAfter("execute", "pg_try_advisory_lock", CANCELLED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.session.tryLock(taken))
			.withRootCauseInstanceOf(SQLException.class);
		assertThat(ForeignSession.isFree(key)).isTrue();
		assertThat(held.isActive()).isTrue();
		assertThat(ForeignSession.isHeld(OTHER)).isTrue();
		assertThat(this.session.tryLock(taken)).isTrue();
		this.session.unlock(taken);
		assertThat(ForeignSession.isFree(key)).isTrue();
	}

	static Stream<Arguments> locks() {
		return Stream
			.of(KEY, AdvisoryLockKey.ofValue(-1), AdvisoryLockKey.ofValue(Long.MIN_VALUE), AdvisoryLockKey.ofValue(1),
					AdvisoryLockKey.ofPair(-1, Integer.MIN_VALUE), AdvisoryLockKey.ofPair(1, 2))
			.flatMap((key) -> Stream.of(LockMode.values()).map((mode) -> Arguments.of(key, mode)));
	}

	@Test
	void permitThatWasGrantedIsFreeAfterAFailure() {
		try (ForeignSession foreign = ForeignSession.holding(KEY.permit(2))) {
			List<AdvisoryLockKey> permits = List.of(KEY.permit(2), KEY.permit(3), KEY);
			this.faulty.failAfter("execute", "pg_try_advisory_lock", CANCELLED);
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> this.session.tryPermits(this.hold, permits))
				.withRootCauseInstanceOf(SQLException.class);
			assertThat(ForeignSession.isFree(KEY.permit(3))).isTrue();
			assertThat(this.session.tryPermits(this.hold, permits)).isTrue();
			assertThat(this.hold.lock()).isEqualTo(KEY.permit(3));
			assertThat(ForeignSession.isHeld(KEY.permit(3))).isTrue();
			assertThat(ForeignSession.isFree(KEY)).as("what stands behind is not asked for").isTrue();
			this.session.unlock(this.hold);
			assertThat(ForeignSession.isFree(KEY.permit(3))).isTrue();
		}
	}

	@Test
	void noPermitIsFoundOutAfterAFailure() {
		this.faulty.failBefore("execute", "pg_try_advisory_lock", CANCELLED);
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.session.tryPermits(this.hold, List.of(KEY.permit(2), KEY.permit(3))))
			.withRootCauseInstanceOf(SQLException.class);
		assertThat(this.hold.lock()).isEqualTo(KEY);
		assertThat(ForeignSession.isFree(KEY.permit(2))).isTrue();
		assertThat(this.session.tryPermits(this.hold, List.of(KEY.permit(2)))).isTrue();
	}

	/**
	 * What is not known is no reason to skip.
	 */
	@Test
	void acquireFailsWhereItsConnectionIsLostThatIsNew() {
		this.faulty.failBefore("execute", "pg_try_advisory_lock", DISCONNECTED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.session.tryLock(this.hold))
			.withRootCauseInstanceOf(SQLException.class);
	}

	@Test
	void acquireOfATickThatWasObeyedFailsAndLeavesNoLock() {
		this.faulty.failAfter("execute", "pg_try_advisory_lock", CANCELLED);
		Hold tick = tick(LockMode.EXCLUSIVE);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.session.tryTick(tick, true))
			.withRootCauseInstanceOf(SQLException.class);
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(this.session.tryTick(tick, true)).isEqualTo(LockOutcome.EXECUTED);
	}

	@Test
	void acquireOfATickLeavesNoLockWhereAnotherSessionHasIt() {
		try (ForeignSession foreign = ForeignSession.holding(KEY)) {
			assertThat(this.session.tryTick(tick(LockMode.EXCLUSIVE), true)).isEqualTo(LockOutcome.BUSY);
			assertThat(foreign.unlock(KEY)).isTrue();
			assertThat(ForeignSession.isFree(KEY)).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void tickThatIsSharedByAFailureLeavesNoLock(boolean obeyed) {
		Hold tick = tick(LockMode.EXCLUSIVE);
		assertThat(this.session.tryTick(tick, true)).isEqualTo(LockOutcome.EXECUTED);
		if (obeyed) {
			this.faulty.failAfter("execute", "pg_try_advisory_lock_shared", CANCELLED);
		}
		else {
			this.faulty.failBefore("execute", "pg_try_advisory_lock_shared", CANCELLED);
		}
		Hold shared = tick(LockMode.SHARED);
		assertThat(share(tick, shared)).isFalse();
		assertThat(tick.isActive()).isFalse();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(this.session.tryLock(shared)).isTrue();
		this.session.forget(List.of(shared));
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	private boolean share(Hold exclusive, Hold shared) {
		SessionCommand.ShareTick command = new SessionCommand.ShareTick(exclusive, shared);
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.session.share(command, () -> answer.complete(command.isDone()));
		return answer.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
	}

	@Test
	void acquireOfSomeThatWasObeyedFailsAndLeavesNoLock() {
		try (ForeignSession foreign = ForeignSession.holding(OTHER)) {
			this.faulty.failAfter("execute", "pg_try_advisory_lock", CANCELLED);
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> acquireSome(hold(OTHER), this.hold))
				.withRootCauseInstanceOf(SQLException.class);
			assertThat(ForeignSession.isFree(KEY)).isTrue();
			assertThat(acquireSome(hold(OTHER), this.hold)).containsExactly("", null);
			assertThat(ForeignSession.isHeld(KEY)).isTrue();
			this.session.unlock(this.hold);
			assertThat(ForeignSession.isFree(KEY)).isTrue();
		}
	}

	@Test
	void acquireOfSomeFailsWhereNoneIsHeld() {
		this.faulty.failBefore("execute", "pg_try_advisory_lock", CANCELLED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> acquireSome(this.hold, hold(OTHER)))
			.withRootCauseInstanceOf(SQLException.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "execute", "getMoreResults" })
	void acquireOfSomeFailsWhereItsConnectionIsLostThatIsNew(String method) {
		this.faulty.failAfter(method, "pg_try_advisory_lock", DISCONNECTED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> acquireSome(this.hold))
			.withRootCauseInstanceOf(SQLException.class);
		assertThat(this.hold.isLost()).isFalse();
	}

	@Test
	void acquireOfSomeIsAskedOnceMoreWhereItsConnectionIsLost() {
		Hold before = hold(OTHER);
		assertThat(this.session.tryLock(before)).isTrue();
		this.faulty.failAfter("getMoreResults", "pg_try_advisory_lock", DISCONNECTED);
		assertThat(acquireSome(this.hold)).containsOnlyNulls();
		assertThat(before.isLost()).isTrue();
		assertThat(this.hold.isActive()).isTrue();
		assertThat(ForeignSession.isHeld(KEY)).isTrue();
	}

	@Test
	void releaseThatWasObeyedIsTakenForDone() {
		assertThat(this.session.tryLock(this.hold)).isTrue();
		this.faulty.failAfter("execute", "pg_advisory_unlock", CANCELLED);
		this.session.unlock(this.hold);
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		this.session.suspend();
		assertThat(this.session.isConnected()).isFalse();
	}

	@Test
	void releaseThatWasNotObeyedIsDoneOnceMore() {
		Hold other = hold(OTHER);
		assertThat(this.session.tryLock(this.hold)).isTrue();
		assertThat(this.session.tryLock(other)).isTrue();
		this.faulty.failBefore("execute", "pg_advisory_unlock", CANCELLED);
		this.session.unlock(this.hold);
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(other.isActive()).isTrue();
		assertThat(ForeignSession.isHeld(OTHER)).isTrue();
	}

	@Test
	void releaseThatWasNotObeyedOfAKeyThatIsSharedIsDoneWithTheLast() {
		Hold first = hold(KEY, LockMode.SHARED);
		Hold last = hold(KEY, LockMode.SHARED);
		assertThat(this.session.tryLock(first)).isTrue();
		assertThat(this.session.tryLock(last)).isTrue();
		this.faulty.failBefore("execute", "pg_advisory_unlock", CANCELLED);
		this.session.unlock(first);
		assertThat(ForeignSession.isHeld(KEY)).isTrue();
		this.session.unlock(last);
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(this.session.isConnected()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void commandsThatFailTogetherAreDoneOneByOne(boolean obeyed) throws Exception {
		Hold bystander = hold(OTHER);
		assertThat(this.session.tryLock(bystander)).isTrue();
		assertThat(this.session.tryLock(this.hold)).isTrue();
		CountDownLatch together = new CountDownLatch(1);
		CountDownLatch occupied = new CountDownLatch(1);
		this.session.executor().execute(() -> {
			occupied.countDown();
			Awaitility.await().until(() -> together.getCount() == 0);
		});
		assertThat(occupied.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		List<Hold> taken = IntStream.range(0, 8).mapToObj((i) -> hold(AdvisoryLockKey.ofPair(i, -i))).toList();
		List<FutureTask<Boolean>> calls = new ArrayList<>();
		taken.forEach((each) -> calls.add(new FutureTask<>(() -> this.session.tryLock(each))));
		calls.add(new FutureTask<>(() -> this.session.unlock(this.hold), true));
		calls.add(new FutureTask<>(() -> ask(bystander) == 7));
		List<Thread> callers = calls.stream().map(Thread::new).toList();
		callers.forEach(Thread::start);
		Awaitility.await()
			.until(() -> callers.stream().allMatch((caller) -> caller.getState() == Thread.State.TIMED_WAITING));
		if (obeyed) {
			this.faulty.failAfter("execute", "pg_try_advisory_lock", CANCELLED);
		}
		else {
			this.faulty.failBefore("execute", "pg_try_advisory_lock", CANCELLED);
		}
		together.countDown();
		for (FutureTask<Boolean> call : calls) {
			assertThat(call.get(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		assertThat(this.faulty.hasFailed()).isTrue();
		assertThat(taken).hasSize(8).allMatch((hold) -> ForeignSession.isHeld(hold.key()));
		assertThat(ForeignSession.isFree(KEY)).isTrue();
		assertThat(bystander.isActive()).isTrue();
		taken.forEach(this.session::unlock);
		this.session.unlock(bystander);
		assertThat(TestPostgres.locks()).isEmpty();
	}

	@Test
	void releaseOfWhatWasLostLeavesTheNextConnectionAlone() {
		assertThat(this.session.tryLock(this.hold)).isTrue();
		this.faulty.failBefore("execute", "SELECT true", DISCONNECTED);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.session.confirm(this.hold));
		Hold other = hold(OTHER);
		assertThat(this.session.tryLock(other)).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.session.unlock(this.hold));
		assertThat(other.isActive()).isTrue();
		assertThat(ForeignSession.isHeld(OTHER)).isTrue();
	}

	@Test
	void releaseOfTicksThatWasObeyedIsTakenForDone() {
		Hold quiet = quiet();
		this.faulty.failAfter("execute", "pg_advisory_unlock", CANCELLED);
		this.session.forget(List.of(quiet));
		assertThat(quiet.isActive()).isFalse();
		assertThat(quiet.isLost()).isFalse();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void releaseOfTicksThatWasNotObeyedIsDoneOnceMore() {
		Hold quiet = quiet();
		this.faulty.failBefore("execute", "pg_advisory_unlock", CANCELLED);
		this.session.forget(List.of(quiet));
		assertThat(quiet.isActive()).isFalse();
		assertThat(ForeignSession.isFree(KEY)).isTrue();
	}

	@Test
	void questionThatWasNotAnsweredOnAGoodConnectionLosesNothing() {
		assertThat(this.session.tryLock(this.hold)).isTrue();
		this.faulty.failBefore("execute", "SELECT true", CANCELLED);
		this.session.confirm(this.hold);
		assertThat(this.hold.isActive()).isTrue();
		assertThat(ForeignSession.isHeld(KEY)).isTrue();
	}

	@Test
	void numberIsAskedForWhileTheLockIsHeld() {
		assertThat(this.session.tryLock(this.hold)).isTrue();
		assertThat(ask(this.hold)).isEqualTo(7);
		this.faulty.failBefore("execute", "SELECT 7", CANCELLED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> ask(this.hold))
			.withRootCauseInstanceOf(SQLException.class);
		this.faulty.failBefore("execute", "SELECT 7", DISCONNECTED);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> ask(this.hold))
			.withRootCauseInstanceOf(SQLException.class);
		assertThat(this.session.tryLock(hold(OTHER))).isTrue();
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> ask(this.hold))
			.withRootCauseInstanceOf(SQLException.class);
	}

	private long ask(Hold hold) {
		return this.session.ask(hold, "SELECT 7", List.of());
	}

	private List<String> acquireSome(Hold... candidates) {
		List<Object> keys = List.of(candidates).stream().<Object>map((hold) -> hold.key().value()).toList();
		String column = "CASE WHEN pg_catalog.pg_try_advisory_lock(?) THEN NULL ELSE '' END";
		return this.session.tryLocks(List.of(candidates),
				"SELECT " + String.join(", ", keys.stream().map((key) -> column).toList()), keys);
	}

	private static Hold tick(LockMode mode) {
		return new Hold.OfTick(KEY, mode, () -> {
		});
	}

	private Hold quiet() {
		Hold quiet = tick(LockMode.EXCLUSIVE);
		assertThat(this.session.tryLock(quiet)).isTrue();
		return quiet;
	}

	private static Hold hold(AdvisoryLockKey key) {
		return hold(key, LockMode.EXCLUSIVE);
	}

	private static Hold hold(AdvisoryLockKey key, LockMode mode) {
		return new Hold.InSession(key, mode, LockScheduler.Ticker.SYSTEM, () -> {
		});
	}

}
