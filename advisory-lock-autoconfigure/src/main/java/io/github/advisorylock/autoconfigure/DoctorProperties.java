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

import io.github.advisorylock.doctor.DoctorCheck;
import io.github.advisorylock.doctor.Severity;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Properties of the doctor, who looks at database and application once at start-up.
 *
 * @since 0.1.0
 */
@ConfigurationProperties("advisory-lock.doctor")
public class DoctorProperties {

	/**
	 * What happens when the database is no PostgreSQL.
	 */
	private Severity notPostgresql = Severity.FAIL;

	/**
	 * What happens when the database speaks like PostgreSQL and does not lock like it:
	 * CockroachDB, or YugabyteDB before 2025.1. Session locks are refused there at run
	 * time too, unless this is off.
	 */
	private Severity lookAlike = Severity.FAIL;

	/**
	 * What happens when the database is a standby at start-up. Locks are refused there at
	 * run time in any case.
	 */
	private Severity standby = Severity.FAIL;

	/**
	 * What happens when the transactions of the manager do not cover the DataSource of
	 * the locks.
	 */
	private Severity transactionManager = Severity.FAIL;

	/**
	 * What happens when a pooler in transaction mode stands between session locks and the
	 * server. They are refused there at run time too, unless this is off.
	 */
	private Severity transactionPooler = Severity.FAIL;

	/**
	 * What happens when the driver prepares statements on the server and a pooler does
	 * not keep them.
	 */
	private Severity preparedStatements = Severity.WARN;

	/**
	 * What happens when the server refuses the user, password or database of the
	 * connection for session locks.
	 */
	private Severity sessionLogin = Severity.FAIL;

	/**
	 * What happens when the database can't be reached at start-up.
	 */
	private Severity unreachable = Severity.WARN;

	/**
	 * What happens when the server ends transactions that are idle, or last, for less
	 * than an hour.
	 */
	private Severity holderTimeout = Severity.WARN;

	/**
	 * What happens when the server would take hours to notice that the holder of a
	 * transaction lock has vanished.
	 */
	private Severity deadClient = Severity.WARN;

	/**
	 * What happens when the pool has fewer connections than the scheduler has threads,
	 * plus one.
	 */
	private Severity poolSize = Severity.WARN;

	/**
	 * What happens when session locks are used and connections of the pool do not commit
	 * by themselves.
	 */
	private Severity autoCommit = Severity.WARN;

	/**
	 * What happens when transaction locks are waited for and transactions are not READ
	 * COMMITTED by default.
	 */
	private Severity isolation = Severity.WARN;

	/**
	 * What happens when this application alone may fill more than half of the lock table
	 * of the server.
	 */
	private Severity lockTable = Severity.WARN;

	/**
	 * What happens when the key of a method has no text of its own, so that arguments
	 * decide all of it.
	 */
	private Severity bareKey = Severity.WARN;

	/**
	 * Time after which a lock that this instance still holds is warned of, once. Zero for
	 * never.
	 */
	private Duration longHold = Duration.ofMinutes(10);

	public Severity getNotPostgresql() {
		return this.notPostgresql;
	}

	public void setNotPostgresql(Severity notPostgresql) {
		this.notPostgresql = notPostgresql;
	}

	public Duration getLongHold() {
		return this.longHold;
	}

	public void setLongHold(Duration longHold) {
		this.longHold = longHold;
	}

	public Severity getLookAlike() {
		return this.lookAlike;
	}

	public void setLookAlike(Severity lookAlike) {
		this.lookAlike = lookAlike;
	}

	public Severity getStandby() {
		return this.standby;
	}

	public void setStandby(Severity standby) {
		this.standby = standby;
	}

	public Severity getTransactionPooler() {
		return this.transactionPooler;
	}

	public void setTransactionPooler(Severity transactionPooler) {
		this.transactionPooler = transactionPooler;
	}

	public Severity getTransactionManager() {
		return this.transactionManager;
	}

	public void setTransactionManager(Severity transactionManager) {
		this.transactionManager = transactionManager;
	}

	public Severity getPreparedStatements() {
		return this.preparedStatements;
	}

	public void setPreparedStatements(Severity preparedStatements) {
		this.preparedStatements = preparedStatements;
	}

	public Severity getSessionLogin() {
		return this.sessionLogin;
	}

	public void setSessionLogin(Severity sessionLogin) {
		this.sessionLogin = sessionLogin;
	}

	public Severity getUnreachable() {
		return this.unreachable;
	}

	public void setUnreachable(Severity unreachable) {
		this.unreachable = unreachable;
	}

	public Severity getHolderTimeout() {
		return this.holderTimeout;
	}

	public void setHolderTimeout(Severity holderTimeout) {
		this.holderTimeout = holderTimeout;
	}

	public Severity getDeadClient() {
		return this.deadClient;
	}

	public void setDeadClient(Severity deadClient) {
		this.deadClient = deadClient;
	}

	public Severity getPoolSize() {
		return this.poolSize;
	}

	public void setPoolSize(Severity poolSize) {
		this.poolSize = poolSize;
	}

	public Severity getAutoCommit() {
		return this.autoCommit;
	}

	public void setAutoCommit(Severity autoCommit) {
		this.autoCommit = autoCommit;
	}

	public Severity getIsolation() {
		return this.isolation;
	}

	public void setIsolation(Severity isolation) {
		this.isolation = isolation;
	}

	public Severity getLockTable() {
		return this.lockTable;
	}

	public void setLockTable(Severity lockTable) {
		this.lockTable = lockTable;
	}

	public Severity getBareKey() {
		return this.bareKey;
	}

	public void setBareKey(Severity bareKey) {
		this.bareKey = bareKey;
	}

	List<DoctorCheck> switchedOff() {
		return Arrays.stream(DoctorCheck.values()).filter((check) -> of(check) == Severity.OFF).toList();
	}

	Severity of(DoctorCheck check) {
		return switch (check) {
			case NOT_POSTGRESQL -> this.notPostgresql;
			case LOOK_ALIKE -> this.lookAlike;
			case STANDBY -> this.standby;
			case TRANSACTION_POOLER -> this.transactionPooler;
			case TRANSACTION_MANAGER -> this.transactionManager;
			case PREPARED_STATEMENTS -> this.preparedStatements;
			case SESSION_LOGIN -> this.sessionLogin;
			case UNREACHABLE -> this.unreachable;
			case HOLDER_TIMEOUT -> this.holderTimeout;
			case DEAD_CLIENT -> this.deadClient;
			case POOL_SIZE -> this.poolSize;
			case AUTO_COMMIT -> this.autoCommit;
			case ISOLATION -> this.isolation;
			case LOCK_TABLE -> this.lockTable;
			case BARE_KEY -> this.bareKey;
		};
	}

}
