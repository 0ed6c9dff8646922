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

import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Lets no call wait for a busy lock at shutdown, after requests have had their time and
 * before schedulers and executors begin to wait for their tasks.
 */
final class LockWaitLifecycle implements SmartLifecycle {

	private final PostgresAdvisoryLockTemplate template;

	private volatile boolean running;

	LockWaitLifecycle(PostgresAdvisoryLockTemplate template) {
		this.template = template;
	}

	@Override
	public void start() {
		this.template.resumeWaiting();
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.template.stopWaiting();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return ExecutorConfigurationSupport.DEFAULT_PHASE + 1024;
	}

}
