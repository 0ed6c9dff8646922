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

package org.springframework.integration.jdbc.lock;

import java.time.Duration;

import io.github.advisorylock.integration.AdvisoryLockRegistry;

import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Stands in the place of Spring Integration's own type of this name, and does nothing but
 * ask the registry of the library. That has neither a time to live of all its locks nor a
 * cache.
 */
public class JdbcLockRegistry
		implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

	private final AdvisoryLockRegistry registry;

	public JdbcLockRegistry(LockRepository client) {
		this.registry = new AdvisoryLockRegistry(((DefaultLockRepository) client).operations);
	}

	public JdbcLockRegistry(LockRepository client, Duration timeToLive) {
		this(client);
	}

	@Override
	public DistributedLock obtain(Object key) {
		return this.registry.obtain(key);
	}

	@Override
	public void expireUnusedOlderThan(long age) {
		this.registry.expireUnusedOlderThan(age);
	}

	@Override
	public void renewLock(Object key) {
		this.registry.renewLock(key);
	}

	@Override
	public void renewLock(Object key, Duration timeToLive) {
		this.registry.renewLock(key, timeToLive);
	}

	public void setCacheCapacity(int capacity) {
	}

	protected String pathFor(String key) {
		return key;
	}

}
