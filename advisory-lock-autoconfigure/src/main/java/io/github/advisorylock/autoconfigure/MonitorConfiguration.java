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

package io.github.advisorylock.autoconfigure;

import java.util.function.DoubleSupplier;
import java.util.function.Function;

import javax.sql.DataSource;

import io.github.advisorylock.database.LockDatabase;
import io.github.advisorylock.monitor.DatabaseClock;
import io.github.advisorylock.monitor.LockMonitor;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * What looks at the server, for those who ask for it: the endpoint at its locks, meters
 * at its clock.
 */
@Lazy
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "advisory-lock.enabled", matchIfMissing = true)
@ConditionalOnBean(DataSource.class)
class MonitorConfiguration {

	/**
	 * What the endpoint looks at.
	 */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.annotation.Endpoint")
	static class LockMonitorConfiguration {

		@Bean
		LockMonitor advisoryLockMonitor(LockDatabase database) {
			return new LockMonitor(database.dataSource());
		}

	}

	/**
	 * What the meters show.
	 */
	@Lazy
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "io.micrometer.core.instrument.MeterRegistry")
	static class DatabaseClockConfiguration {

		@Bean
		@ConditionalOnMissingBean
		DatabaseClock advisoryLockDatabaseClock(LockDatabase database) {
			return new DatabaseClock(database.dataSource());
		}

		@Bean
		Function<LockDatabase, DoubleSupplier> advisoryLockDatabaseClocks() {
			return (database) -> new DatabaseClock(database.dataSource());
		}

	}

}
