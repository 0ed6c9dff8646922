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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.doctor.DoctorCheck.Severity;

import org.springframework.util.StringUtils;

/**
 * Acts on what was found, as the properties say.
 *
 * @param severities what a finding leads to
 * @param warning is told of what is no failure
 * @param place tells where that was, to stand before what is said of it
 */
record FindingHandler(Function<DoctorCheck, Severity> severities, Consumer<String> warning, Supplier<String> place) {

	boolean isOff(DoctorCheck check) {
		return this.severities.apply(check) == Severity.OFF;
	}

	/**
	 * Warn of findings, or refuse to start because of them.
	 * @return whether there was nothing to say
	 */
	boolean act(Findings findings) {
		List<Finding> failures = of(Severity.FAIL, findings);
		List<Finding> warnings = of(Severity.WARN, findings);
		warnings.forEach((finding) -> this.warning.accept("Advisory locks: " + this.place.get() + finding));
		if (!failures.isEmpty()) {
			throw new UnhealthyException(failures, this.place.get());
		}
		return warnings.isEmpty();
	}

	private List<Finding> of(Severity severity, Findings findings) {
		return findings.all().stream().filter((finding) -> this.severities.apply(finding.check()) == severity).toList();
	}

	/**
	 * Thrown when the doctor has found what must not be.
	 */
	private static final class UnhealthyException extends AdvisoryLockConfigurationException {

		private final String problem;

		private UnhealthyException(List<Finding> findings, String place) {
			super("Failed to rely on advisory locks: " + place + list("; ", findings, Finding::toString),
					list(System.lineSeparator(), findings,
							(finding) -> StringUtils.capitalize(finding.action()) + "." + finding.check().choice()));
			this.problem = place + list(System.lineSeparator(), findings, (finding) -> finding.problem() + ".");
		}

		@Override
		public String getProblem() {
			return this.problem;
		}

		private static String list(String separator, List<Finding> findings, Function<Finding, String> text) {
			return findings.stream().map(text).collect(Collectors.joining(separator));
		}

	}

}
