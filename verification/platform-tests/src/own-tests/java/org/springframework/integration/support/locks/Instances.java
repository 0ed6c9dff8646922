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

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * What twenty instances of an application have, each with a session of its own. Tests
 * that make more of them get the same ones again.
 */
public final class Instances {

	private static final int COUNT = 20;

	private static final AtomicInteger taken = new AtomicInteger();

	private static final List<AdvisoryLockOperations> all = IntStream.range(0, COUNT)
		.mapToObj((number) -> create())
		.toList();

	private Instances() {
	}

	/**
	 * Return that of another instance than the call before.
	 */
	public static AdvisoryLockOperations next() {
		return all.get(taken.getAndIncrement() % COUNT);
	}

	private static AdvisoryLockOperations create() {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(System.getProperty("own-tests.url"));
		LockSession session = new LockSession(dataSource, "own-tests", LockSessionSettings.DEFAULT, (lost) -> {
		});
		return new PostgresAdvisoryLockTemplate(dataSource, null, session, "own-tests", AdvisoryLockKeyFactory.sha256(),
				Duration.ZERO, 1000);
	}

}
