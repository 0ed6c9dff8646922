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

package io.github.advisorylock.log;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.support.RequestDetail;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * What is logged about runs and locks, as a sentence that can be read by itself and as
 * key/value pairs that structured logging makes fields of. Nothing is built for a line
 * whose level is off.
 *
 * @since 0.1.0
 */
public final class LockLog {

	/**
	 * The logger of runs, at {@code INFO}, and of skips and of runs whose key depends on
	 * arguments, at {@code DEBUG}.
	 */
	public static final String RUN = "io.github.advisorylock.run";

	/**
	 * The logger of what somebody should look at, at {@code WARN}.
	 */
	public static final String ALERT = "io.github.advisorylock.alert";

	private static final Logger RUNS = LoggerFactory.getLogger(RUN);

	private static final Logger ALERTS = LoggerFactory.getLogger(ALERT);

	private LockLog() {
	}

	/**
	 * Log that a method ran, or failed. What it threw is for the caller, so there is no
	 * stack trace. A method whose key depends on arguments may be called as often as
	 * there are requests from outside, so that is for {@code DEBUG}.
	 * @param key the key of the run
	 * @param fixed whether every call of the method has that key
	 * @param scope how long the lock lived
	 * @param method the method
	 * @param duration how long the call took
	 * @param failure what it threw, {@code null} on success
	 * @param tick the planned time that it was for, {@code null} if for none
	 * @param attempt how often the work has been tried for that tick
	 * @param done whether it succeeded, or its transaction was committed nevertheless
	 */
	public static void finished(AdvisoryLockKey key, boolean fixed, LockScope scope, String method, Duration duration,
			@Nullable Throwable failure, @Nullable Instant tick, int attempt, boolean done) {
		Level level = fixed ? Level.INFO : Level.DEBUG;
		if (!RUNS.isEnabledForLevel(level)) {
			return;
		}
		long millis = duration.toMillis();
		boolean cancelled = failure != null && LockLostException.isCancelled(failure, key);
		LoggingEventBuilder event = call(level, key, scope, method,
				cancelled ? "cancelled" : (failure != null) ? "failed" : "executed", tick)
			.addKeyValue("advisory_lock.duration_ms", millis);
		if (tick != null) {
			event = event.addKeyValue("advisory_lock.attempt", attempt);
		}
		String purpose = purpose(tick, attempt);
		if (failure == null) {
			event.log("Ran '" + key + "' (" + method + ")" + purpose + " in " + millis + " ms");
			return;
		}
		String error = failure.getClass().getName();
		event.addKeyValue("advisory_lock.error", error)
			.log(done
					? "Run of '" + key + "' (" + method + ")" + purpose + " ended with " + error
							+ ", and its transaction was committed, after " + millis + " ms"
					: (cancelled ? "Cancelled '" : "Failed '") + key + "' (" + method + ")" + purpose + " after "
							+ millis + " ms: " + error);
	}

	/**
	 * Log that a run of a method failed which other advice of it repeats.
	 * @param key the key that it ran under
	 * @param fixed whether each call has that key
	 * @param scope how long the lock lives
	 * @param method the method
	 * @param failure what it threw, {@code null} if it failed after that
	 * @param tick the planned time that it was for, {@code null} if for none
	 * @param attempt which attempt it was
	 */
	public static void repeated(AdvisoryLockKey key, boolean fixed, LockScope scope, String method,
			@Nullable Throwable failure, @Nullable Instant tick, int attempt) {
		String error = (failure != null) ? failure.getClass().getName() : "its transaction was not committed";
		call(fixed ? Level.INFO : Level.DEBUG, key, scope, method, "failed", tick)
			.addKeyValue("advisory_lock.attempt", attempt)
			.addKeyValue("advisory_lock.error", error)
			.log("Failed '" + key + "' (" + method + ")" + purpose(tick, 1) + " in attempt " + attempt
					+ ", and is tried again: " + error);
	}

	/**
	 * Log that a method was skipped, for a reason that is known.
	 * @param key the key it would have run under
	 * @param scope how long the lock would have lived
	 * @param method the method
	 * @param outcome why it was skipped
	 * @param tick the planned time that it would have been for, {@code null} if for none
	 * @param request what was asked for
	 * @param known the reason, {@code null} if the outcome says all
	 */
	public static void skipped(AdvisoryLockKey key, LockScope scope, String method, LockOutcome outcome,
			@Nullable Instant tick, LockRequest request, @Nullable String known) {
		if (RUNS.isDebugEnabled()) {
			String word = word(outcome);
			String reason = (known != null) ? known : reason(outcome, request);
			call(Level.DEBUG, key, scope, method, word, tick).addKeyValue("advisory_lock.reason", reason)
				.log("Skipped '" + key + "' (" + method + ")" + purpose(tick, 1) + ", " + word + ": " + reason);
		}
	}

