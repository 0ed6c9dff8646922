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

package io.github.advisorylock.ledger;

import java.time.Duration;
import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * How the ledger is kept.
 *
 * @param tablePrefix what the names of its tables start with, a schema before it or not
 * @param initializeSchema whether missing tables are created
 * @param keepRunsFor how long a run is kept in the history
 * @param keepRunsOfKey how many runs of a key are kept in the history
 * @param rememberKeys how long a key that was completed is remembered
 * @since 0.1.0
 */
public record LedgerSettings(String tablePrefix, boolean initializeSchema, Duration keepRunsFor, int keepRunsOfKey,
		Duration rememberKeys) {

	/**
	 * What the names of tables start with unless somebody says otherwise.
	 */
	public static final String DEFAULT_TABLE_PREFIX = "advisory_lock_";

	private static final Pattern PREFIX = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	public LedgerSettings {
		Assert.isTrue(isTablePrefix(tablePrefix),
				"'tablePrefix' must be an SQL name of letters, digits and underscores, with a schema and a dot before "
						+ "it or not");
		Assert.isTrue(keepRunsFor.compareTo(Duration.ZERO) > 0, "'keepRunsFor' must be more than zero");
		Assert.isTrue(keepRunsOfKey > 0, "'keepRunsOfKey' must be more than zero");
		Assert.isTrue(rememberKeys.compareTo(Duration.ZERO) > 0, "'rememberKeys' must be more than zero");
	}

	/**
	 * Return whether the names of tables may start with a text.
	 * @param text the text
	 * @return {@code true} if it is an SQL name, with a schema or not
	 */
	public static boolean isTablePrefix(String text) {
		return PREFIX.matcher(text).matches();
	}

}
