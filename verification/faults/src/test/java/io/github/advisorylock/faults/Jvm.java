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

package io.github.advisorylock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What instances run on: the Java of the tests, with platform threads, from a class path,
 * or one that has virtual threads, with all runs on them, as executable jars.
 *
 * @param java the program
 * @param version its version
 * @param virtual whether its instances use virtual threads
 * @param jar whether they are executable jars
 */
record Jvm(String java, String version, boolean virtual, boolean jar) {

	/**
	 * The property that names the {@code java} of instances on virtual threads; those of
	 * the tests' own will do where it is new enough.
	 */
	static final String PROPERTY = "faults.java";

	/**
	 * The first version with virtual threads.
	 */
	private static final int NEWER = 21;

	private static final Pattern VERSION = Pattern.compile("version \"([^\"]+)\"");

	private static final String OWN = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	/**
	 * Return the Java of the tests, for platform threads.
	 */
	static Jvm own() {
		return new Jvm(OWN, System.getProperty("java.version"), false, false);
	}

	/**
	 * Return a Java with virtual threads, if there is one.
	 */
	static Optional<Jvm> withVirtualThreads() {
		String named = System.getProperty(PROPERTY, "");
		String java = named.isBlank() ? OWN : named;
		String version = named.isBlank() ? System.getProperty("java.version") : versionOf(named);
		boolean newer = Runtime.Version.parse(version).feature() >= NEWER;
		if (!newer && !named.isBlank()) {
			throw new IllegalStateException(PROPERTY + " names a Java without virtual threads: " + version);
		}
		return newer ? Optional.of(new Jvm(java, version, true, true)) : Optional.empty();
	}

	private static String versionOf(String java) {
		try {
			Process process = new ProcessBuilder(java, "-version").redirectErrorStream(true).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			Matcher version = VERSION.matcher(output);
			if (!version.find()) {
				throw new IllegalStateException(PROPERTY + " names no Java: " + output);
			}
			return version.group(1);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Return the command that starts an instance, but for its arguments.
	 * @param options options for the JVM
	 */
	List<String> command(List<String> options) {
		List<String> command = new ArrayList<>(List.of(this.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
				"-Xmx192m", "-Dspring.threads.virtual.enabled=" + this.virtual));
		command.addAll(options);
		command.addAll(this.jar ? List.of("-jar", ExecutableJar.OF_INSTANCE.toString())
				: List.of("-cp", System.getProperty("java.class.path"), Instance.class.getName()));
		return command;
	}

	/**
	 * Return whether the current thread is a virtual one: asked in an instance, whichever
	 * Java it runs on.
	 */
	static boolean isOnVirtualThread() {
		if (Runtime.version().feature() < NEWER) {
			return false;
		}
		try {
			return (boolean) Thread.class.getMethod("isVirtual").invoke(Thread.currentThread());
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public String toString() {
		return "Java " + this.version + (this.virtual ? " with virtual threads" : " with platform threads")
				+ (this.jar ? ", as executable jars" : "");
	}

}
