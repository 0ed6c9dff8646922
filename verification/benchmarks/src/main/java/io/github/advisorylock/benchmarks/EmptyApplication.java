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

package io.github.advisorylock.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/**
 * An application with nothing but JDBC, which tells how long it took to start. Runs with
 * and without the starter on its class path.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class EmptyApplication {

	static final String RESULT = "started, nanoseconds by the clock and of the processors, bytes of heap, classes: ";

	/**
	 * Start, say how long it took, and stop.
	 * @param args names of classes to add
	 * @throws ClassNotFoundException if one is missing
	 */
	public static void main(String[] args) throws ClassNotFoundException {
		List<Class<?>> sources = new ArrayList<>(List.of(EmptyApplication.class));
		for (String arg : args) {
			sources.add(Class.forName(arg));
		}
		SpringApplication application = new SpringApplication(sources.toArray(Class<?>[]::new));
		application.addListeners((ApplicationListener<ApplicationStartedEvent>) EmptyApplication::print);
		application.run().close();
	}

	private static void print(ApplicationStartedEvent event) {
		long processors = ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
		long classes = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
		System.out.println(RESULT + Objects.requireNonNull(event.getTimeTaken()).toNanos() + " " + processors + " "
				+ usedHeap() + " " + classes);
	}

	/**
	 * What was collected once may have been what finalizers and references still needed.
	 */
	private static long usedHeap() {
		MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
		memory.gc();
		memory.gc();
		return memory.getHeapMemoryUsage().getUsed();
	}

	/**
	 * Opens the pool while the application starts, as most applications do one way or
	 * another.
	 */
	static class QueryAtStart {

		QueryAtStart(JdbcTemplate jdbcTemplate) {
			jdbcTemplate.execute("SELECT 1");
		}

	}

	/**
	 * One method in a proxy of Spring's own.
	 */
	static class OneTransaction {

		@Transactional
		void run() {
		}

	}

	/**
	 * One guarded method.
	 */
	static class OneJob {

		@SingleRunner(key = "job")
		void run() {
		}

	}

	/**
	 * One guarded method whose keys are remembered.
	 */
	static class OneRecordedJob {

		@SingleRunner(key = "recorded", once = Once.PER_KEY)
		void run() {
		}

	}

	/**
	 * One method of a leader.
	 */
	static class OneLeader {

		@LeaderOnly("leader")
		void run() {
		}

	}

}
