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

import java.util.List;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Looks whether the pool has a connection for everything that the scheduler can run at a
 * time, and one for everybody else.
 */
record SchedulerExamination(List<ThreadPoolTaskScheduler> pooledSchedulers,
		List<SimpleAsyncTaskScheduler> simpleSchedulers) {

	void examine(CheckContext context, Findings findings) {
		Integer poolSize = context.poolSize();
		if (poolSize == null || poolSize < 1 || !context.usesTransactions()) {
			return;
		}
		findings.seen("pool of " + poolSize);
		int threads = 0;
		for (ThreadPoolTaskScheduler scheduler : this.pooledSchedulers) {
			threads += scheduler.getScheduledThreadPoolExecutor().getCorePoolSize();
		}
		int unlimited = this.simpleSchedulers.isEmpty() ? 0
				: (int) context.methods().get().stream().filter(SchedulerExamination::needsThread).count();
		if (threads + 1 > poolSize) {
			found(findings, poolSize, "The scheduler has " + ((threads == 1) ? "1 thread" : threads + " threads"),
					threads, "or lower 'spring.task.scheduling.pool.size'");
		}
		else if (this.simpleSchedulers.stream().noneMatch(SimpleAsyncTaskScheduler::isThrottleActive)
				&& unlimited + 1 > poolSize) {
			found(findings, poolSize,
					"The scheduler starts a thread for each run, virtual or not, and " + unlimited
							+ " scheduled methods have scope TRANSACTION",
					unlimited, "or set 'spring.task.scheduling.simple.concurrency-limit'");
		}
	}

	private static boolean needsThread(SingleRunnerMethod method) {
		return method.operation().scope() == LockScope.TRANSACTION && isScheduled(method);
	}

	static boolean isScheduled(SingleRunnerMethod method) {
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

}
