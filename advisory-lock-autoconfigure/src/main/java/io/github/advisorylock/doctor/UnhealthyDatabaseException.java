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

package io.github.advisorylock.doctor;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockConfigurationException;

import org.springframework.util.StringUtils;

/**
 * Thrown at start-up when the doctor has found what must not be.
 */
class UnhealthyDatabaseException extends AdvisoryLockConfigurationException {

	private final transient List<Finding> findings;

	/**
	 * Create an exception.
	 * @param findings everything that stops the start
	 */
	UnhealthyDatabaseException(List<Finding> findings) {
		super("Failed to rely on advisory locks: " + list("; ", findings, Finding::toString),
				list(System.lineSeparator(), findings, (finding) -> StringUtils.capitalize(finding.action()) + ". ('"
						+ finding.check().property() + "' says how serious that is: fail, warn or off.)"));
		this.findings = List.copyOf(findings);
	}

	@Override
	public String getProblem() {
		return list(System.lineSeparator(), this.findings, (finding) -> finding.problem() + ".");
	}

	private static String list(String separator, List<Finding> findings, Function<Finding, String> text) {
		return findings.stream().map(text).collect(Collectors.joining(separator));
	}

}
