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

package io.github.advisorylock.connection;

import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.jdbc.LockSessionSettings;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.StringUtils;

/**
 * Has each physical connection of a pool that locks may be taken on tell the server,
 * once, to notice a vanished client within seconds. That is each pool of PostgreSQL:
 * which of several it is, transaction managers decide that must not be created this
 * early, and requests that are made later. Leaves alone what the application has
 * configured itself; the doctor says what is left to do then.
 *
 * @since 0.1.0
 */
public final class PooledConnectionPreparation implements BeanPostProcessor {

	private final Supplier<LockSessionSettings> settings;

	/**
	 * Create a post-processor.
	 * @param settings within which time a vanished client is to be noticed
	 */
	public PooledConnectionPreparation(Supplier<LockSessionSettings> settings) {
		this.settings = settings;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof HikariDataSource pool) {
			prepare(pool);
		}
		return bean;
	}

	private void prepare(HikariDataSource pool) {
		boolean untouched = !pool.isRunning() && !StringUtils.hasText(pool.getConnectionInitSql());
		if (untouched && StringUtils.startsWithIgnoreCase(pool.getJdbcUrl(), "jdbc:postgresql:")) {
			pool.setConnectionInitSql(this.settings.get().deadClientSql(pool.isAutoCommit()));
		}
	}

}
