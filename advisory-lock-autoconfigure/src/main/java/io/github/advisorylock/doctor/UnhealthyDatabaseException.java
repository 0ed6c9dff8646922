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
import java.util.stream.Collectors;

/**
 * Thrown at start-up when the doctor has found what must not be.
 *
 * @since 0.1.0
 */
public class UnhealthyDatabaseException extends RuntimeException {

	private final transient List<Finding> findings;

	/**
	 * Create an exception.
	 * @param findings everything that stops the start
	 */
	public UnhealthyDatabaseException(List<Finding> findings) {
		super("Failed to rely on advisory locks: "
				+ findings.stream().map(Finding::toString).collect(Collectors.joining("; ")));
		this.findings = List.copyOf(findings);
	}

	/**
	 * Return everything that stops the start.
	 * @return the findings
	 */
	public List<Finding> getFindings() {
		return this.findings;
	}

}
