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

package io.github.advisorylock.benchmarks;

import java.sql.SQLException;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.Assert;

/**
 * An application with the meters and observations that Spring Boot sets up, and a
 * Prometheus registry.
 */
final class MeteredApplication implements AutoCloseable {

	/**
	 * A skip without a round trip is too short to be timed alone.
	 */
	static final int SKIPS = 100;

	private final ConfigurableApplicationContext context;

	private final SwitchedObserver observer;

	private final GuardedJobs jobs;

	private final HeldLock heldHere;

	private final PlainSession foreignSession;

	MeteredApplication(String url) throws SQLException {
		this.context = BenchmarkApplication.startWithMeters(url, SwitchedObserver.class);
		this.observer = this.context.getBean(SwitchedObserver.class);
		this.jobs = this.context.getBean(GuardedJobs.class);
		this.heldHere = this.context.getBean(AdvisoryLockOperations.class)
			.tryAcquire(LockRequest.of(GuardedJobs.HELD_HERE))
			.orElseThrow();
		this.foreignSession = new PlainSession(url);
		this.foreignSession.tryLock(AdvisoryLockKey.of(BenchmarkApplication.NAME, GuardedJobs.HELD_ELSEWHERE).value());
		checkMeters();
	}

	private void checkMeters() {
		MeterRegistry registry = this.context.getBean(MeterRegistry.class);
		Assert.state(registry instanceof PrometheusMeterRegistry, "Another registry is to be measured");
		double before = executions(registry);
		for (SwitchedObserver.Mode mode : SwitchedObserver.Mode.values()) {
			transaction(mode);
		}
		Assert.state(executions(registry) == before + 2, "Calls were not counted as they should");
	}

	private static double executions(MeterRegistry registry) {
		return registry.get("advisory.lock.execution")
			.tags("key", "transaction", "outcome", "executed")
			.timer()
			.count();
	}

	void transaction(SwitchedObserver.Mode mode) {
		this.observer.run(mode, this.jobs::transaction);
	}

	void session(SwitchedObserver.Mode mode) {
		this.observer.run(mode, this.jobs::session);
	}

	void busyElsewhere(SwitchedObserver.Mode mode) {
		this.observer.run(mode, this.jobs::heldElsewhere);
	}

	void busyHere(SwitchedObserver.Mode mode) {
		this.observer.run(mode, () -> {
			for (int i = 0; i < SKIPS; i++) {
				this.jobs.heldHere();
			}
		});
	}

	@Override
	public void close() throws SQLException {
		this.heldHere.close();
		this.foreignSession.close();
		this.context.close();
	}

}
