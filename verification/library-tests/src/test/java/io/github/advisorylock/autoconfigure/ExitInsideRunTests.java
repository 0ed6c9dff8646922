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

package io.github.advisorylock.autoconfigure;

import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link System#exit} from inside a run, in processes of their own.
 */
@Tag("chaos")
class ExitInsideRunTests {

	@ParameterizedTest
	@ValueSource(strings = { "SESSION", "TRANSACTION", "LEADER" })
	void exitFromInsideARunDoesNotWaitForThatRun(String kind, @TempDir Path directory) throws Exception {
		File log = directory.resolve("log").toFile();
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				ExitingInstance.class.getName(), TestPostgres.url(), kind)
			.redirectErrorStream(true)
			.redirectOutput(log)
			.start();
		try {
			assertThat(process.waitFor(3, TimeUnit.MINUTES)).as("exits within its only phase").isTrue();
			assertThat(process.exitValue()).isEqualTo(ExitingInstance.STATUS);
		}
		finally {
			process.destroyForcibly();
		}
	}

}
