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

import java.time.Instant;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.HeldLock;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * What a test can do with the locks of an application, and know about them. A bean in
 * each application context that a test is run with, whether its locks are kept by
 * PostgreSQL or {@linkplain InMemoryLocks in memory}.
 * <p>
 * Names of keys are looked up in {@code advisory-lock.namespace}, as the application's
 * own are.
 *
 * @since 0.1.0
 */
public interface TestLocks {

	/**
	 * Hold a lock as if another instance of the application had it.
	 * @param key the name of the key
	 * @return the lock, to be closed when the other instance shall have released it
	 * @throws IllegalStateException if somebody holds it already
	 */
	default HeldLock holdElsewhere(String key) {
		return holdElsewhere(key(key));
	}

	/**
	 * Hold a lock as if another instance of the application had it.
	 * @param key the key
	 * @return the lock, to be closed when the other instance shall have released it
	 * @throws IllegalStateException if somebody holds it already
	 */
	HeldLock holdElsewhere(AdvisoryLockKey key);

	/**
	 * Let no instance run a job that is recorded in the ledger, as an operator can.
	 * @param key the name of the key
	 */
	void pause(String key);

	/**
	 * Let instances run a job again.
	 * @param key the name of the key
	 */
	void resume(String key);

	/**
	 * Give a job that is recorded in the ledger another schedule, as an operator can:
	 * from half a minute later on, on all instances. With locks in memory in a
	 * {@link FleetTest}.
	 * @param key the name of the key
	 * @param schedule a cron expression for a {@code cron} schedule, a time such as
	 * {@code PT10M} for {@code fixedRate} and {@code fixedDelay}, {@code null} for the
	 * schedule of the annotation
	 * @param zone the time zone of a cron expression, {@code null} for that of the
	 * annotation
	 * @return from when on it holds
	 */
	Instant reschedule(String key, @Nullable String schedule, @Nullable String zone);

	/**
	 * Return the key of a name.
	 * @param name the name
	 * @return the key
	 */
	AdvisoryLockKey key(String name);

	/**
	 * Return whether anybody holds a lock, this application or another. Where several may
	 * hold a key, each has one of its {@linkplain AdvisoryLockKey#permit permits}.
	 * @param key the key, or one of its permits
	 * @return whether it is held
	 */
	boolean isHeld(AdvisoryLockKey key);

	/**
	 * Return the locks that this application holds or is about to take, and those that
	 * were taken by {@link #holdElsewhere}.
	 * @return a description of each, for somebody who wants to know who forgot them
	 */
	List<String> held();

	/**
	 * Return the calls that asked for a key in this test: those of annotated methods, and
	 * with locks in memory those of
	 * {@link io.github.advisorylock.AdvisoryLockOperations#execute}.
	 * @param key the key
	 * @return the calls that have ended, in that order
	 */
	List<LockCall> calls(AdvisoryLockKey key);

	/**
	 * Begin a new test: forget the calls, and with locks in memory answers, pauses and
	 * what was completed. Locks that are held are released as far as they were taken by
	 * {@link #holdElsewhere} or are kept in memory. Called before each test of an
	 * application context.
	 */
	void reset();

	/**
	 * Return a lock for AssertJ's {@code assertThat}.
	 * @param key the name of the key
	 * @return what can be said of the lock
	 */
	default AssertProvider<LockAssert> lock(String key) {
		return lock(key(key));
	}

	/**
	 * Return a lock for AssertJ's {@code assertThat}.
	 * @param key the key
	 * @return what can be said of the lock
	 */
	default AssertProvider<LockAssert> lock(AdvisoryLockKey key) {
		return () -> new LockAssert(this, key);
	}

}
