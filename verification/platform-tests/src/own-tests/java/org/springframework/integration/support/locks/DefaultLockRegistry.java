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

package org.springframework.integration.support.locks;

import java.util.concurrent.locks.Lock;

import io.github.advisorylock.integration.AdvisoryLockRegistry;

/**
 * Stands in the place of Spring Integration's own type of this name, so that the tests of
 * its leader initiator run on advisory locks.
 */
public class DefaultLockRegistry implements LockRegistry<Lock> {

	private final AdvisoryLockRegistry registry = new AdvisoryLockRegistry(Instances.next());

	@Override
	public Lock obtain(Object key) {
		return this.registry.obtain(key);
	}

}
