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

import java.time.Duration;

import org.springframework.util.Assert;

/**
 * How the connection that carries session locks is watched.
 *
 * @param heartbeat how often it is checked while it carries locks
 * @param deadClientTimeout within which time the server is to notice that this
 * application has vanished
 * @param whenLost what happens to threads that run under a lost lock
 * @since 0.1.0
 */
public record LockSessionSettings(Duration heartbeat, Duration deadClientTimeout, WhenLost whenLost) {

	/**
	 * The defaults: a heartbeat every 2 seconds, 10 seconds for a dead client, and an
	 * interrupt.
	 */
	public static final LockSessionSettings DEFAULT = new LockSessionSettings(Duration.ofSeconds(2),
			Duration.ofSeconds(10), WhenLost.INTERRUPT);

	public LockSessionSettings {
		Assert.isTrue(heartbeat.toMillis() > 0, "The heartbeat must be a millisecond or more.");
		Assert.isTrue(heartbeat.compareTo(deadClientTimeout) < 0,
				() -> "The heartbeat must be shorter than 'advisory-lock.session.dead-client-timeout', which is "
						+ deadClientTimeout + ".");
	}

	/**
	 * Return how long to wait for an answer: with the heartbeats before and after, a loss
	 * of the network is noticed here before the server gives our locks to others.
	 * @return the time in milliseconds
	 */
	public int answerTimeoutMillis() {
		long left = this.deadClientTimeout.minus(this.heartbeat.multipliedBy(2)).toMillis();
		return Math.toIntExact(Math.min(Integer.MAX_VALUE, Math.max(left, this.heartbeat.toMillis())));
	}

	/**
	 * Return for how long a feature trusts what it knew when the server was last asked.
	 */
	public Duration trust() {
		Duration half = this.deadClientTimeout.dividedBy(2);
		Duration beats = this.heartbeat.multipliedBy(2);
		return (half.compareTo(beats) > 0) ? half : beats;
	}

	/**
	 * Return SQL by which a new connection has the server notice a vanished client in
	 * time, for good.
	 * @param autoCommit whether the connection commits by itself; a setting that is not
	 * committed is undone by the first rollback
	 * @return the SQL, which does not mind what the server can't be set to
	 */
	public String deadClientSql(boolean autoCommit) {
		return DeadClientDetection.within(this.deadClientTimeout).toInitSql(autoCommit);
	}

	/**
	 * Return the parameter of a JDBC URL that does the same.
	 * @return the parameter, with its name
	 */
	public String deadClientUrlParameter() {
		return DeadClientDetection.within(this.deadClientTimeout).urlParameter();
	}

	/**
	 * What happens to a thread that runs under a session lock when that lock is lost.
	 */
	public enum WhenLost {

		/**
		 * The thread is interrupted, besides being told.
		 */
		INTERRUPT,

		/**
		 * The loss is reported only: through the context, listeners and an event.
		 */
		REPORT

	}

}
