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

package io.github.advisorylock.jdbc;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is left of locks where the operating system gives no thread.
 */
@EnabledOnOs(OS.LINUX)
@Tag("gate")
class ThreadlessInstanceTests {

	@TempDir
	Path folder;

	@Test
	void lockThatCannotBeHandedOverForWantOfAThreadIsNotKept() {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		List<String> command = List.of("/bin/sh", "-c", "ulimit -v 10000000 && exec \"$0\" \"$@\"", java, "-Xss256m",
				"-Xmx64m", "-XX:+UseSerialGC", "-XX:CompressedClassSpaceSize=64m", "-XX:ReservedCodeCacheSize=64m",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				ThreadlessInstance.class.getName(), TestPostgres.url(), "threadless");
		JavaProcess instance = JavaProcess.run(this.folder.resolve("log"), Map.of(), command);
		try {
			assertThat(instance.awaitLine("a call without limit")).contains("OutOfMemoryError");
			assertThat(instance.awaitLine("a call with limit")).contains("OutOfMemoryError");
			Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.holders()).isEmpty());
		}
		finally {
			// the JVM has no thread for an orderly end either
			instance.kill();
		}
	}

}
