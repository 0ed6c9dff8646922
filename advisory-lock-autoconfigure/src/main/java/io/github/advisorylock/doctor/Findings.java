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

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.doctor.DoctorCheck.Severity;

import org.springframework.util.StringUtils;

/**
 * What the doctor has seen and found so far, and what the properties make of it.
 *
 * @param severities what a finding leads to
 * @param warning is told of what is no failure
 * @param place tells where that was, to stand before what is said of it
 * @param noted what was looked at and is well, in a few words
 * @param found what is not as it should be
 */
record Findings(Function<DoctorCheck, Severity> severities, Consumer<String> warning, String place, List<String> noted,
		Set<Finding> found) {

	Findings(Function<DoctorCheck, Severity> severities, Consumer<String> warning, String place) {
		this(severities, warning, place, new ArrayList<>(), new LinkedHashSet<>());
	}

	boolean isOff(DoctorCheck check) {
		return this.severities.apply(check) == Severity.OFF;
	}

	/**
	 * Note what was looked at and is well, in a few words.
	 */
	void seen(String what) {
		this.noted.add(what);
	}

	/**
	 * Note what is not as it should be, once.
	 */
	void found(Finding finding) {
		this.found.add(finding);
	}

	void found(DoctorCheck check, String problem, String action) {
		found(new Finding(check, AdvisoryLockKey.printable(problem), AdvisoryLockKey.printable(action)));
	}

	boolean has(DoctorCheck check) {
		return this.found.stream().anyMatch((finding) -> finding.check() == check);
	}

	List<String> seen() {
		return Collections.unmodifiableList(this.noted);
	}

	/**
	 * Warn of findings, or refuse to start because of them.
	 * @return whether there was nothing to say
	 */
	boolean act() {
		List<Finding> failures = new ArrayList<>();
		boolean well = true;
		for (Finding finding : this.found) {
			Severity severity = this.severities.apply(finding.check());
			if (severity == Severity.FAIL) {
				failures.add(finding);
			}
			else if (severity == Severity.WARN) {
				well = false;
				this.warning.accept("Advisory locks: " + this.place + finding);
			}
		}
		if (!failures.isEmpty()) {
			throw new UnhealthyException(failures, this.place);
		}
		return well;
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
