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

package io.github.advisorylock.faults.rivals;

import java.util.concurrent.locks.Lock;

import javax.sql.DataSource;

import io.github.advisorylock.faults.ContestantSettings;
import io.github.advisorylock.faults.Work;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.jdbc.lock.LockRepository;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * A lock of {@link JdbcLockRegistry}, tried without waiting, with the time to live that
 * it has by default: ten seconds.
 */
public final class SpringIntegrationContestant extends SpringContestant {

	public SpringIntegrationContestant() {
		super(Application.class);
	}

	@Override
	public void start(ContestantSettings settings, Work work) throws Exception {
		Tables.createFrom(settings, "int_lock", "org/springframework/integration/jdbc/schema-postgresql.sql");
		super.start(settings, work);
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		DefaultLockRepository lockRepository(DataSource dataSource) {
			return new DefaultLockRepository(dataSource);
		}

		@Bean
		JdbcLockRegistry lockRegistry(LockRepository repository) {
			return new JdbcLockRegistry(repository);
		}

		@Bean
		Job job(JdbcLockRegistry registry, Work work) {
			return new Job(registry, work);
		}

	}

	record Job(JdbcLockRegistry registry, Work work) {

		@Scheduled(cron = "${rivals.cron}")
		void run() throws Exception {
			Lock lock = this.registry.obtain(Schedule.JOB);
			if (!lock.tryLock()) {
				return;
			}
			try {
				this.work.run(Schedule.JOB, null);
			}
			finally {
				lock.unlock();
			}
		}

	}

}
