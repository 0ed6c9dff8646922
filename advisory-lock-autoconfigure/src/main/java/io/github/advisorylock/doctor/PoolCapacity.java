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
import java.util.stream.Stream;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Looks whether the pool has a connection for everything that the scheduler can run at a
 * time, and one for everybody else.
 *
 * @since 0.1.0
 */
public final class PoolCapacity {

	private final @Nullable Integer poolSize;

	private final List<ThreadPoolTaskScheduler> pooledSchedulers;

	private final List<SimpleAsyncTaskScheduler> simpleSchedulers;

	/**
	 * Create a check.
	 * @param poolSize how many connections the pool has at most, or {@code null} if not
	 * known
	 * @param pooledSchedulers schedulers with threads of their own
	 * @param simpleSchedulers schedulers that start a thread for each run
	 */
	public PoolCapacity(@Nullable Integer poolSize, Stream<ThreadPoolTaskScheduler> pooledSchedulers,
			Stream<SimpleAsyncTaskScheduler> simpleSchedulers) {
		this.poolSize = poolSize;
		this.pooledSchedulers = pooledSchedulers.toList();
		this.simpleSchedulers = simpleSchedulers.toList();
	}

	void examine(List<SingleRunnerMethod> methods, List<String> seen, List<Finding> findings) {
		if (this.poolSize == null || this.poolSize < 1) {
			return;
		}
		seen.add("pool of " + this.poolSize);
		int threads = this.pooledSchedulers.stream()
			.mapToInt((scheduler) -> scheduler.getScheduledThreadPoolExecutor().getCorePoolSize())
			.sum();
		int unlimited = this.simpleSchedulers.isEmpty() ? 0 : (int) methods.stream().filter(this::needsThread).count();
		if (threads + 1 > this.poolSize) {
			findings.add(finding("The scheduler has " + threads + " threads", threads,
					"or lower 'spring.task.scheduling.pool.size'"));
		}
		else if (this.simpleSchedulers.stream().noneMatch(SimpleAsyncTaskScheduler::isThrottleActive)
				&& unlimited + 1 > this.poolSize) {
			findings.add(finding(
					"The scheduler starts a thread for each run, virtual or not, and " + unlimited
							+ " scheduled methods have scope TRANSACTION",
					unlimited, "or set 'spring.task.scheduling.simple.concurrency-limit'"));
		}
	}

	private boolean needsThread(SingleRunnerMethod method) {
		return method.operation().scope() == LockScope.TRANSACTION
				&& (AnnotatedElementUtils.hasAnnotation(method.method(), Scheduled.class)
						|| AnnotatedElementUtils.hasAnnotation(method.method(), Schedules.class));
	}

	private Finding finding(String problem, int threads, String alternative) {
		return new Finding(DoctorCheck.POOL_SIZE,
				problem + " and the pool " + this.poolSize
						+ " connections, so that runs can wait for each other's connection and leave none for others",
				"set the size of the pool ('spring.datasource.hikari.maximum-pool-size') to at least " + (threads + 1)
						+ ", " + alternative);
	}

}
