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

/**
 * What the doctor has seen.
 *
 * @param seen what was looked at, in a few words each
 * @param findings what is not as it should be
 * @since 0.1.0
 */
public record Examination(List<String> seen, List<Finding> findings) {

	public Examination {
		seen = List.copyOf(seen);
		findings = List.copyOf(findings);
	}

}
