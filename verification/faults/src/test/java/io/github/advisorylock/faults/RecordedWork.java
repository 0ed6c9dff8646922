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

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

import io.github.advisorylock.LockContext;
import org.jspecify.annotations.Nullable;

/**
 * Work that writes down what becomes of it, and has its effect through a connection of
 * its own.
 */
final class RecordedWork implements Work {

	/**
	 * The table of the effects, as the owner of the server creates it.
	 */
	static final String TABLE = "CREATE TABLE effect (job text NOT NULL, tick timestamptz, token bigint, "
			+ "run text NOT NULL, instance text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())";

	private static final String INSERT = "INSERT INTO effect (job, tick, token, run, instance) VALUES (?, ?, ?, ?, ?)";

	/**
	 * How often a run writes that it goes on, in milliseconds.
	 */
	static final long BEAT = 100;

	private final ContestantSettings settings;

	private final History history;

	private final Duration length;

	private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

	RecordedWork(ContestantSettings settings, History history, Duration length) {
		this.settings = settings;
		this.history = history;
		this.length = length;
	}

	@Override
	public void run(String job, @Nullable Instant tick) throws Exception {
		run(job, tick, null, this.length, () -> true, (run) -> {
			try (Connection connection = DriverManager.getConnection(this.settings.url(), this.settings.user(),
					this.settings.password()); PreparedStatement insert = connection.prepareStatement(INSERT)) {
				bind(insert, job, tick, null, run);
				insert.executeUpdate();
			}
		});
	}

	/**
	 * Run, and write down what becomes of it.
	 * @param held whether the scheduler still says that nobody else runs
	 * @param effect what the run does at its end
	 * @return the name of the run
	 */
	String run(String job, @Nullable Instant tick, @Nullable Long token, Duration length, BooleanSupplier held,
			Effect effect) throws Exception {
		String run = this.history.nextRun();
		this.history.write(Event.Kind.START, run, job, tick, token);
		this.threads.add(Thread.currentThread());
		try {
			for (long left = length.toMillis(); left > 0; left -= BEAT) {
				Thread.sleep(Math.min(left, BEAT));
				if (!held.getAsBoolean()) {
					throw new IllegalStateException("Told of a loss");
				}
				this.history.write(Event.Kind.BEAT, run, job, tick, token);
			}
			effect.happen(run);
			this.history.write(Event.Kind.END, run, job, tick, token);
			return run;
		}
		catch (Throwable ex) {
			this.history.write(held.getAsBoolean() ? Event.Kind.FAIL : Event.Kind.TOLD, run, job, tick, token);
			throw ex;
		}
		finally {
			this.threads.remove(Thread.currentThread());
		}
	}

	/**
	 * Run as work that shows a promise.
	 * @param lock what is known of its lock, if anything is
	 * @return the name of the run
	 */
	String run(Promise promise, @Nullable Instant tick, @Nullable LockContext lock, Effect effect) throws Exception {
		OptionalLong token = (lock != null) ? lock.fencingToken() : OptionalLong.empty();
		return run(promise.key(), tick, token.isPresent() ? token.getAsLong() : null, Promise.LENGTH,
				() -> lock == null || lock.isHeld(), effect);
	}

	/**
	 * Interrupt all runs.
	 */
	void interrupt() {
		this.threads.forEach(Thread::interrupt);
	}

	/**
	 * Write down that the scheduler counts a run as executed.
	 */
	void done(String run, String job, @Nullable Instant tick, @Nullable Long token) {
		this.history.write(Event.Kind.DONE, run, job, tick, token);
	}

	/**
	 * Write down that a run was rolled back as planned.
	 */
	void rolledBack(String run, String job, @Nullable Instant tick) {
		this.history.write(Event.Kind.ROLLED_BACK, run, job, tick, null);
	}

	/**
	 * Write down what is no event of a run.
	 */
	void say(Event.Kind kind, String job, long value) {
		say(kind, job, null, value);
	}

	/**
	 * Write down what is no event of a run, with a time that it tells of.
	 */
	void say(Event.Kind kind, String job, @Nullable Instant tick, long value) {
		this.history.write(kind, this.settings.instance(), job, tick, value);
	}

	/**
	 * Write down that a call was answered.
	 */
	void tried(String job, @Nullable Instant tick) {
		this.history.write(Event.Kind.TRIED, this.settings.instance(), job, tick, null);
	}

	/**
	 * Bind the values of a row of the table.
	 */
	void bind(PreparedStatement insert, String job, @Nullable Instant tick, @Nullable Long token, String run)
			throws SQLException {
		insert.setString(1, job);
		insert.setObject(2, (tick != null) ? tick.atOffset(ZoneOffset.UTC) : null);
		insert.setObject(3, token);
		insert.setString(4, run);
		insert.setString(5, this.settings.instance());
	}

	/**
	 * What a run does at its end.
	 */
	@FunctionalInterface
	interface Effect {

		void happen(String run) throws Exception;

	}

}
