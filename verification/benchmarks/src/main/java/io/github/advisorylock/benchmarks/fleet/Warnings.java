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

package io.github.advisorylock.benchmarks.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/**
 * What the library warns of, as when a tick can't be remembered.
 */
final class Warnings extends AppenderBase<ILoggingEvent> {

	private final Queue<String> messages = new ConcurrentLinkedQueue<>();

	/**
	 * Begin to listen. To be called when all applications have started, as each start
	 * sets logging up anew.
	 */
	static Warnings listen() {
		Warnings warnings = new Warnings();
		Logger logger = (Logger) LoggerFactory.getLogger("io.github.advisorylock");
		warnings.setContext(logger.getLoggerContext());
		warnings.start();
		logger.addAppender(warnings);
		return warnings;
	}

	@Override
	protected void append(ILoggingEvent event) {
		if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
			this.messages.add(event.getFormattedMessage().lines().findFirst().orElse(""));
		}
	}

	/**
	 * Return what has come since the last time.
	 */
	List<String> take() {
		List<String> taken = new ArrayList<>();
		for (String message = this.messages.poll(); message != null; message = this.messages.poll()) {
			taken.add(message);
		}
		return taken;
	}

}
