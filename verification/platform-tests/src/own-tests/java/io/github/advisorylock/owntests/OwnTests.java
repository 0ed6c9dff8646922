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

package io.github.advisorylock.owntests;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests of others, classes or methods of them, and prints a line for each test: Class#method, then
 * passed, failed and why, or disabled. Each test has a JVM of its own, all have one
 * server: what a failed test leaves behind is gone before the next one.
 */
public final class OwnTests {

	private static final int SECONDS = 120;

	private OwnTests() {
	}

	public static void main(String[] arguments) throws Exception {
		Launcher launcher = LauncherFactory.create();
		if (System.getProperty("own-tests.url") != null) {
			launcher.execute(request(arguments[0]), new Results());
			// Its threads may wait for a lock for ever
			System.exit(0);
		}
		List<String> methods = new ArrayList<>();
		for (String name : arguments) {
			methods.addAll(methods(launcher.discover(request(name))));
		}
		for (String method : methods) {
			run(method);
		}
		System.exit(0);
	}

	private static LauncherDiscoveryRequest request(String name) {
		return LauncherDiscoveryRequestBuilder.request()
			.selectors(name.contains("#") ? DiscoverySelectors.selectMethod(name) : DiscoverySelectors.selectClass(name))
			.build();
	}

	private static List<String> methods(TestPlan plan) {
		List<String> methods = new ArrayList<>();
		plan.accept(new TestPlan.Visitor() {

			@Override
			public void visit(TestIdentifier test) {
				test.getSource()
					.filter(MethodSource.class::isInstance)
					.map(MethodSource.class::cast)
					.ifPresent((source) -> methods.add(source.getClassName() + "#" + source.getMethodName()));
			}

		});
		return methods;
	}

	private static void run(String method) throws IOException, InterruptedException {
		Process test = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-Down-tests.url=" + TestPostgres.url(), "-cp",
				System.getProperty("java.class.path"), OwnTests.class.getName(), method)
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.INHERIT)
			.start();
		if (!test.waitFor(SECONDS, TimeUnit.SECONDS)) {
			test.destroyForcibly().waitFor();
			print(method, "failed: still running after " + SECONDS + " s");
		}
	}

	private static void print(String method, String result) {
		System.out.println("= " + method + " " + result);
	}

	/**
	 * Prints what comes of tests.
	 */
	private static final class Results implements TestExecutionListener {

		@Override
		public void executionSkipped(TestIdentifier test, String reason) {
			tell(test, "disabled");
		}

		@Override
		public void executionFinished(TestIdentifier test, TestExecutionResult result) {
			tell(test, result.getThrowable().map((failure) -> "failed: " + describe(failure)).orElse("passed"));
		}

		private static void tell(TestIdentifier test, String result) {
			test.getSource()
				.filter(MethodSource.class::isInstance)
				.map(MethodSource.class::cast)
				.ifPresent((source) -> print(source.getClassName() + "#" + source.getMethodName(), result));
		}

		private static String describe(Throwable failure) {
			return String.join(" ", failure.toString().strip().lines().map(String::strip).toList());
		}

	}

}
