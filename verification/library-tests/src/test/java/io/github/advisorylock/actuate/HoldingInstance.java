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

package io.github.advisorylock.actuate;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;

import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * A process that runs under a lock until that is lost, and says so.
 */
public final class HoldingInstance {

	private HoldingInstance() {
	}

	/**
	 * Run under a lock.
	 * @param arguments the JDBC URL, and the scope of the lock, which is its key too
	 */
	public static void main(String[] arguments) {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(arguments[0]);
		LockSession session = new LockSession(dataSource, "shop", LockSessionSettings.DEFAULT, (event) -> {
		});
		PostgresAdvisoryLockTemplate template = new PostgresAdvisoryLockTemplate(dataSource,
				new JdbcTransactionManager(dataSource), session, "shop", AdvisoryLockKeyFactory.sha256(), Duration.ZERO,
				10);
		LockRequest request = LockRequest.of(arguments[1]).scope(LockScope.valueOf(arguments[1]));
		try {
			template.execute(request, (lock) -> {
				say("has the lock");
				while (lock.isHeld()) {
					LockSupport.parkNanos(10_000_000);
					Thread.interrupted();
				}
				return null;
			});
		}
		catch (RuntimeException ex) {
			say("failed: " + ex);
		}
		finally {
			session.close();
		}
	}

	private static void say(String text) {
		System.out.println(text);
	}

}
