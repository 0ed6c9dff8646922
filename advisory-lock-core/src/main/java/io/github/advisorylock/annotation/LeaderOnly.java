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

package io.github.advisorylock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method only on the instance of the application that leads a role; on the others
 * a call is skipped, which costs no query:
 *
 * <pre class="code">
 * &#64;Scheduled(fixedRate = 1000)
 * &#64;LeaderOnly("metrics")
 * void rollUp() {
 *     // runs on the leader
 * }
 * </pre>
 *
 * <p>
 * A call that is skipped returns nothing, {@code null}, or an empty {@code Optional}. The
 * role is not handed over while a run is under way, but may be lost: the run is told then
 * as one in scope {@code SESSION} is. Its {@link io.github.advisorylock.LockContext}
 * knows it, with the term as fencing token; its thread is interrupted, unless
 * {@code advisory-lock.session.when-lost} says otherwise; and it ends with a
 * {@link io.github.advisorylock.LockLostException}, which is only added to a failure of
 * its own. A call of a method with the same role from inside is a part of it. Together
 * with {@link SingleRunner} the leader is asked for first. May be used as a
 * meta-annotation.
 *
 * @since 0.1.0
 * @see io.github.advisorylock.LeaderElection
 */
@Documented
@Reflective
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
public @interface LeaderOnly {

	/**
	 * The name of the role: 1 to 64 letters, digits, dots, underscores or hyphens. May
	 * hold <code>${placeholders}</code>. Methods with the same role have the same leader.
	 * @return the role
	 */
	String value();

	/**
	 * Whether the method is also called each time this instance begins to lead the role:
	 * work with a long {@code fixedRate} would else wait for its next turn on a new
	 * leader. It is then called by the application's {@code TaskScheduler} if there is
	 * one, else by a thread of the library, and may run beside a call of its schedule
	 * unless it is a {@link SingleRunner}, too. The method must have no parameters.
	 * <p>
	 * Default is {@code false}.
	 * @return whether to call the method on election
	 */
	boolean onElection() default false;

	/**
	 * In how many parts the role is led, 1 to 64: each is a role of its own, named
	 * <code>outbox#0</code>, <code>outbox#1</code> and so on, and the instances share
	 * them evenly. The method, which must return nothing, is called once for each shard
	 * that this instance leads, in order, on the thread of the caller;
	 * {@link io.github.advisorylock.LockContext#currentShard()} tells which one. A call
	 * that fails does not keep the other shards from theirs: its exception is thrown
	 * after them, with those of later ones suppressed. With {@link #onElection()} the
	 * method is called for the shard that this instance begins to lead. All methods of a
	 * role must have the same number.
	 * <p>
	 * Default is 0: the role is not divided.
	 * @return the number of shards
	 */
	int shards() default 0;

}
