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

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What an application has on its class path beside JDBC, and how it is set up.
 */
enum Starter {

	NONE("a^"),

	OURS("advisory-lock-[a-z]+"),

	SHEDLOCK("shedlock-.*"),

	QUARTZ(".*(quartz|context-support)-.*", "-Dspring.quartz.job-store-type=jdbc",
			"-Dspring.quartz.jdbc.initialize-schema=never",
			"-Dspring.quartz.properties.org.quartz.jobStore.isClustered=true",
			"-Dspring.quartz.properties.org.quartz.jobStore.driverDelegateClass="
					+ "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate",
			"-Dspring.quartz.properties.org.quartz.scheduler.instanceId=AUTO"),

	DB_SCHEDULER("(db-scheduler|cron-utils).*"),

	JOBRUNR("(jobrunr|asm|jackson-[a-z]+)-.*", "-Djobrunr.background-job-server.enabled=true");

	/**
	 * What brings Micrometer, which most applications of this size do not have.
	 */
	private static final String METERS = ".*(micrometer-(core|jakarta9|registry)"
			+ "|starter-micrometer|boot-micrometer|prometheus-metrics|HdrHistogram|LatencyUtils).*";

	/**
	 * What brings rivals, each of which would have Spring Boot and the library configure
	 * more.
	 */
	private static final String RIVALS = "(spring-(integration|messaging)|reactor-core|reactive-streams|shedlock"
			+ "|quartz|db-scheduler|cron-utils|jobrunr|asm|transact|jackson-[a-z]+|jakarta\\.(activation|xml)[.a-z]*)-.*";

	private final String jars;

	@SuppressWarnings("ImmutableEnumChecker") // made by List.of
	private final List<String> properties;

	Starter(String jars, String... properties) {
		this.jars = jars;
		this.properties = List.of(properties);
	}

	/**
	 * Return whether it is that of a rival, which may need tables.
	 */
	boolean isRival() {
		return this != NONE && this != OURS;
	}

	/**
	 * Return the system properties of an application.
	 */
	List<String> properties() {
		return this.properties;
	}

	/**
	 * Return the class path of an application: that of the benchmarks, and of the
	 * starters that only their own application has, without those of others.
	 */
	String classPath() {
		return Stream
			.concat(elements(System.getProperty("java.class.path")),
					elements(System.getProperty("benchmarks.starters", "")).filter(this::isOwn))
			.distinct()
			.filter((element) -> isOwn(element) || !isOfOthers(element))
			.collect(Collectors.joining(File.pathSeparator));
	}

	private static Stream<String> elements(String classPath) {
		return Arrays.stream(classPath.split(File.pathSeparator)).filter((element) -> !element.isEmpty());
	}

	private boolean isOwn(String element) {
		return artifact(element).matches(this.jars);
	}

	private static boolean isOfOthers(String element) {
		String artifact = artifact(element);
		return artifact.matches(OURS.jars) || artifact.matches(METERS) || artifact.matches(RIVALS);
	}

	/**
	 * Return the name of a jar, or of the module that has a directory of classes.
	 */
	private static String artifact(String element) {
		String path = element.replace(File.separator + "target" + File.separator + "classes", "");
		return new File(path).getName().replaceFirst("^(advisory-lock-[a-z-]+?)-\\d.*", "$1");
	}

}