	/**
	 * Log that a lock was lost while its run was under way.
	 * @param key the key that is no longer locked
	 * @param scope how long the lock was to live
	 * @param database the name of the transaction manager in whose database it was,
	 * {@code null} where there is one database
	 */
	public static void lost(AdvisoryLockKey key, LockScope scope, @Nullable String database) {
		in(database, alert("lost", key)).addKeyValue("advisory_lock.scope", word(scope))
			.log("Lost the lock on '" + key + "'" + place(database)
					+ " while its run was under way: another instance may run the same work now");
	}

	/**
	 * Log that the holder of a lock was told to give it up.
	 * @param key the key
	 * @param scope how long the lock was to live
	 * @param reason the kind of reason
	 * @param text the same for people
	 * @param database the name of the transaction manager in whose database it is,
	 * {@code null} where there is one database
	 * @param stack what its run was doing then, as a thread dump has it, {@code null} if
	 * nothing runs under it
	 */
	public static void ended(AdvisoryLockKey key, LockScope scope, LockLostEvent.Reason reason, String text,
			@Nullable String database, @Nullable String stack) {
		in(database, alert(word(reason), key)).addKeyValue("advisory_lock.scope", word(scope))
			.log("Told the holder of the lock on '" + key + "'" + place(database) + " to end: " + text
					+ "; a run that goes on nevertheless keeps its lock until it ends" + doing(stack));
	}

	/**
	 * Log that a lock has been held for long.
	 * @param key the key that is locked
	 * @param scope how long the lock lives
	 * @param duration for how long it has been held
	 * @param stack what its run is doing, as a thread dump has it, {@code null} if
	 * nothing runs under it
	 */
	public static void heldLong(AdvisoryLockKey key, LockScope scope, Duration duration, @Nullable String stack) {
		boolean transaction = scope == LockScope.TRANSACTION;
		Instant since = Instant.now().minus(duration).truncatedTo(ChronoUnit.MILLIS);
		alert("long-hold", key).addKeyValue("advisory_lock.scope", word(scope))
			.addKeyValue("advisory_lock.since", since.toString())
			.addKeyValue("advisory_lock.duration_ms", duration.toMillis())
			.log((transaction ? "A transaction" : "The lock session") + " has held the lock on '" + key + "' since "
					+ since
					+ (transaction ? ": a long transaction holds back VACUUM; use scope SESSION for long work, or raise"
							: ": no other caller gets it until it is released; if it is to be held that long, raise")
					+ " 'advisory-lock.doctor.long-hold'" + doing(stack));
	}

	private static String doing(@Nullable String stack) {
		return (stack != null) ? "; it was doing this:\n" + stack : "";
	}

	/**
	 * Log that nobody can close a lock any more that nobody has closed.
	 * @param key the key that was locked
	 */
	public static void unclosed(AdvisoryLockKey key) {
		alert("unclosed", key).addKeyValue("advisory_lock.scope", word(LockScope.SESSION))
			.log("No caller has closed the lock on '" + key
					+ "' that 'tryAcquire' returned, and nothing refers to it any more: it is released now; keep the "
					+ "HeldLock, and close it");
	}

	/**
	 * Log that more may hold a key on another instance than here.
	 * @param key the key
	 * @param permits how many may hold it here
	 * @param held a permit that is held and that there is none of here
	 */
	public static void permitsDiffer(AdvisoryLockKey key, int permits, int held) {
		alert("permits", key)
			.log("Another instance lets more hold '" + key + "' at a time than this one, which has 'permits' " + permits
					+ ": permit " + held + " is held; set the same number on all instances");
	}

	/**
	 * Log that a job is overdue.
	 * @param key the key of the job
	 * @param tick the tick that nobody completed
	 * @param lastTick the latest tick that was completed, {@code null} if none was
	 */
	public static void overdue(AdvisoryLockKey key, Instant tick, @Nullable Instant lastTick) {
		LoggingEventBuilder event = alert("overdue", key).addKeyValue("advisory_lock.tick", tick.toString());
		if (lastTick != null) {
			event = event.addKeyValue("advisory_lock.last_tick", lastTick.toString());
		}
		event.log("Job '" + key + "' is overdue: no instance has completed its tick of " + tick
				+ ((lastTick != null) ? ", the last one was that of " + lastTick : ", nor any before"));
	}

