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

package io.github.advisorylock.doctor;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.github.advisorylock.jdbc.DeadClientSettings;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.Assert;

/**
 * Looks at the database of an application once, on a connection of its pool and on one
 * like that of its lock session.
 *
 * @since 0.1.0
 */
public class PostgresDoctor {

	private final PooledExamination pooled;

	private final TransactionExamination transactions;

	private final @Nullable SessionExamination session;

	/**
	 * Create a doctor.
	 * @param dataSource the application's DataSource
	 * @param template takes its locks
	 * @param transactionManager begins the transactions of its locks, or {@code null} if
	 * there is none
	 * @param poolSize how many connections it has at most, or {@code null} if not known
	 * @param session carries the session locks, or {@code null} if there are none
	 * @param sessionProperties the properties that the connection of the lock session is
	 * configured by, empty when it is the one of the application
	 * @param settings how long a vanished client may hold locks
	 * @param maxHeldLocks how many locks the application may hold at a time
	 */
	public PostgresDoctor(DataSource dataSource, PostgresAdvisoryLockTemplate template,
			@Nullable PlatformTransactionManager transactionManager, @Nullable Integer poolSize,
			@Nullable LockSession session, List<String> sessionProperties, LockSessionSettings settings,
			int maxHeldLocks) {
		Assert.notNull(dataSource, "'dataSource' must not be null");
		this.transactions = new TransactionExamination(dataSource, transactionManager, template::isInLockTransaction);
		this.pooled = new PooledExamination(dataSource, poolSize,
				new SettingsExamination(DeadClientSettings.within(settings.deadClientTimeout()), maxHeldLocks),
				settings.answerTimeoutMillis());
		this.session = (session != null) ? new SessionExamination(session, sessionProperties) : null;
	}

	/**
	 * Look at everything that matters for a demand.
	 * @param demand what the application wants of its locks
	 * @return what was seen
	 */
	public Examination examine(LockDemand demand) {
		List<String> seen = new ArrayList<>();
		List<Finding> findings = new ArrayList<>();
		this.pooled.examine(demand, seen, findings);
		if (demand.transactionScope() && isReachable(findings)) {
			this.transactions.examine(findings);
		}
		if (demand.sessionScope() && this.session != null) {
			this.session.examine(seen, findings);
		}
		return new Examination(seen, findings.stream().distinct().toList());
	}

	/**
	 * Waiting for a connection that does not come takes its time, and once is enough.
	 */
	private static boolean isReachable(List<Finding> findings) {
		return findings.stream().noneMatch((finding) -> finding.check() == DoctorCheck.UNREACHABLE);
	}

}
