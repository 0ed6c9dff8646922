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

import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.doctor.Finding;
import io.github.advisorylock.doctor.UnhealthyDatabaseException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/**
 * Lists everything that the doctor has found and that stops the start.
 */
class UnhealthyDatabaseFailureAnalyzer extends AbstractFailureAnalyzer<UnhealthyDatabaseException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, UnhealthyDatabaseException cause) {
		return new FailureAnalysis(list(cause, (finding) -> finding.problem() + "."),
				list(cause, (finding) -> StringUtils.capitalize(finding.action()) + ". ('" + finding.check().property()
						+ "' says how serious that is: fail, warn or off.)"),
				cause);
	}

	private static String list(UnhealthyDatabaseException cause, Function<Finding, String> text) {
		return cause.getFindings().stream().map(text).collect(Collectors.joining(System.lineSeparator()));
	}

}
