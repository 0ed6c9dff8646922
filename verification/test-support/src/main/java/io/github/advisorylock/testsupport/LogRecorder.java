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

package io.github.advisorylock.testsupport;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

import org.springframework.boot.logging.logback.StructuredLogEncoder;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;

/**
 * What one logger says, at a level and above, until closed.
 */
public final class LogRecorder extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

	private final Logger logger;

	private final Level levelBefore;

	private LogRecorder(Logger logger, Level level) {
		this.logger = logger;
		this.levelBefore = logger.getLevel();
		setContext(logger.getLoggerContext());
		start();
		logger.setLevel(level);
		logger.addAppender(this);
	}

	/**
	 * Begin to record.
	 */
	public static LogRecorder of(String logger, String level) {
		return new LogRecorder((Logger) LoggerFactory.getLogger(logger), Level.toLevel(level));
	}

	@Override
	protected void append(ILoggingEvent event) {
		event.prepareForDeferredProcessing();
		this.events.add(event);
	}

	/**
	 * Return what was recorded.
	 */
	public List<ILoggingEvent> events() {
		return this.events;
	}

	/**
	 * Return what was recorded, as text.
	 */
	public List<String> messages() {
		return this.events.stream().map(ILoggingEvent::getFormattedMessage).toList();
	}

	/**
	 * Return the key/value pairs of an event.
	 */
	public static Map<String, Object> fields(ILoggingEvent event) {
		return event.getKeyValuePairs().stream().collect(Collectors.toMap((pair) -> pair.key, (pair) -> pair.value));
	}

	/**
	 * Return an event as {@code logging.structured.format} writes it.
	 */
	public static String json(ILoggingEvent event, String format) {
		Logger logger = (Logger) LoggerFactory.getLogger(event.getLoggerName());
		logger.getLoggerContext().putObject(Environment.class.getName(), new StandardEnvironment());
		StructuredLogEncoder encoder = new StructuredLogEncoder();
		encoder.setContext(logger.getLoggerContext());
		encoder.setFormat(format);
		encoder.start();
		return new String(encoder.encode(event), StandardCharsets.UTF_8);
	}

	@Override
	public void close() {
		this.logger.detachAppender(this);
		this.logger.setLevel(this.levelBefore);
		stop();
	}

}
