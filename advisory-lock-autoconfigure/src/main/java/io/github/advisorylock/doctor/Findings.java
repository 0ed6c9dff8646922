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

import io.github.advisorylock.AdvisoryLockKey;

/**
 * What the doctor has seen and found so far.
 */
final class Findings {

	private final List<String> seen = new ArrayList<>();

	private final Set<Finding> found = new LinkedHashSet<>();

	/**
	 * Note what was looked at and is well, in a few words.
	 */
	void seen(String what) {
		this.seen.add(what);
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
		return Collections.unmodifiableList(this.seen);
	}

	List<Finding> all() {
		return List.copyOf(this.found);
	}

}
