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

import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/**
 * Refuses Spring Boot 3 before anything of the library is loaded that does not work
 * there.
 */
final class SpringBootStartupCheck implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final String SINCE_BOOT_4 = "org.springframework.boot.bootstrap.BootstrapRegistry";

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		if (!ClassUtils.isPresent(SINCE_BOOT_4, context.getClassLoader())) {
			throw new AdvisoryLockConfigurationException(
					"advisory-lock needs Spring Boot 4, and this application has Spring Boot "
							+ SpringBootVersion.getVersion(),
					"Upgrade the application to Spring Boot 4.0 or later, or remove the dependency.");
		}
	}

}
