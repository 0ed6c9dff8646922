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

import io.github.advisorylock.AdvisoryLockConfigurationException;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link SpringBootStartupCheck}.
 */
class SpringBootStartupCheckTests {

	@Test
	void applicationOfSpringBoot3IsRefusedInOneLine() {
		assertThatExceptionOfType(AdvisoryLockConfigurationException.class)
			.isThrownBy(() -> start("org.springframework.boot.bootstrap.BootstrapRegistry"))
			.withMessageStartingWith("advisory-lock needs Spring Boot 4, and this application has Spring Boot ")
			.withMessageNotContaining("\n");
	}

	@Test
	void applicationOfSpringBoot4Starts() {
		try (ConfigurableApplicationContext context = start("com.example.Missing")) {
			assertThat(context.isActive()).isTrue();
		}
	}

	private static ConfigurableApplicationContext start(String missing) {
		FilteredClassLoader classes = new FilteredClassLoader(missing);
		SpringApplication application = new SpringApplication(new DefaultResourceLoader(classes), Empty.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setRegisterShutdownHook(false);
		return application.run("--spring.main.banner-mode=off");
	}

	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
