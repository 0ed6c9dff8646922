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

package io.github.advisorylock.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import io.github.advisorylock.doctor.DoctorCheck;
import io.github.advisorylock.doctor.DoctorCheck.Severity;

import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Properties of the doctor.
 *
 * @param notPostgresql What happens when the database is no PostgreSQL. Each lock is
 * refused there at run time in any case.
 * @param lookAlike What happens when the database speaks like PostgreSQL and does not
 * lock like it: CockroachDB, or YugabyteDB before 2025.1. Session locks are refused there
 * at run time too, unless this is off.
 * @param standby What happens when the database is a standby at start-up, or read-only
 * transactions of methods are led to one. Locks are refused there at run time in any
 * case.
 * @param transactionManager What happens when the transaction of a method can't be begun,
 * or does not cover the DataSource of the locks.
 * @param transactionPooler What happens when a pooler in transaction mode stands between
 * session locks and the server. They are refused there at run time too, unless this is
 * off.
 * @param tickMemory What happens when there are methods with a cron schedule and no
 * session that could remember for which ticks they were run.
 * @param preparedStatements What happens when the driver prepares statements on the
 * server and a pooler does not keep them.
 * @param sessionLogin What happens when the server refuses the user, password or database
 * of the connection for session locks.
 * @param sessionDatabase What happens when the session locks are in another database than
 * the transactions of the application.
 * @param unreachable What happens when the database can't be reached at start-up.
 * @param holderTimeout What happens when the server ends transactions that are idle, or
 * last, for less than an hour.
 * @param deadClient What happens when the server would take hours to notice that the
 * holder of a transaction lock has vanished.
 * @param poolSize What happens when the pool has fewer connections than the scheduler has
 * threads, plus one, or more than the server allows the role, or the database.
 * @param foreignDriver What happens when the driver of the connections can't be asked how
 * a transaction is doing, so that the server is asked: a container's own copy of the
 * driver, or a wrapper that hides it.
 * @param autoCommit What happens when session locks are used and connections of the pool
 * do not commit by themselves.
 * @param isolation What happens when transaction locks are waited for and transactions
 * are not READ COMMITTED by default, or when runs are recorded in SERIALIZABLE ones.
 * @param lockTable What happens when this application alone may fill more than half of
 * the lock table of the server.
 * @param bareKey What happens when the key of a method has no text of its own, so that
 * arguments decide all of it.
 * @param namespace What happens when keys have no namespace: neither
 * 'advisory-lock.namespace' nor 'spring.application.name' is set.
 * @param keyOfInstance What happens when a placeholder in keys or their namespace stands
 * for something that each instance has of its own, as a random value or the name of its
 * host.
 * @param randomCron What happens when the cron expression of a method has a random part,
 * so that each instance plans other ticks and runs them all.
 * @param scheduling What happens when there are scheduled methods and nothing that calls
 * them: no EnableScheduling.
 * @param selfInvocation What happens when a bean calls its own annotated method past its
 * proxy.
 * @param springBatch What happens when a method of scope TRANSACTION is on a bean that
 * starts jobs of Spring Batch, which refuses to be called in a transaction.
 * @param otherAdvice What happens when a method has another annotation that makes no
 * sense beside its lock: ConcurrencyLimit, or Retryable with catchUp.
 * @param schedulerLock What happens when a method has the annotation SchedulerLock of
 * ShedLock and there is no EnableSchedulerLock, so that nothing guards it.
 * @param oneTenant What happens when a method of scope TRANSACTION has no transaction of
 * its own, and its DataSource routes or its entity manager has tenants: all of it is done
 * for the tenant that is current when it begins.
 * @param unguardedScheduled What happens when a scheduled method does not say how it runs
 * in a fleet: SingleRunner, LeaderOnly or EveryInstance.
 * @param everyInstance Packages, classes and methods of others whose scheduled methods
 * are known to run on every instance.
 * @param longHold Time after which a lock that this instance still holds is warned of,
 * once. Zero for never.
 */
