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
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.doctor.DoctorCheck.Severity;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.jdbc.server.ServerJudge;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Looks at database and application once, if anybody uses locks, and acts on what was
 * found as the properties say.
 *
 * @param context the application
 * @param pooledSchedulers its schedulers with threads of their own
 * @param simpleSchedulers its schedulers that start a thread for each run
 * @param schedules whether anything calls scheduled methods
 * @param severities what a finding leads to
 * @param place where that is, to stand before what is said of it: empty where there is
 * one database
 * @since 0.1.0
 */
public record LockDoctor(CheckContext context, List<ThreadPoolTaskScheduler> pooledSchedulers,
		List<SimpleAsyncTaskScheduler> simpleSchedulers, boolean schedules, Function<DoctorCheck, Severity> severities,
		String place) {

	private static final Log logger = LogFactory.getLog(LockDoctor.class);

	private static final int MOST_METHODS_IN_LINE = 20;

	private static final int MOST_KEYS_OF_GROUP = 20;

	/**
	 * Return a judge that refuses servers on which session locks guard nothing, at run
	 * time as at start-up.
	 * @param switchedOff what the application does not want to hear of. Only a look-alike
	 * and a pooler are tolerated then; a standby, and what is no PostgreSQL at all, is
	 * always refused
	 * @return the judge
	 */
	public static ServerJudge judge(Collection<DoctorCheck> switchedOff) {
		return SessionExamination.judge(switchedOff);
	}

	/**
	 * Look at all, and act on what was found.
	 */
	public void examine() {
		if (this.context.usesLocks()) {
			Findings findings = new Findings(this.severities, logger::warn, this.place);
			PooledExamination.examine(this.context, findings);
			TransactionExamination.examine(this.context, findings);
			SessionExamination.examine(this.context, findings);
			examineSchedulers(findings);
			TransactionExamination.examineTenants(this.context, findings);
			examineKeys(findings);
			String state = findings.act() ? "ready" : "used, with what is warned of above,";
			List<String> methods = methods();
			logger.info("Advisory locks are " + state + " in " + scopes() + ": " + this.place
					+ String.join(", ", findings.seen()) + methods.get(0));
			for (String line : methods.subList(1, methods.size())) {
				logger.info(line);
			}
		}
	}

	/**
	 * Look whether the pool has a connection for everything that the scheduler can run at
	 * a time, and one for everybody else.
	 */
	private void examineSchedulers(Findings findings) {
		Integer poolSize = this.context.poolSize();
		if (poolSize == null || poolSize < 1 || !this.context.usesTransactions()) {
			return;
		}
		findings.seen("pool of " + poolSize);
		int threads = 0;
		for (ThreadPoolTaskScheduler scheduler : this.pooledSchedulers) {
			threads += scheduler.getScheduledThreadPoolExecutor().getCorePoolSize();
		}
		int unlimited = this.simpleSchedulers.isEmpty() ? 0
				: (int) this.context.methods().stream().filter(LockDoctor::needsThread).count();
		if (threads + 1 > poolSize) {
			found(findings, poolSize, "The scheduler has " + ((threads == 1) ? "1 thread" : threads + " threads"),
					threads, "or lower 'spring.task.scheduling.pool.size'");
		}
		else if (unlimited + 1 > poolSize
				&& this.simpleSchedulers.stream().noneMatch(SimpleAsyncTaskScheduler::isThrottleActive)) {
			found(findings, poolSize,
					"The scheduler starts a thread for each run, virtual or not, and " + unlimited
							+ " scheduled methods have scope TRANSACTION",
					unlimited, "or set 'spring.task.scheduling.simple.concurrency-limit'");
		}
	}

	private static boolean needsThread(SingleRunnerMethod method) {
		return method.operation().scope() == LockScope.TRANSACTION && isScheduled(method);
	}

	private static boolean isScheduled(SingleRunnerMethod method) {
		return AnnotatedElementUtils.hasAnnotation(method.method(), Scheduled.class)
				|| AnnotatedElementUtils.hasAnnotation(method.method(), Schedules.class);
	}

	private static void found(Findings findings, int poolSize, String problem, int threads, String alternative) {
		findings.found(DoctorCheck.POOL_SIZE,
				problem + " and the pool " + poolSize
						+ " connections, so that runs can wait for each other's connection and leave none for others",
				"set the size of the pool ('spring.datasource.hikari.maximum-pool-size') to at least " + (threads + 1)
						+ ", " + alternative);
	}

	private void examineKeys(Findings findings) {
		for (SingleRunnerMethod method : this.context.methods()) {
			if (method.hasBareKey()) {
				findings.found(DoctorCheck.BARE_KEY,
						"The key '" + AdvisoryLockKey.display(method.operation().keyTemplate()) + "' of " + method
								+ " has no text of its own, so that the arguments alone decide which lock it is",
						"put the name of the work in front of them, as in 'payment:#{#id}'");
			}
		}
	}

	/**
	 * Return what each method has come to be, by its key, or how many there are and, in
	 * further lines, which of them have come to be the same. One that only a scheduler
	 * calls is nothing without one. They are in order of their keys: a virtual machine
	 * has methods in any, and the lines of two starts are to be compared.
	 */
	private List<String> methods() {
		List<SingleRunnerMethod> methods = this.context.methods()
			.stream()
			.filter((method) -> this.schedules || !isScheduled(method))
			.sorted(Comparator.comparing((method) -> method.operation().keyTemplate()))
			.toList();
		Map<String, List<String>> keys = new LinkedHashMap<>();
		StringBuilder all = new StringBuilder();
		for (SingleRunnerMethod method : methods) {
			String key = AdvisoryLockKey.display(method.operation().keyTemplate());
			String description = describe(method.operation());
			keys.computeIfAbsent(description, (none) -> new ArrayList<>()).add(key);
			all.append("; ").append(key).append(": ").append(description);
		}
		int count = methods.size();
		if (count <= MOST_METHODS_IN_LINE) {
			return List.of(all.toString());
		}
		Stream<String> groups = keys.entrySet()
			.stream()
			.map((group) -> "  " + group.getKey() + ": "
					+ group.getValue().stream().limit(MOST_KEYS_OF_GROUP).collect(Collectors.joining(", "))
					+ ((group.getValue().size() > MOST_KEYS_OF_GROUP)
							? " and " + (group.getValue().size() - MOST_KEYS_OF_GROUP) + " more" : ""));
		return Stream.concat(Stream.of("; " + count + " methods:"), groups).toList();
	}

	private String describe(SingleRunnerOperation operation) {
		return operation.once(this.context.session() != null)
				+ ((operation.scope() == LockScope.SESSION) ? " in scope SESSION" : "")
				+ (operation.waitFor().isZero() ? "" : ", waits for up to " + operation.waitFor());
	}

	private String scopes() {
		if (this.context.mayUseSession() && !this.context.usesSession()) {
			return "code";
		}
		return !this.context.usesSession() ? "scope TRANSACTION"
				: this.context.usesTransactions() ? "scopes TRANSACTION and SESSION" : "scope SESSION";
	}

}
