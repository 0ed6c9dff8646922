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

package com.example.reports;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Component;

/**
 * Stops the context at a line of the standard input, and starts it at the next one.
 */
@Component
@ConditionalOnBooleanProperty("console")
public class Console implements ApplicationRunner {

	private static final Logger logger = LoggerFactory.getLogger(Console.class);

	private final ConfigurableApplicationContext context;

	Console(ConfigurableApplicationContext context) {
		this.context = context;
	}

	@Override
	public void run(ApplicationArguments args) {
		Thread thread = new Thread(this::read, "console");
		thread.setDaemon(true);
		thread.start();
	}

	private void read() {
		BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		try {
			while (lines.readLine() != null) {
				if (this.context.isRunning()) {
					this.context.stop();
					logger.info("The context is stopped");
				}
				else {
					this.context.start();
					logger.info("The context is started again");
				}
			}
		}
		catch (IOException ex) {
			logger.error("The console can't be read", ex);
		}
	}

}
