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

package io.github.advisorylock.ledger;

import java.time.Instant;

import io.github.advisorylock.LockScope;
import org.jspecify.annotations.Nullable;

/**
 * One run in the ledger's history. Times are those of the database's clock.
 *
 * @param id the number of the run
 * @param namespace the namespace of the key, empty if there is none
 * @param key the name of the key
 * @param tick the planned time it ran for, {@code null} if for none
 * @param attempt how often the tick has been tried, this run included; 1 without a tick
 * @param scope how long the lock lived
 * @param instance who ran it: host and process id
 * @param fencingToken its fencing token
 * @param startedAt when it started
 * @param finishedAt when it ended, {@code null} while it runs
 * @param outcome how it ended, {@code null} while it runs
 * @param error the first line of what the failure prints, {@code null} if there was none
 * @param errorClass the name of its class, {@code null} if there was none, or it was
 * written by a version that did not keep it
 * @param traceId the id of its trace, {@code null} if it had none
 * @param stackTrace the stack trace of the failure, {@code null} if there was none, or it
 * was not asked for
 * @param hangStack what its thread was doing when it was told that it lasts for longer
 * than {@code maxRun}, or was cancelled, or was found to hold its lock for long, the last
 * of these; {@code null} if there was none, or it was not asked for
 * @since 0.1.0
 */
public record LedgerRun(long id, String namespace, String key, @Nullable Instant tick, int attempt, LockScope scope,
		String instance, long fencingToken, Instant startedAt, @Nullable Instant finishedAt, @Nullable Outcome outcome,
		@Nullable String error, @Nullable String errorClass, @Nullable String traceId, @Nullable String stackTrace,
		@Nullable String hangStack) {

	/**
	 * How a recorded run ended.
	 *
	 */
	public enum Outcome {

		/**
		 * The work ran to its end, and in scope {@link LockScope#TRANSACTION} was
		 * committed.
		 */
		EXECUTED,

		/**
		 * The work threw something, lost its lock, or was rolled back. Where its
		 * transaction was committed nevertheless, the work is done, as the error says.
		 */
		FAILED,

		/**
		 * The instance went away, or was shut down, before the work came to its end.
		 */
		ABANDONED,

		/**
		 * An operator has told it to end before the work came to its end. That is no
		 * failure, and the work is not tried again.
		 */
		CANCELLED

	}

	/**
	 * Why a run failed, in a form that the history has room for. The type is told to
	 * anybody, the text only to who may see values: an exception can say in it whatever
	 * it likes.
	 *
	 * @param type the name of the exception's class
	 * @param text the first line of what the exception prints
	 * @param stackTrace the first of its stack trace, {@code null} if there is none
	 */
	public record Failure(String type, String text, @Nullable String stackTrace) {

		private static final int LONGEST_TEXT = 1024;

		private static final int LONGEST_STACK_TRACE = 8000;

		/**
		 * Describe a failure.
		 * @param failure the failure
		 * @return what is to be kept of it
		 */
		public static Failure of(Throwable failure) {
			return new Failure(bounded(failure.getClass().getName()), bounded(print(failure)), stackTrace(failure));
		}

		/**
		 * Describe the failure of a run whose transaction is committed nevertheless.
		 */
		public static Failure committed(Throwable failure) {
			Failure described = of(failure);
			String end = ", and its transaction was committed";
			String text = bounded(described.text(), LONGEST_TEXT - end.length() - "ended with ".length());
			return new Failure(described.type(), "ended with " + text + end, described.stackTrace());
		}

		private static String bounded(String text) {
			return bounded(text.replace("\0", "").lines().findFirst().orElse(""), LONGEST_TEXT);
		}

		private static String bounded(String text, int longest) {
			return (text.codePointCount(0, text.length()) <= longest) ? text
					: text.substring(0, text.offsetByCodePoints(0, longest));
		}

		/**
		 * A trace may be long, and an exception of the application unable to say what it
		 * is about.
		 */
		private static String stackTrace(Throwable failure) {
			StringBuilder text = new StringBuilder();
			Throwable cause = failure;
			while (cause != null && text.length() < LONGEST_STACK_TRACE) {
				text.append(text.isEmpty() ? "" : "Caused by: ").append(print(cause)).append('\n');
				for (StackTraceElement frame : cause.getStackTrace()) {
					if (text.length() < LONGEST_STACK_TRACE) {
						text.append("\tat ").append(frame).append('\n');
					}
				}
				cause = cause.getCause();
			}
			return bounded(text.toString().replace("\0", ""), LONGEST_STACK_TRACE);
		}

		/**
		 * An exception of the application may be unable to say what it is about.
		 */
		private static String print(Throwable failure) {
			try {
				return "" + failure;
			}
			catch (RuntimeException | Error ex) {
				return failure.getClass().getName();
			}
		}

	}

}
