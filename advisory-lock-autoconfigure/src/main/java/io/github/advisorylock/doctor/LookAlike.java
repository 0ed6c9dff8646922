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

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Tells databases that speak PostgreSQL's protocol from PostgreSQL, by the text that
 * their {@code version()} answers.
 *
 * @since 0.1.0
 */
public final class LookAlike {

	private static final Pattern YUGABYTE_VERSION = Pattern.compile("-YB-(\\d+)\\.(\\d+)");

	private static final int FIRST_YUGABYTE_YEAR = 2025;

	private LookAlike() {
	}

	/**
	 * Return what is wrong with the locks of a server.
	 * @param version what the server says of itself
	 * @return the problem, or {@code null} if there is none that we know of
	 */
	public static @Nullable String problemOf(String version) {
		if (version.contains("CockroachDB")) {
			return "it is CockroachDB, whose session lock functions answer true and lock nothing";
		}
		if (version.contains("-YB-") && !hasYugabyteLocks(version)) {
			return "it is YugabyteDB before 2025.1, which has no advisory locks to rely on";
		}
		return null;
	}

	/**
	 * Stable releases are numbered by year; others, such as 2.25, are older or previews.
	 */
	private static boolean hasYugabyteLocks(String version) {
		Matcher matcher = YUGABYTE_VERSION.matcher(version);
		if (!matcher.find()) {
			return false;
		}
		int year = Integer.parseInt(matcher.group(1));
		int release = Integer.parseInt(matcher.group(2));
		return year > FIRST_YUGABYTE_YEAR || (year == FIRST_YUGABYTE_YEAR && release >= 1);
	}

}
