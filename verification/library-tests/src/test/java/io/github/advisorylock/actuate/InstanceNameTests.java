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

package io.github.advisorylock.actuate;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.JavaProcess;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the names of instances, of which no two that live have the same one.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class InstanceNameTests {

	private static final String ENDPOINT = "management.endpoints.web.exposure.include=advisorylocks";

	private static final String NAME = "advisory-lock.instance=replica";

	@BeforeEach
	void dropTables() {
		OperatedApplication.dropTables();
	}

	@Test
	void contextsOfOneJvmHaveOneNameEachInEndpointLedgerAndConnections() {
		try (OperatedApplication first = OperatedApplication.start(Jobs.class, ENDPOINT, NAME);
				OperatedApplication second = OperatedApplication.start(Jobs.class, ENDPOINT, NAME)) {
			assertThat(name(first)).isEqualTo("replica");
			assertThat(name(second)).isEqualTo("replica-2").isEqualTo(second.bean(LockInstance.class).name());
			assertThat(instances(first)).containsExactly("alive replica", "alive replica-2");
			second.bean(Jobs.class).export();
			assertThat(TestPostgres.query("SELECT instance FROM operated_run WHERE key = 'export'"))
				.containsExactly("replica-2");
			try (Gate gate = Gate.enteredBy(second.bean(Jobs.class)::report)) {
				assertThat(EndpointAnswer.job(first, "report").get("holders")).asString()
					.contains("\"instance\":\"replica-2\",");
			}
			assertThat(TestPostgres.query("SELECT application_name FROM pg_stat_activity WHERE application_name LIKE "
					+ "'al:shop@replica%'"))
				.containsExactly("al:shop@replica-2");
		}
		try (OperatedApplication next = OperatedApplication.start(Jobs.class, ENDPOINT, NAME)) {
			assertThat(name(next)).isEqualTo("replica");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void contextsOfOneJvmThatSetNoNameAreToldApartAndThatIsSaidOnce(boolean ledger, CapturedOutput output) {
		String[] properties = { ENDPOINT, "advisory-lock.ledger.enabled=" + ledger };
		String own = new LockInstance(null).name();
		try (OperatedApplication first = OperatedApplication.start(Jobs.class, properties);
				OperatedApplication second = OperatedApplication.start(Jobs.class, properties)) {
			assertThat(name(first)).isEqualTo(own);
			assertThat(name(second)).isEqualTo(own + "-2");
			assertThat(output).containsOnlyOnce("This instance is called '" + own + "-2', as another one that lives is "
					+ "called '" + own + "'; set 'advisory-lock.instance'");
		}
	}

	@Test
	void processesHaveOneNameEachAndThatOfAKilledOneIsFreeAtOnce(@TempDir Path directory) {
		try (JavaProcess other = JavaProcess.start(directory.resolve("log"), Other.class, TestPostgres.url())) {
			other.awaitLine("is called replica");
			try (OperatedApplication second = OperatedApplication.start(Jobs.class, ENDPOINT, NAME)) {
				assertThat(name(second)).isEqualTo("replica-2");
				assertThat(instances(second)).containsExactly("alive replica", "alive replica-2");
			}
			other.kill();
		}
		try (OperatedApplication next = OperatedApplication.start(Jobs.class, ENDPOINT, NAME)) {
			assertThat(name(next)).isEqualTo("replica");
			assertThat(instances(next)).containsExactly("alive replica", "stopped replica-2", "vanished replica");
		}
	}

	@Test
	void nameThatAConnectionCanNotHaveIsRefused() {
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> OperatedApplication.start(Jobs.class, "advisory-lock.instance=a@b").close())
			.havingRootCause()
			.withMessageContaining("advisory-lock.instance");
	}

	private static String name(OperatedApplication application) {
		return EndpointAnswer.all(application).read("$.instance");
	}

	private static List<String> instances(OperatedApplication application) {
		Awaitility.await()
			.until(() -> EndpointAnswer.all(application)
				.<List<String>>read("$.instances[?(@.state == 'alive')].instance")
				.contains(name(application)));
		return EndpointAnswer.all(application)
			.<List<Map<String, Object>>>read("$.instances")
			.stream()
			.map((one) -> one.get("state") + " " + one.get("instance"))
			.toList();
	}

	/**
	 * Another instance of the application.
	 */
	public static final class Other {

		private Other() {
		}

		/**
		 * Start it.
		 * @param arguments the JDBC URL
		 */
		public static void main(String[] arguments) {
			System.setProperty(TestPostgres.class.getName(), arguments[0]);
			OperatedApplication application = OperatedApplication.start(Jobs.class, ENDPOINT, NAME);
			System.out.println("is called " + application.bean(LockInstance.class).name());
		}

	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report(Gate gate) {
			gate.pass();
		}

		@SingleRunner(key = "export", scope = LockScope.SESSION)
		void export() {
		}

	}

}
