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

import io.github.advisorylock.LockScope;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method on one instance of the application at a time, guarded by an advisory lock
 * of its PostgreSQL database. Meant for {@code @Scheduled} methods, and works on any
 * method of a Spring bean:
 *
 * <pre class="code">
 * &#64;Scheduled(cron = "0 0 3 * * *")
 * &#64;SingleRunner(key = "nightly-report")
 * void report() {
 *     // runs on the instance that is first; the others skip it, however late they are
 * }
 * </pre>
 *
 * <p>
 * A call that is skipped returns nothing, {@code null}, an empty {@code Optional}, or a
 * {@link io.github.advisorylock.LockResult} with the outcome. May be used as a
 * meta-annotation.
 *
 * @since 0.1.0
 * @see io.github.advisorylock.AdvisoryLockOperations
 */
@Documented
@Reflective(SingleRunnerReflectiveProcessor.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
public @interface SingleRunner {

	/**
	 * Alias for {@link #key()}.
	 * @return the name of the lock
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * The name of the lock, which identifies one job: literal text with
	 * <code>${placeholders}</code>, which are resolved once at start-up, and
	 * <code>#{expressions}</code> over the arguments by name, as in
	 * <code>"export:#{#userId}"</code>, which are evaluated for each call. The value of
	 * an argument is data and never evaluated. Two methods with the same key are a
	 * start-up error unless both declare {@link #allowSharedKey()}.
	 * <p>
	 * The number that PostgreSQL locks for a name is stable across versions.
	 * <p>
	 * By default empty, which is an error.
	 * @return the name of the lock
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * How long the lock lives.
	 * <p>
	 * By default as long as the transaction that the method runs in; one is begun when
	 * there is none.
	 * @return the scope
	 */
	LockScope scope() default LockScope.TRANSACTION;

	/**
	 * What keeps the key apart from the same key of other applications in the same
	 * database. May hold placeholders, and {@code #{...}} expressions over the method's
	 * arguments as the key does: {@code "shop-#{#tenant}"} gives each tenant keys, runs
	 * and pauses of its own. What a call makes of it must not hold a slash.
	 * <p>
	 * By default {@code advisory-lock.namespace}, which by default is
	 * {@code spring.application.name}.
	 * @return the namespace
	 */
	String namespace() default "";

	/**
	 * How long to wait for a lock that is busy: {@code "5s"} or {@code "PT5S"}, or a
	 * placeholder for such a text. Not possible for {@link LockScope#TRANSACTION} under
	 * REPEATABLE READ and SERIALIZABLE.
	 * <p>
	 * By default {@code advisory-lock.wait-for}, which by default does not wait.
	 * @return the longest time to wait
	 */
	String waitFor() default "";

	/**
	 * What the caller gets when another holder has the lock.
	 * <p>
	 * By default the call is skipped.
	 * @return the policy
	 */
	WhenBusy whenBusy() default WhenBusy.SKIP;

	/**
	 * How often the work is done. {@link Once#PER_TICK} and {@link Once#PER_KEY} need the
	 * ledger, which keeps its tables in the database.
	 * <p>
	 * By default once for each tick of a cron schedule, and once for each interval of a
	 * fixed rate or delay, while the instance lives that has done it, whether that is the
	 * schedule of the method or of another one that calls it; and otherwise whenever the
	 * method is called and the lock is free.
	 * @return once per what
	 */
	Once once() default Once.AUTO;

	/**
	 * Whether what the method returns is kept, as JSON, with the key, and given to who
	 * comes again: a skipped call returns the value of the first one, in a
	 * {@link io.github.advisorylock.LockResult} with
	 * {@link io.github.advisorylock.LockOutcome#ALREADY_RAN}, an {@code Optional}, or as
	 * it is. Committed with the effect of the run, whose failure it is if the value can't
	 * be written, or is larger than a megabyte. Needs {@link Once#PER_KEY}, and Jackson
	 * as Spring Boot has it.
	 * <p>
	 * By default a skipped call returns nothing.
	 * @return whether results are kept
	 */
	boolean keepResult() default false;

	/**
	 * How many may run at a time, on all instances together: each run has one of as many
	 * locks, which follow from the key, and needs no table. All instances must have the
	 * same number; of different ones no more run than the largest allows.
	 * <p>
	 * Runs that overlap have no order: not with {@link Once#PER_TICK},
	 * {@link Once#PER_KEY} or {@link #minInterval()}. With {@link Once#AUTO} ticks and
	 * intervals are not remembered, so a scheduled method runs on as many instances as
	 * there are permits, and its runs are not recorded in the ledger.
	 * <p>
	 * By default 1.
	 * @return how many, from 1 to 64
	 */
	int permits() default 1;

	/**
	 * The shortest time from the start of a run to that of the next, however the first
	 * one ends, by the clock of the database: {@code "10m"} or {@code "PT10M"}, or a
	 * placeholder for such a text. A call before that is skipped. Needs the ledger.
	 * <p>
	 * By default there is none.
	 * @return the shortest time from start to start
	 */
	String minInterval() default "";

	/**
	 * For how long any instance makes up for a tick that nobody has run to its end,
	 * because no instance was up, or its runner vanished or was shut down in mid-run:
	 * {@code "6h"} or {@code "PT6H"}, or a placeholder for such a text. A vanished runner
	 * is followed within seconds. A tick that failed is not tried again, unless
	 * {@link #maxRetries()} says so. Only the latest tick is made up for. Needs
	 * {@link Once#PER_TICK}.
	 * <p>
	 * By default no tick is made up for.
	 * @return how old a tick may be to be made up for
	 */
	String catchUp() default "";

	/**
	 * How often a tick whose run failed is tried again, by any instance, while it is made
	 * up for: after 30 seconds and then after pauses that double, of ten minutes at most.
	 * A run that an operator has cancelled, or that {@link #maxRun()} has ended, is not
	 * tried again; one that vanished or was shut down in mid-run did not fail, and uses
	 * none of them up. Needs {@link #catchUp()}.
	 * <p>
	 * By default a tick that failed is not tried again.
	 * @return how many attempts may follow the first one that fails, 0 or more
	 */
	int maxRetries() default 0;

	/**
	 * The name of the bean that manages the transactions of the database which has the
	 * lock, as on {@code @Transactional}; may hold placeholders. The session, the ledger
	 * and the doctor of that lock are those of the same database.
	 * <p>
	 * By default what the method's {@code @Transactional} says, if it names a manager,
	 * else {@code advisory-lock.transaction-manager}, which by default is the only or
	 * primary one.
	 * @return the name of a transaction manager
	 */
	String transactionManager() default "";

	/**
	 * The longest time that a run may take: {@code "30m"} or {@code "PT30M"}, or a
	 * placeholder for such a text. A run that lasts longer is told that its lock is lost,
	 * is interrupted, unless {@code advisory-lock.session.when-lost} is {@code report},
	 * and fails, however it ends. No other runs before it has ended: a run that ignores
	 * its interrupt keeps the lock until then.
	 * <p>
	 * By default there is none.
	 * @return the longest time from the moment that the lock is taken
	 */
	String maxRun() default "";

	/**
	 * Whether other methods may have the same key, so that they exclude each other; all
	 * of them must say so, and have their locks in the same database, and the same
	 * {@link #permits()}, which they have together.
	 * <p>
	 * By default two methods with one key are taken for a mistake.
	 * @return whether the key is shared on purpose
	 */
	boolean allowSharedKey() default false;

}
