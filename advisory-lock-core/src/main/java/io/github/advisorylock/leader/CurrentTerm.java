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

package io.github.advisorylock.leader;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;

import io.github.advisorylock.jdbc.Hold;
import io.github.advisorylock.jdbc.thread.TrustWindow;
import org.jspecify.annotations.Nullable;

/**
 * The term in which an application leads a role: until a time that it knows in advance.
 * Each time the server confirms the session, that time moves on, as long as it has not
 * come; a term that is over once is over for good.
 */
final class CurrentTerm {

	private final AtomicReference<@Nullable Term> term = new AtomicReference<>();

	private final TrustWindow trust;

	/**
	 * Create what no term has begun in yet.
	 * @param trust that of the session which carries the lock of the role
	 */
	CurrentTerm(TrustWindow trust) {
		this.trust = trust;
	}

	/**
	 * Begin a term.
	 * @param hold the lock of the role, which the server has just confirmed
	 * @param number the number of the term
	 * @return whether that is not over already
	 */
	boolean begin(Hold hold, long number) {
		Term begun = new Term(hold, number, this.trust.unbrokenSince());
		if (!isRunning(begun)) {
			return false;
		}
		this.term.set(begun);
		return true;
	}

	boolean isRunning() {
		return get() != null;
	}

	OptionalLong number() {
		Term current = get();
		return (current != null) ? OptionalLong.of(current.number) : OptionalLong.empty();
	}

	/**
	 * Return the term that is running, {@code null} if none is.
	 */
	@Nullable Term get() {
		Term current = this.term.get();
		return (current != null && isRunning(current)) ? current : null;
	}

	/**
	 * Return whether a term is still running.
	 */
	boolean isIn(Term term) {
		return term.equals(this.term.get()) && isRunning(term);
	}

	/**
	 * The time is read before the hold is: one that was confirmed on a new connection
	 * comes with a hold that is lost.
	 */
	private boolean isRunning(Term term) {
		return this.trust.left(term.since) > 0 && term.hold.isActive();
	}

	/**
	 * Return how many nanoseconds are left if nothing is confirmed meanwhile.
	 */
	long left() {
		Term current = this.term.get();
		return (current != null) ? this.trust.left(current.since) : 0;
	}

	/**
	 * End the term.
	 * @return the term that was not ended before, {@code null} if there is none
	 */
	@Nullable Term end() {
		return this.term.getAndSet(null);
	}

	/**
	 * End the term if its time is over, or its lock is lost.
	 * @return the term that was ended, {@code null} if none was
	 */
	@Nullable Term endIfOver() {
		Term current = this.term.get();
		return (current != null && !isRunning(current) && this.term.compareAndSet(current, null)) ? current : null;
	}

	/**
	 * What a leader relies on.
	 *
	 * @param hold the lock of the role
	 * @param number the number of the term
	 * @param since since when the server has confirmed the session without a gap
	 */
	record Term(Hold hold, long number, long since) {

	}

}
