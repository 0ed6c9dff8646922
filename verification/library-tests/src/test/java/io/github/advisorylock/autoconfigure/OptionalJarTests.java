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

import java.util.regex.Pattern;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for an application that leaves out a jar of the library.
 */
@Tag("gate")
class OptionalJarTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=*";

	@Test
	void applicationWithAllOfThemHasTheirBeans() {
		assertThat(ReducedApplication.runWithAll(EXPOSED)).contains("advisoryLocksPageEndpoint", "advisoryLockLedger",
				"advisoryLockProvider", "advisoryLockRegistry");
	}

	@ParameterizedTest
	@CsvSource({ "page, advisoryLocksPageEndpoint, advisoryLockLedger",
			"ledger, advisoryLockLedger, advisoryLocksPageEndpoint" })
	void applicationIsGuardedWithoutOne(String jar, String bean, String other) throws Exception {
		assertThat(ReducedApplication.runWithout(Pattern.compile("advisory-lock-" + jar), EXPOSED))
			.contains("advisoryLockTemplate", "advisoryLocksEndpoint", other)
			.doesNotContain(bean);
	}

	/**
	 * Those who have the starter have no bridge.
	 */
	@Test
	void applicationIsGuardedWithoutAllOfThem() throws Exception {
		assertThat(ReducedApplication
			.runWithout(Pattern.compile("advisory-lock-(page|ledger|shedlock|spring-integration)"), EXPOSED))
			.contains("advisoryLockTemplate", "advisoryLocksEndpoint")
			.doesNotContain("advisoryLocksPageEndpoint", "advisoryLockLedger", "advisoryLockProvider",
					"advisoryLockRegistry");
	}

	@Test
	void whatNeedsMissingLedgerIsRefusedByName() {
		assertThatException()
			.isThrownBy(() -> ReducedApplication.runWithout(Pattern.compile("advisory-lock-ledger"),
					"advisory-lock.jobs.report.min-interval=1m"))
			.havingRootCause()
			.withMessageContaining("needs the ledger, which is switched off or missing");
	}

	@Test
	void ledgerForAllMethodsIsRefusedWithoutItsJar() {
		assertThatException()
			.isThrownBy(() -> ReducedApplication.runWithout(Pattern.compile("advisory-lock-ledger"),
					"advisory-lock.ledger.enabled=true"))
			.havingRootCause()
			.withMessageContainingAll("advisory-lock.ledger.enabled", "'advisory-lock-ledger'");
	}

}
