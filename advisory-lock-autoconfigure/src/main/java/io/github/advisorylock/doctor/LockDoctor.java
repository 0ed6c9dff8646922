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
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Has database and application looked at once, if anybody uses locks, and acts on what
 * was found as the properties say.
 *
 * @since 0.1.0
 */
public final class LockDoctor {

	private static final Log logger = LogFactory.getLog(LockDoctor.class);

	private final PostgresDoctor database;

	private final PoolCapacity pool;

	private final Stream<LockUser> users;

	private final Function<DoctorCheck, Severity> severities;

	/**
	 * Create a doctor of an application.
	 * @param database looks at the database
	 * @param pool looks at the pool
	 * @param users who uses locks besides methods
	 * @param severities what a finding leads to
	 */
	public LockDoctor(PostgresDoctor database, PoolCapacity pool, Stream<LockUser> users,
			Function<DoctorCheck, Severity> severities) {
		this.database = database;
		this.pool = pool;
		this.users = users;
		this.severities = severities;
	}

	/**
	 * Look at everything that matters to somebody.
	 * @param methods the annotated methods
	 * @throws UnhealthyDatabaseException if something must not be as it is
	 */
	public void examine(List<SingleRunnerMethod> methods) {
		LockDemand demand = Stream.concat(methods.stream().map(LockDoctor::demand), this.users.map(LockUser::demand))
			.reduce(LockDemand.NONE, LockDemand::and);
		if (demand.equals(LockDemand.NONE)) {
			return;
		}
		Examination examination = this.database.examine(demand);
		List<String> seen = new ArrayList<>(examination.seen());
		List<Finding> findings = new ArrayList<>(examination.findings());
		if (demand.transactionScope()) {
			this.pool.examine(methods, seen, findings);
		}
		methods.stream().filter(SingleRunnerMethod::hasBareKey).map(LockDoctor::bareKey).forEach(findings::add);
		report(demand, seen, findings);
	}

	private static Finding bareKey(SingleRunnerMethod method) {
		return new Finding(DoctorCheck.BARE_KEY,
				"The key '" + method.operation().keyTemplate() + "' of " + method
						+ " has no text of its own, so that whoever chooses the arguments chooses the lock",
				"put the name of the work in front of them, as in 'payment:#{#id}'");
	}

	private void report(LockDemand demand, List<String> seen, List<Finding> findings) {
		List<Finding> failures = of(Severity.FAIL, findings);
		List<Finding> warnings = of(Severity.WARN, findings);
		warnings.forEach((finding) -> logger.warn("Advisory locks: " + finding));
		if (!failures.isEmpty()) {
			throw new UnhealthyDatabaseException(failures);
		}
		if (warnings.isEmpty()) {
			logger.info("Advisory locks are ready in " + scopes(demand) + ": " + String.join(", ", seen));
		}
	}

	private List<Finding> of(Severity severity, List<Finding> findings) {
		return findings.stream().filter((finding) -> this.severities.apply(finding.check()) == severity).toList();
	}

	private static LockDemand demand(SingleRunnerMethod method) {
		boolean session = method.operation().scope() == LockScope.SESSION;
		return new LockDemand(!session, !session && !method.operation().waitFor().isZero(), session);
	}

	private static String scopes(LockDemand demand) {
		return !demand.sessionScope() ? "scope TRANSACTION"
				: demand.transactionScope() ? "scopes TRANSACTION and SESSION" : "scope SESSION";
	}

}
