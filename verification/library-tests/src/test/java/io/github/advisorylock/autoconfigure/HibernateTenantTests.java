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

import java.util.Map;

import javax.sql.DataSource;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.tenant.Bill;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.hibernate.cfg.MultiTenancySettings;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.hibernate.engine.jdbc.connections.spi.AbstractDataSourceBasedMultiTenantConnectionProviderImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for applications whose Hibernate has tenants.
 */
@ExtendWith(OutputCaptureExtension.class)
class HibernateTenantTests {

	private static final String CHECK = "advisory-lock.doctor.one-tenant";

	@Test
	void methodInOneTransactionIsToldWhereEachTenantHasDatabase(CapturedOutput output) {
		application().withUserConfiguration(DatabasePerTenant.class)
			.run(LockContextRunner
				.started(() -> assertThat(output).contains(CHECK, "method 'bill'", "set 'scope' to SESSION")));
	}

	@Test
	void methodInOneTransactionIsToldWhereTenantsAreTold(CapturedOutput output) {
		application().withUserConfiguration(TenantColumn.class)
			.run(LockContextRunner
				.started(() -> assertThat(output).contains(CHECK, "method 'bill'", "set 'scope' to SESSION")));
	}

	@Test
	void nothingIsToldWhereThereAreNoTenants(CapturedOutput output) {
		application().run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Advisory locks are ready").doesNotContain(CHECK);
		});
	}

	private static ApplicationContextRunner application() {
		return LockContextRunner.create()
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withBean(Jobs.class);
	}

	/**
	 * A job of the application.
	 */
	static class Jobs {

		@SingleRunner(key = "bills")
		void bill() {
		}

	}

	/**
	 * Connections of the current tenant.
	 */
	@Configuration(proxyBeanMethods = false)
	static class DatabasePerTenant {

		@Bean
		HibernatePropertiesCustomizer tenants(DataSource dataSource) {
			return (properties) -> properties
				.putAll(Map.of(MultiTenancySettings.MULTI_TENANT_CONNECTION_PROVIDER, new TenantConnections(dataSource),
						MultiTenancySettings.MULTI_TENANT_IDENTIFIER_RESOLVER, new CurrentTenant()));
		}

	}

	/**
	 * One database, with a column of the tenant.
	 */
	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = Bill.class)
	static class TenantColumn {

		@Bean
		HibernatePropertiesCustomizer tenants() {
			return (properties) -> properties.put(MultiTenancySettings.MULTI_TENANT_IDENTIFIER_RESOLVER,
					new CurrentTenant());
		}

	}

	private static final class CurrentTenant implements CurrentTenantIdentifierResolver<String> {

		@Override
		public String resolveCurrentTenantIdentifier() {
			return "main";
		}

		@Override
		public boolean validateExistingCurrentSessions() {
			return false;
		}

	}

	private static final class TenantConnections
			extends AbstractDataSourceBasedMultiTenantConnectionProviderImpl<String> {

		private final transient DataSource dataSource;

		private TenantConnections(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		@Override
		protected DataSource selectAnyDataSource() {
			return this.dataSource;
		}

		@Override
		protected DataSource selectDataSource(String tenant) {
			return this.dataSource;
		}

	}

}
