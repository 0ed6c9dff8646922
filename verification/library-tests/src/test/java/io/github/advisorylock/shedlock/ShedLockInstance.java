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

package io.github.advisorylock.shedlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;

/**
 * An instance that takes a lock and keeps it until it is killed.
 */
public final class ShedLockInstance {

	private ShedLockInstance() {
	}

	/**
	 * Take a lock.
	 * @param arguments URL of the database, name, {@code lockAtLeastFor}
	 */
	public static void main(String[] arguments) {
		ShedLockApplication application = ShedLockApplication.start(arguments[0], List.of());
		application.provider()
			.lock(new LockConfiguration(ClockProvider.now(), arguments[1], Duration.ofHours(2),
					Duration.parse(arguments[2])))
			.orElseThrow();
		System.out.println("locked");
		while (true) {
			LockSupport.park();
		}
	}

}