record DoctorProperties(@DefaultValue("fail") Severity notPostgresql, @DefaultValue("fail") Severity lookAlike,
		@DefaultValue("fail") Severity standby, @DefaultValue("fail") Severity transactionManager,
		@DefaultValue("fail") Severity transactionPooler, @DefaultValue("warn") Severity tickMemory,
		@DefaultValue("warn") Severity preparedStatements, @DefaultValue("fail") Severity sessionLogin,
		@DefaultValue("fail") Severity sessionDatabase, @DefaultValue("warn") Severity unreachable,
		@DefaultValue("warn") Severity holderTimeout, @DefaultValue("warn") Severity deadClient,
		@DefaultValue("warn") Severity poolSize, @DefaultValue("warn") Severity foreignDriver,
		@DefaultValue("warn") Severity autoCommit, @DefaultValue("warn") Severity isolation,
		@DefaultValue("warn") Severity lockTable, @DefaultValue("warn") Severity bareKey,
		@DefaultValue("warn") Severity namespace, @DefaultValue("warn") Severity keyOfInstance,
		@DefaultValue("warn") Severity randomCron, @DefaultValue("warn") Severity scheduling,
		@DefaultValue("warn") Severity selfInvocation, @DefaultValue("fail") Severity springBatch,
		@DefaultValue("warn") Severity otherAdvice, @DefaultValue("warn") Severity schedulerLock,
		@DefaultValue("warn") Severity oneTenant, @DefaultValue("off") Severity unguardedScheduled,
		@DefaultValue List<String> everyInstance,
		@DefaultValue("10m") Duration longHold) implements Function<DoctorCheck, Severity> {

	static final DoctorProperties NONE_SET = new DoctorProperties(Severity.FAIL, Severity.FAIL, Severity.FAIL,
			Severity.FAIL, Severity.FAIL, Severity.WARN, Severity.WARN, Severity.FAIL, Severity.FAIL, Severity.WARN,
			Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN,
			Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN, Severity.WARN, Severity.FAIL,
			Severity.WARN, Severity.WARN, Severity.WARN, Severity.OFF, List.of(), Duration.ofMinutes(10));

	List<DoctorCheck> switchedOff() {
		return Arrays.stream(DoctorCheck.values()).filter((check) -> apply(check) == Severity.OFF).toList();
	}

	Duration checkedLongHold() {
		if (this.longHold.isNegative()) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.doctor.long-hold", this.longHold,
					"The time must be zero, for no warning, or more.");
		}
		return this.longHold;
	}

	@Override
	public Severity apply(DoctorCheck check) {
		return switch (check) {
			case NOT_POSTGRESQL -> this.notPostgresql;
			case LOOK_ALIKE -> this.lookAlike;
			case STANDBY -> this.standby;
			case TRANSACTION_POOLER -> this.transactionPooler;
			case TICK_MEMORY -> this.tickMemory;
			case TRANSACTION_MANAGER -> this.transactionManager;
			case PREPARED_STATEMENTS -> this.preparedStatements;
			case SESSION_LOGIN -> this.sessionLogin;
			case SESSION_DATABASE -> this.sessionDatabase;
			case UNREACHABLE -> this.unreachable;
			case HOLDER_TIMEOUT -> this.holderTimeout;
			case DEAD_CLIENT -> this.deadClient;
			case POOL_SIZE -> this.poolSize;
			case FOREIGN_DRIVER -> this.foreignDriver;
			case AUTO_COMMIT -> this.autoCommit;
			case ISOLATION -> this.isolation;
			case LOCK_TABLE -> this.lockTable;
			case BARE_KEY -> this.bareKey;
			case NAMESPACE -> this.namespace;
			case KEY_OF_INSTANCE -> this.keyOfInstance;
			case RANDOM_CRON -> this.randomCron;
			case SCHEDULING -> this.scheduling;
			case SELF_INVOCATION -> this.selfInvocation;
			case SPRING_BATCH -> this.springBatch;
			case OTHER_ADVICE -> this.otherAdvice;
			case SCHEDULER_LOCK -> this.schedulerLock;
			case ONE_TENANT -> this.oneTenant;
			case UNGUARDED_SCHEDULED -> this.unguardedScheduled;
		};
	}

}
