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

package io.github.advisorylock.test;

import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A PostgreSQL of its own for a test: goes on it as
 * {@code @Import(PostgresContainerConfiguration.class)}. Needs Docker, and
 * {@code spring-boot-testcontainers} and {@code testcontainers-postgresql} on the class
 * path of the tests. The pool of the application, and the connection of its session
 * locks, lead there. The image is {@code postgres:18-alpine} unless the property
 * {@code advisory-lock.test.postgres-image} says otherwise.
 *
 * @since 0.1.0
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PostgresContainerConfiguration.Properties.class)
public class PostgresContainerConfiguration {

	@Bean
	@ServiceConnection
	PostgreSQLContainer advisoryLockPostgresContainer(Properties properties) {
		return new PostgreSQLContainer(
				DockerImageName.parse(properties.postgresImage()).asCompatibleSubstituteFor("postgres"));
	}

	/**
	 * Properties of tests.
	 *
	 * @param postgresImage Image of the container that tests start.
	 */
	@ConfigurationProperties(prefix = "advisory-lock.test", ignoreUnknownFields = false)
	record Properties(@DefaultValue("postgres:18-alpine") String postgresImage) {

	}

}
