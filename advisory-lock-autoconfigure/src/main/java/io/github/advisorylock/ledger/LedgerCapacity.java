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

import java.nio.charset.StandardCharsets;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

/**
 * How much room the ledger has for a key. Limited here rather than by the columns, which
 * count characters or bytes as the encoding of the database says; what counts for the
 * index of a table are bytes, and those can't always be compressed.
 *
 * @since 0.1.0
 */
public final class LedgerCapacity {

	private static final int CHARACTERS_OF_KEY = 512;

	private static final int CHARACTERS_OF_NAMESPACE = 255;

	private static final int BYTES = 2560;

	private LedgerCapacity() {
	}

	/**
	 * Find out why runs of a key can't be recorded.
	 * @param key the key
	 * @return what there is no room for, or {@code null} if there is room
	 */
	public static @Nullable String findExcess(AdvisoryLockKey key) {
		String excess = findExcess("'namespace'", key.namespace(), CHARACTERS_OF_NAMESPACE);
		excess = (excess != null) ? excess : findExcess("'key'", key.name(), CHARACTERS_OF_KEY);
		int bytes = bytes(key.namespace()) + bytes(key.name());
		return (excess != null || bytes <= BYTES) ? excess
				: "'key' and its namespace have " + bytes + " bytes in UTF-8, and the ledger has room for " + BYTES;
	}

	private static @Nullable String findExcess(String what, String text, int room) {
		int characters = text.codePointCount(0, text.length());
		if (characters > room) {
			return what + " has " + characters + " characters, and the ledger has room for " + room;
		}
		return (text.indexOf('\0') >= 0) ? what + " contains NUL, and the ledger has no room for that" : null;
	}

	private static int bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8).length;
	}

}
