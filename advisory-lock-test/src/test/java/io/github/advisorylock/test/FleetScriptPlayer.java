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

package io.github.advisorylock.test;

import java.time.Duration;
import java.time.Instant;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockContext;

import org.springframework.transaction.PlatformTransactionManager;

/**
 * Plays scripts in memory, in virtual time.
 */
final class FleetScriptPlayer extends ScriptPlayer {

	private static final Instant FROM = Instant.parse("2026-10-24T00:00:00Z");

	private final Fleet fleet;

	private final long seed;

	private String overrun = "none";

	FleetScriptPlayer(Fleet fleet, long seed) {
		this.fleet = fleet;
		this.seed = seed;
	}

	@Override
	void begin() {
		this.fleet.end();
		this.fleet.begin(Script.INSTANCES, FROM, this.seed);
	}

	@Override
	void end() {
	}

	@Override
	AdvisoryLockOperations operations(int instance) {
		this.fleet.takes(this.overrun, Duration.ZERO);
		return this.fleet.bean(instance, AdvisoryLockOperations.class);
	}

	@Override
	PlatformTransactionManager transactions(int instance) {
		return this.fleet.bean(instance, PlatformTransactionManager.class);
	}

	@Override
	Instant time(Duration tick, Script.Job job) {
		return FROM.minus(Script.BEFORE).plus(tick);
	}

	@Override
	void pass(Duration time) {
		this.fleet.advanceBy(time);
	}

	@Override
	void kill(int instance) {
		this.fleet.kill(instance);
	}

	@Override
	void stop(int instance) {
		this.fleet.stop(instance);
	}

	@Override
	void stopped(int instance) {
	}

	@Override
	void start(int instance) {
		this.fleet.start(instance);
	}

	@Override
	void loseSession(int instance) {
		this.fleet.loseSession(instance);
	}

	@Override
	void databaseDown() {
		this.fleet.databaseDown();
	}

	@Override
	void databaseUp() {
		this.fleet.databaseUp();
	}

	@Override
	void pause(String key, boolean paused) {
		this.fleet.locks().answers().job(this.fleet.locks().key(key));
		if (paused) {
			this.fleet.locks().pause(key);
		}
		else {
			this.fleet.locks().resume(key);
		}
	}

	@Override
	Instant reschedule(String key) {
		return this.fleet.now();
	}

	@Override
	void overrun(LockContext lock) {
		this.overrun = lock.key().name();
		this.fleet.takes(this.overrun, Duration.ofSeconds(1));
	}

}
