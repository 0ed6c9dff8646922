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
import org.jspecify.annotations.Nullable;

/**
 * What a leader believes of itself: until a time that it knows in advance. The thread
 * that hears the server confirm the session moves that time on, as long as it has not
 * come; a belief that is over once is over for good.
 */
final class Belief {

	private final AtomicReference<@Nullable Term> term = new AtomicReference<>();

	private final long trust;

	/**
	 * Create a belief of nothing.
	 * @param trust for how many nanoseconds a confirmation counts
	 */
	Belief(long trust) {
		this.trust = trust;
	}

	/**
	 * Begin to believe.
	 * @param hold the lock of the role
	 * @param number the number of the term
	 * @param confirmed when the server was asked that has confirmed it
	 * @return whether that is not over already
	 */
	boolean begin(Hold hold, long number, long confirmed) {
		Term begun = new Term(hold, number, confirmed + this.trust);
		if (!begun.holds()) {
			return false;
		}
		this.term.set(begun);
		return true;
	}

	/**
	 * Note that the server has confirmed the session.
	 * @param asked when it was asked, as of {@link System#nanoTime()}
	 */
	void confirmed(long asked) {
		Term current = this.term.get();
		if (current != null && current.holds()) {
			this.term.compareAndSet(current, new Term(current.hold, current.number, asked + this.trust));
		}
	}

	boolean holds() {
		Term current = this.term.get();
		return current != null && current.holds();
	}

	OptionalLong number() {
		Term current = this.term.get();
		return (current != null && current.holds()) ? OptionalLong.of(current.number) : OptionalLong.empty();
	}

	/**
	 * Return how many nanoseconds are left if nothing is confirmed meanwhile.
	 */
	long left() {
		Term current = this.term.get();
		return (current != null) ? current.end - System.nanoTime() : 0;
	}

	/**
	 * Stop believing.
	 * @return the term that was believed in, empty if none was
	 */
	OptionalLong end() {
		Term ended = this.term.getAndSet(null);
		return (ended != null) ? OptionalLong.of(ended.number) : OptionalLong.empty();
	}

	/**
	 * What a leader relies on.
	 *
	 * @param hold the lock of the role
	 * @param number the number of the term
	 * @param end until when it may believe, as of {@link System#nanoTime()}
	 */
	private record Term(Hold hold, long number, long end) {

		private boolean holds() {
			return this.hold.isActive() && System.nanoTime() - this.end < 0;
		}

	}

}
