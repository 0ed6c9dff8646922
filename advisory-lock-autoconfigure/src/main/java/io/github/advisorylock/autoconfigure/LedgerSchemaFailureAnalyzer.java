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

import io.github.advisorylock.ledger.LedgerSchemaException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a start that failed because of the ledger's tables.
 */
final class LedgerSchemaFailureAnalyzer extends AbstractFailureAnalyzer<LedgerSchemaException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LedgerSchemaException cause) {
		Throwable reason = cause.getCause();
		String description = cause.getMessage() + ((reason != null) ? "\n\n" + reason.getMessage() : "");
		return new FailureAnalysis(description, "Let Flyway or Liquibase run 'classpath:"
				+ LedgerSchemaException.LOCATION
				+ "', set 'advisory-lock.ledger.initialize-schema' to 'always' to have the tables created, or look at "
				+ "'advisory-lock.ledger.table-prefix'.", cause);
	}

}
