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

package io.github.advisorylock;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.github.advisorylock.support.RequestDetail;
import io.github.advisorylock.support.RequestDetail.Recorded;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockRequest}.
 */
class LockRequestTests {

	private static final AdvisoryLockKeyFactory FACTORY = AdvisoryLockKeyFactory.sha256();

	@Test
	void ofNameLeavesEverythingToTheOperation() {
		LockRequest request = LockRequest.of("job");
		assertThat(request.scope()).isNull();
		assertThat(request.waitFor()).isNull();
		assertThat(request.mode()).isEqualTo(LockMode.EXCLUSIVE);
	}

	@Test
	void ofNameTakesDefaultNamespaceAndKeyFactory() {
		assertThat(LockRequest.of("job").key("shop", FACTORY)).isEqualTo(AdvisoryLockKey.of("shop", "job"));
		assertThat(LockRequest.of("job").key("shop", AdvisoryLockKeyFactory.pair()).isPair()).isTrue();
	}

	@Test
	void ofKeyTakesTheKeyAsItIs() {
		AdvisoryLockKey key = AdvisoryLockKey.ofPair(1, 2);
		assertThat(LockRequest.of(key).key("shop", FACTORY)).isSameAs(key);
	}

	@ParameterizedTest
	@ValueSource(strings = { "leader:reports", "leader:", "advisory-lock:ledger-housekeeping", "advisory-lock:" })
	void nameThatIsKeptForLeadersOrLibraryIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(name))
			.withMessageStartingWith("'key' starts with '" + name.substring(0, name.indexOf(':') + 1) + "'")
			.withMessageEndingWith("'" + name + "'");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(AdvisoryLockKey.of("shop", name)))
			.withMessageEndingWith("'" + name + "'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LockRequest.of(AdvisoryLockKeyFactory.pair().createKey("shop", name)))
			.withMessageEndingWith("'" + name + "'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "leader:reports", "advisory-lock:ledger-housekeeping" })
	void namespaceBeforeSlashDoesNotHideWhatIsKept(String name) {
		assertThat(AdvisoryLockKey.of("shop/" + name)).isEqualTo(AdvisoryLockKey.of("shop", name));
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(AdvisoryLockKey.of("shop/" + name)))
			.withMessageEndingWith("'" + name + "'");
		LockRequest request = LockRequest.of("shop/" + name);
		assertThatIllegalArgumentException().isThrownBy(() -> request.key("", FACTORY))
			.withMessageEndingWith("'" + name + "'");
		assertThatIllegalArgumentException().isThrownBy(() -> request.namespace("").key("shop", FACTORY))
			.withMessageEndingWith("'" + name + "'");
		assertThat(request.key("test", FACTORY)).hasToString("test/shop/" + name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "leaders", "Leader:reports", "the-leader:reports", "advisory-lock", "export/leader" })
	void nameThatOnlyLooksLikeWhatIsKeptIsFine(String name) {
		assertThat(LockRequest.of(name).key("", FACTORY)).isEqualTo(AdvisoryLockKey.of(name));
	}

	@Test
	void namespaceReplacesDefaultNamespace() {
		assertThat(LockRequest.of("job").namespace("other").key("shop", FACTORY))
			.isEqualTo(AdvisoryLockKey.of("other", "job"));
		assertThat(LockRequest.of("job").namespace("").key("shop", FACTORY)).isEqualTo(AdvisoryLockKey.of("job"));
	}

	@Test
	void changesGoToCopiesAndLeaveTheOriginalAlone() {
		LockRequest original = LockRequest.of("job");
		LockRequest changed = original.namespace("other")
			.scope(LockScope.SESSION)
			.mode(LockMode.SHARED)
			.waitFor(Duration.ofSeconds(5))
			.maxRun(Duration.ofMinutes(1));
		assertThat(changed)
			.hasToString("LockRequest[other/job, scope=SESSION, mode=SHARED, waitFor=PT5S, maxRun=PT1M]");
		assertThat(changed.oncePerKey().waitFor(Duration.ZERO).maxRun()).isEqualTo(Duration.ofMinutes(1));
		assertThat(original.maxRun()).isNull();
		assertThat(original).hasToString("LockRequest[job, scope=null, mode=EXCLUSIVE, waitFor=null]");
		assertThat(original.key("shop", FACTORY)).isEqualTo(AdvisoryLockKey.of("shop", "job"));
	}

	@Test
	void permitsAreKeptAndToldWhereThereAreSeveral() {
		LockRequest request = LockRequest.of("job").permits(3).waitFor(Duration.ofSeconds(5));
		assertThat(request.permits()).isEqualTo(3);
		assertThat(request).hasToString("LockRequest[job, scope=null, mode=EXCLUSIVE, waitFor=PT5S, permits=3]");
		assertThat(LockRequest.of("job").permits()).isOne();
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 65 })
	void numberOfPermitsThatCanNotBeIsRefused(int permits) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("job").permits(permits))
			.withMessage("'permits' must be from 1 to 64: " + permits);
	}

	@Test
	void permitsAreRefusedBesideWhatNeedsOneRunAfterTheOther() {
		LockRequest permits = LockRequest.of("job").permits(2);
		LockRequest plain = LockRequest.of("job");
		Instant tick = Instant.EPOCH;
		RequestDetail.Interval interval = new RequestDetail.Interval(Duration.ofSeconds(1),
				RequestDetail.Interval.Counted.FROM_BEGIN);
		for (ThrowingCallable refused : List.<ThrowingCallable>of(permits::oncePerKey, () -> permits.oncePerTick(tick),
				() -> permits.rememberTick(tick, Duration.ofSeconds(1)), () -> permits.with(interval),
				() -> permits.minInterval(Duration.ofSeconds(1)), () -> permits.with(new Recorded("job")),
				() -> plain.oncePerKey().permits(2))) {
			assertThatIllegalArgumentException().isThrownBy(refused).withMessageContaining("'permits'");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> permits.mode(LockMode.SHARED))
			.withMessage("'permits' and mode SHARED must not be set both");
		assertThat(plain.oncePerKey().permits(1).isOncePerKey()).isTrue();
	}

	@Test
	void eachChangeKeepsTheOthers() {
		LockRequest request = LockRequest.of(AdvisoryLockKey.ofValue(7))
			.waitFor(Duration.ofSeconds(5))
			.mode(LockMode.SHARED)
			.scope(LockScope.TRANSACTION);
		assertThat(request).hasToString("LockRequest[7, scope=TRANSACTION, mode=SHARED, waitFor=PT5S]");
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", "  " })
	void emptyNameIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(name))
			.withMessage("'key' must not be empty");
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT-1S" })
	void longestTimeIsMoreThanZero(Duration maxRun) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("job").maxRun(maxRun))
			.withMessage("'maxRun' must be more than zero");
	}

	@Test
	void nullIsRefusedByName() {
		LockRequest request = LockRequest.of("job");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of((AdvisoryLockKey) null))
			.withMessageStartingWith("'key'");
		assertThatIllegalArgumentException().isThrownBy(() -> request.namespace(null))
			.withMessageStartingWith("'namespace'");
		assertThatIllegalArgumentException().isThrownBy(() -> request.scope(null)).withMessageStartingWith("'scope'");
		assertThatIllegalArgumentException().isThrownBy(() -> request.mode(null)).withMessageStartingWith("'mode'");
		assertThatIllegalArgumentException().isThrownBy(() -> request.waitFor(null))
			.withMessageStartingWith("'waitFor'");
		assertThatIllegalArgumentException().isThrownBy(() -> request.maxRun(null)).withMessageStartingWith("'maxRun'");
	}

	@Test
	void negativeWaitIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("job").waitFor(Duration.ofMillis(-1)))
			.withMessage("'waitFor' must not be negative");
		assertThat(LockRequest.of("job").waitFor(Duration.ZERO).waitFor()).isZero();
	}

	@Test
	void namespaceWithSlashIsRefusedWhenKeyIsMade() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LockRequest.of("job").namespace("a/b").key("shop", FACTORY))
			.withMessageStartingWith("'namespace' must not contain a slash");
	}

	@Test
	void namespaceOfReadyMadeKeyIsRefused() {
		assertThatIllegalStateException().isThrownBy(() -> LockRequest.of(AdvisoryLockKey.of("job")).namespace("other"))
			.withMessageStartingWith("'namespace'");
	}

}