	/**
	 * Log that it can't be remembered for which tick a job has run.
	 * @param key the key of the job
	 * @param tick the tick
	 * @param reason why not
	 */
	public static void unremembered(AdvisoryLockKey key, Instant tick, String reason) {
		alert("unremembered-tick", key).addKeyValue("advisory_lock.tick", tick.toString())
			.log("The lock session can't remember a run of job '" + key + "' for " + tick + " (" + reason
					+ "): an instance whose clock is late may run it again; set 'once' to PER_TICK to be sure");
	}

	/**
	 * Log that it can't be remembered when a job has run.
	 * @param key the key of the job
	 * @param interval how often it is to run
	 * @param reason why not
	 */
	public static void unremembered(AdvisoryLockKey key, RequestDetail.Interval interval, String reason) {
		alert("unremembered-tick", key)
			.log("The lock session can't remember a run of job '" + key + "' for an interval (" + interval + "; "
					+ reason + "): each instance may run it in the same interval; set 'minInterval' to be sure");
	}

	/**
	 * Log that a tick is not made up for any more.
	 * @param key the key of the job
	 * @param tick the tick that nobody completed
	 * @param window how long that was tried
	 */
	public static void lostTick(AdvisoryLockKey key, Instant tick, Duration window) {
		alert("lost-tick", key).addKeyValue("advisory_lock.tick", tick.toString())
			.log("Job '" + key + "' has lost its tick of " + tick + ": no instance has completed it within " + window
					+ ", see 'catchUp'");
	}

	/**
	 * Log that a tick counts as completed that is yet to come.
	 * @param key the key of the job
	 * @param tick the tick, of a clock that was far ahead
	 * @param clock the time of the database
	 */
	public static void futureTick(AdvisoryLockKey key, Instant tick, Instant clock) {
		alert("future-tick", key).addKeyValue("advisory_lock.tick", tick.toString())
			.log("Job '" + key + "' has completed its tick of " + tick + ", and it is "
					+ clock.truncatedTo(ChronoUnit.SECONDS)
					+ " now by the clock of the database server: this tick decides nothing, and the job runs on; "
					+ "the clock of an instance was ahead, or that of the server is behind");
	}

	private static LoggingEventBuilder call(Level level, AdvisoryLockKey key, LockScope scope, String method,
			String outcome, @Nullable Instant tick) {
		String word = word(scope);
		LoggingEventBuilder event = about(RUNS.atLevel(level), key).addKeyValue("advisory_lock.scope", word)
			.addKeyValue("advisory_lock.method", method)
			.addKeyValue("advisory_lock.outcome", outcome);
		return (tick != null) ? event.addKeyValue("advisory_lock.tick", tick.toString()) : event;
	}

	private static String purpose(@Nullable Instant tick, int attempt) {
		String purpose = (tick != null) ? " for " + tick : "";
		return (attempt > 1) ? purpose + ", attempt " + attempt : purpose;
	}

	private static LoggingEventBuilder alert(String alert, AdvisoryLockKey key) {
		return about(ALERTS.atWarn(), key).addKeyValue("advisory_lock.alert", alert);
	}

	private static LoggingEventBuilder in(@Nullable String database, LoggingEventBuilder event) {
		return (database != null) ? event.addKeyValue("advisory_lock.database", database) : event;
	}

	private static String place(@Nullable String database) {
		return (database != null) ? " in the database of transaction manager '" + database + "'" : "";
	}

	private static LoggingEventBuilder about(LoggingEventBuilder event, AdvisoryLockKey key) {
		return event.addKeyValue("advisory_lock.key", AdvisoryLockKey.display(key.name()))
			.addKeyValue("advisory_lock.namespace", AdvisoryLockKey.display(key.namespace()));
	}

	private static String reason(LockOutcome outcome, LockRequest request) {
		return switch (outcome) {
			case BUSY -> "another holder has the lock";
			case ALREADY_RAN -> "it has run for this tick or key before";
			case TOO_SOON -> tooSoon(request);
			case PAUSED -> "an operator or a property says so";
			case EXECUTED -> throw new IllegalArgumentException("'outcome' must not be EXECUTED");
		};
	}

	private static String tooSoon(LockRequest request) {
		String instance = ", on this instance or another one";
		if (RequestDetail.Interval.of(request) != null) {
			return "this interval has had its run" + instance;
		}
		List<String> reasons = new ArrayList<>();
		if (request.minInterval() != null) {
			reasons.add("its last run started less than " + request.minInterval() + " ago" + instance);
		}
		if (request.tick() != null) {
			reasons.add("its last attempt at this tick failed or was cancelled" + instance + ", and no other is due");
		}
		return reasons.isEmpty() ? "its last run was too short a time ago" + instance : String.join("; or ", reasons);
	}

	/**
	 * Return a constant as logs and meters have it.
	 * @param constant the constant
	 * @return its name in lower case, with hyphens
	 */
	public static String word(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
