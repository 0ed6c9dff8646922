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

import io.github.advisorylock.AdvisoryLockConfigurationException;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * Says what an application has not got that its locks need, and what to change.
 */
class AdvisoryLockFailureAnalyzer implements FailureAnalyzer {

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		for (Throwable current = failure; current != null; current = current.getCause()) {
			if (current instanceof AdvisoryLockConfigurationException ex) {
				return new FailureAnalysis(ex.getProblem(), ex.getAction(), ex);
			}
			if (current instanceof UnsupportedDatabaseException ex) {
				return new FailureAnalysis(
						"The application's database can't guard jobs with advisory locks: " + ex.getReason() + ".",
						"Point 'spring.datasource.url' at a PostgreSQL primary; in a test, annotate its class with "
								+ "@AutoConfigureInMemoryLocks of advisory-lock-test, or set 'advisory-lock.enabled' to "
								+ "false to run methods without locks.",
						ex);
			}
		}
		return null;
	}

}
