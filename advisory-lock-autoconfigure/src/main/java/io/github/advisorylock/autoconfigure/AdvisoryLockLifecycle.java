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

/**
 * Gives runs that are under way at shutdown the time of a phase to end, after everything
 * that starts runs was stopped and before connections are closed.
 */
final class AdvisoryLockLifecycle implements SmartLifecycle {

	private final PostgresAdvisoryLockTemplate template;

	private volatile boolean running;

	AdvisoryLockLifecycle(PostgresAdvisoryLockTemplate template) {
		this.template = template;
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public void stop(Runnable callback) {
		stop();
		this.template.whenIdle(callback);
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/**
	 * The last phase to stop.
	 */
	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

}
