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

package io.github.advisorylock.benchmarks;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.Lock;

import javax.sql.DataSource;

import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.util.Assert;

/**
 * Calls under a lock of Spring Integration, which is a row, with all defaults: one
 * transaction takes it, one deletes it, and who waits asks again every 100 milliseconds.
 * Each object is an instance of its own.
 */
final class IntegrationCalls {

	private static final String HELD_ELSEWHERE = "held-elsewhere";

	private final JdbcLockRegistry registry;

	private final Lock lock;

	private final Lock heldElsewhere;

	IntegrationCalls(JdbcTemplate jdbcTemplate, String name) {
		jdbcTemplate.execute("CREATE TABLE IF NOT EXISTS int_lock (lock_key char(36) NOT NULL, "
				+ "region varchar(100) NOT NULL, client_id char(36), created_date timestamp NOT NULL, "
				+ "expired_after timestamp NOT NULL, PRIMARY KEY (lock_key, region))");
		this.registry = new JdbcLockRegistry(repository(jdbcTemplate));
		this.lock = this.registry.obtain(name);
		this.heldElsewhere = this.registry.obtain(HELD_ELSEWHERE);
	}

	private static DefaultLockRepository repository(JdbcTemplate jdbcTemplate) {
		DataSource dataSource = Objects.requireNonNull(jdbcTemplate.getDataSource());
		DefaultLockRepository repository = new DefaultLockRepository(dataSource);
		repository.setTransactionManager(new JdbcTransactionManager(dataSource));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		return repository;
	}

	/**
	 * Have another instance take what {@link #skip()} asks for.
	 */
	static void holdElsewhere(JdbcTemplate jdbcTemplate) {
		jdbcTemplate.update("DELETE FROM int_lock");
		new JdbcLockRegistry(repository(jdbcTemplate), Duration.ofHours(1)).obtain(HELD_ELSEWHERE).lock();
	}

	void run() {
		Assert.state(this.lock.tryLock(), "A call did not do what it is to measure");
		this.lock.unlock();
	}

	void skip() {
		Assert.state(!this.heldElsewhere.tryLock(), "A call did not do what it is to measure");
	}

	/**
	 * Return a lock of this instance.
	 */
	Lock lock() {
		return this.lock;
	}

}
