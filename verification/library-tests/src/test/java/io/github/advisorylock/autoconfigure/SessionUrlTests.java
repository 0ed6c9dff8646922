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

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for what an application says of a session URL that it can't use.
 */
@ExtendWith(OutputCaptureExtension.class)
class SessionUrlTests {

	@ParameterizedTest
	@ValueSource(strings = { "postgres://worker:hunter2@host/db", "jdbc:postgresql://worker:hunter2@host/db",
			"jdbc:postgresql://host:port/db?password=hunter2", "jdbc:postgresql://host/a/b/c?password=hunter2",
			"jdbc:nonsense://host/db?password=hunter2", "worker:hunter2@host" })
	void secretOfUrlThatNobodyUnderstandsIsNotPrinted(String url, CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE);
		assertThatException()
			.isThrownBy(() -> application.run("--spring.datasource.url=" + TestPostgres.url(),
					"--spring.application.name=test", "--advisory-lock.session.url=" + url))
			.satisfies((failure) -> assertThat(failure).hasStackTraceContaining("advisory-lock.session.url"));
		assertThat(output).contains("APPLICATION FAILED TO START", "jdbc:postgresql://host:port/database", "***")
			.doesNotContain("hunter2");
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			AdvisoryLockAutoConfiguration.class })
	static class Application {

	}

}
