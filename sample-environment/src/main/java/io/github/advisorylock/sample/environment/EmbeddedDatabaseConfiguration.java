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

package io.github.advisorylock.sample.environment;

import java.io.IOException;
import java.nio.file.Path;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;

/**
 * Leads the pool, the migrations and the session locks to the embedded PostgreSQL, unless
 * {@code spring.datasource.url} leads them elsewhere.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(EmbeddedDatabaseConfiguration.NoUrlCondition.class)
class EmbeddedDatabaseConfiguration {

	@Bean
	EmbeddedDatabase embeddedDatabase(@Value("${sample.database.directory:}") String directory) throws IOException {
		return EmbeddedDatabase.join(StringUtils.hasText(directory) ? Path.of(directory) : ofThisCheckout());
	}

	/**
	 * Outside the build's output, so that a clean build does not pull the data away under
	 * a running server; by user and checkout, so that two of either stay apart.
	 */
	private static Path ofThisCheckout() throws IOException {
		String user = System.getProperty("user.name").replaceAll("\\W", "_");
		String checkout = Integer.toHexString(System.getProperty("user.dir").hashCode());
		return PrivateDirectory.of(Path.of(System.getProperty("java.io.tmpdir"), "advisory-lock-sample-" + user))
			.resolve(checkout);
	}

	@Bean
	JdbcConnectionDetails embeddedConnectionDetails(EmbeddedDatabase database) {
		return new EmbeddedConnectionDetails(database);
	}

	/**
	 * Where the embedded PostgreSQL is, and its password.
	 */
	private record EmbeddedConnectionDetails(EmbeddedDatabase database) implements JdbcConnectionDetails {

		@Override
		public String getJdbcUrl() {
			return this.database.url();
		}

		@Override
		public String getUsername() {
			return this.database.user();
		}

		@Override
		public String getPassword() {
			return this.database.password();
		}

	}

	/**
	 * Matches when no URL is set.
	 */
	static class NoUrlCondition extends NoneNestedConditions {

		NoUrlCondition() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		/**
		 * Matches when a URL is set.
		 */
		@ConditionalOnProperty("spring.datasource.url")
		static class UrlSet {

		}

	}

}
