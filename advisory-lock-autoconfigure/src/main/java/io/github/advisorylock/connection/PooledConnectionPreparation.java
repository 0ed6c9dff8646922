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

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.jdbc.LockSessionSettings;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Has each physical connection of the pool that locks are taken on tell the server, once,
 * to notice a vanished client within seconds. Leaves alone what the application has
 * configured itself; the doctor says what is left to do then.
 *
 * @since 0.1.0
 */
public final class PooledConnectionPreparation implements BeanPostProcessor {

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<LockSessionSettings> settings;

	private final BooleanSupplier choice;

	/**
	 * Create a post-processor.
	 * @param beanFactory knows which DataSources there are
	 * @param settings within which time a vanished client is to be noticed
	 * @param choice whether the application says by name which transaction manager, and
	 * so which DataSource, locks are taken on
	 */
	public PooledConnectionPreparation(ConfigurableListableBeanFactory beanFactory,
			Supplier<LockSessionSettings> settings, BooleanSupplier choice) {
		this.beanFactory = beanFactory;
		this.settings = settings;
		this.choice = choice;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof HikariDataSource pool) {
			prepare(pool, beanName);
		}
		return bean;
	}

	private void prepare(HikariDataSource pool, String beanName) {
		boolean untouched = !pool.isRunning() && !StringUtils.hasText(pool.getConnectionInitSql());
		if (untouched && StringUtils.startsWithIgnoreCase(pool.getJdbcUrl(), "jdbc:postgresql:")
				&& carriesLocks(beanName)) {
			pool.setConnectionInitSql(this.settings.get().deadClientSql(pool.isAutoCommit()));
		}
	}

	/**
	 * The transaction manager decides which pool it is, but must not be created this
	 * early.
	 */
	private boolean carriesLocks(String beanName) {
		String[] names = this.beanFactory.getBeanNamesForType(DataSource.class, true, false);
		if (names.length == 1) {
			return names[0].equals(beanName);
		}
		return !this.choice.getAsBoolean() && this.beanFactory.containsBeanDefinition(beanName)
				&& this.beanFactory.getMergedBeanDefinition(beanName).isPrimary();
	}

}
