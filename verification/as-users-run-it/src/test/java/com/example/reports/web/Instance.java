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

package com.example.reports.web;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.JavaProcess;

/**
 * An instance of the application in a JVM of its own.
 *
 * @param name what it calls itself
 * @param process the JVM
 */
record Instance(String name, JavaProcess process) implements AutoCloseable {

	static final Path JAR = Path.of(System.getProperty("application.jar"));

	static final Path WAR = Path.of(System.getProperty("application.war"));

	private static final Pattern PROBLEM = Pattern.compile(" (WARN|ERROR) ");

	/**
	 * Start an instance.
	 * @param what to run, and with which options for the JVM
	 */
	static Instance start(Path logs, Jdk jdk, Database database, String name, List<String> what, String... properties) {
		List<String> command = new ArrayList<>(command(jdk));
		command.addAll(what);
		command.add("--instance=" + name);
		command.add("--spring.datasource.url=" + database.url());
		Stream.of(properties).map((property) -> "--" + property).forEach(command::add);
		return new Instance(name, JavaProcess.run(logs.resolve(name + ".log"), Map.of(), command));
	}

	/**
	 * Return how JVMs are started here.
	 */
	static List<String> command(Jdk jdk) {
		return List.of(jdk.java().toString(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto",
				"-Xmx256m");
	}

	Instance awaitStart() {
		this.process.awaitLine("Started ");
		return this;
	}

	/**
	 * Return what it has warned of.
	 */
	List<String> problems() {
		return this.process.lines().stream().filter(PROBLEM.asPredicate()).toList();
	}

	@Override
	public void close() {
		this.process.close();
	}

	/**
	 * How long to wait for what takes an instance a few seconds.
	 */
	static final Duration PATIENCE = Duration.ofSeconds(60);

}
