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

package io.github.advisorylock.jdbc;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.Pause;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * An instance that asks for locks when the operating system gives it no thread any more.
 * To be run with little address space and large stacks.
 */
public final class ThreadlessInstance {

	private static final Log logger = LogFactory.getLog(ThreadlessInstance.class);

	private static final LockSessionSettings SETTINGS = new LockSessionSettings(Duration.ofMinutes(10),
			Duration.ofMinutes(20), LockSessionSettings.WhenLost.REPORT);

	private ThreadlessInstance() {
	}

	/**
	 * Ask for a lock of each kind, say what became of that, and stay.
	 * @param arguments the JDBC URL and the name of the application
	 */
	public static void main(String[] arguments) {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(arguments[0]);
		LockSession session = new LockSession(dataSource, arguments[1], SETTINGS, logger::warn);
		// all classes are loaded, and the session is open
		template(dataSource, session).tryAcquire(LockRequest.of("first").maxRun(Duration.ofMinutes(1)))
			.orElseThrow()
			.close();
		LockSession fresh = new LockSession(dataSource, arguments[1], SETTINGS, logger::warn);
		PostgresAdvisoryLockTemplate unlimited = template(dataSource, fresh);
		unlimited.execute(LockRequest.of("second").scope(LockScope.SESSION), (lock) -> true);
		PostgresAdvisoryLockTemplate limited = template(dataSource, fresh);
		ask("without", unlimited, LockRequest.of("unlimited"));
		ask("with", limited, LockRequest.of("limited").maxRun(Duration.ofMinutes(1)));
		LockSupport.parkNanos(Duration.ofMinutes(5).toNanos());
	}

	private static void ask(String limit, PostgresAdvisoryLockTemplate template, LockRequest request) {
		useUpThreads();
		// until idle threads of the library have gone
		Pause.of(Duration.ofSeconds(2));
		useUpThreads();
		String answer;
		try {
			Optional<HeldLock> lock = template.tryAcquire(request);
			answer = "answered " + lock.map(HeldLock::isHeld);
		}
		catch (OutOfMemoryError | RuntimeException ex) {
			answer = "failed by " + ex;
		}
		System.out.println("a call " + limit + " limit " + answer);
	}

	private static void useUpThreads() {
		try {
			while (true) {
				Thread thread = new Thread(() -> LockSupport.parkNanos(Duration.ofMinutes(5).toNanos()));
				thread.setDaemon(true);
				thread.start();
			}
		}
		catch (OutOfMemoryError ex) {
			System.out.println(ex.getMessage());
		}
	}

	private static PostgresAdvisoryLockTemplate template(DriverManagerDataSource dataSource, LockSession session) {
		return new PostgresAdvisoryLockTemplate(dataSource, new JdbcTransactionManager(dataSource), session,
				"threadless", AdvisoryLockKeyFactory.sha256(), Duration.ZERO, 1000);
	}

}
