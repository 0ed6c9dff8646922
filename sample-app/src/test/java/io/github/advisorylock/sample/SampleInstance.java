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

package io.github.advisorylock.sample;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;

/**
 * An instance of the sample application beside others in this JVM, with all of what
 * {@link SampleTest} has.
 */
public final class SampleInstance implements AutoCloseable {

	private final ConfigurableApplicationContext context;

	private final Queue<Object> events;

	private SampleInstance(ConfigurableApplicationContext context, Queue<Object> events) {
		this.context = context;
		this.events = events;
	}

	/**
	 * Start an instance with further properties, as {@code name=value}.
	 */
	public static SampleInstance start(String... properties) {
		Map<String, Object> all = new LinkedHashMap<>(SampleTest.Properties.ALL);
		all.put("server.port", "0");
		all.put("spring.datasource.hikari.maximum-pool-size", "5");
		for (String property : properties) {
			int separator = property.indexOf('=');
			all.put(property.substring(0, separator), property.substring(separator + 1));
		}
		Queue<Object> events = new ConcurrentLinkedQueue<>();
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.setListeners(withoutLogging(application));
		application.addListeners((ApplicationEvent event) -> remember(event, events));
		return new SampleInstance(application.run(all.entrySet()
			.stream()
			.map((property) -> "--" + property.getKey() + "=" + property.getValue())
			.toArray(String[]::new)), events);
	}

	/**
	 * Logging belongs to the JVM: instances that set it up at the same time would each
	 * add what they write to.
	 */
	private static List<ApplicationListener<?>> withoutLogging(SpringApplication application) {
		List<ApplicationListener<?>> listeners = new ArrayList<>(application.getListeners());
		listeners.removeIf(LoggingApplicationListener.class::isInstance);
		return listeners;
	}

	/**
	 * Start several instances at the same time.
	 */
	public static List<SampleInstance> startTogether(int number, String... properties) {
		List<CompletableFuture<SampleInstance>> starting = Stream
			.generate(() -> CompletableFuture.supplyAsync(() -> start(properties), (task) -> new Thread(task).start()))
			.limit(number)
			.toList();
		return starting.stream().map(CompletableFuture::join).toList();
	}

	public <T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/**
	 * Return what was said of runs and skips.
	 */
	public Queue<Object> events() {
		return this.events;
	}

	public HttpCalls calls() {
		return new HttpCalls(bean(Instance.class).port());
	}

	@Override
	public void close() {
		this.context.close();
	}

	private static void remember(ApplicationEvent event, Queue<Object> events) {
		if (event instanceof PayloadApplicationEvent<?> payload
				&& payload.getPayload().getClass().getSimpleName().startsWith("SingleRunner")) {
			events.add(payload.getPayload());
		}
	}

}
