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

package io.github.advisorylock.ledger.jdbc;

import java.nio.charset.StandardCharsets;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

/**
 * What tells a job from all others.
 *
 * @param namespace the namespace of its key, empty for none
 * @param key the name of its key
 * @since 0.1.0
 */
public record JobName(String namespace, String key) {

	/*
	 * Limited here rather than by the columns, which count characters or bytes as the
	 * encoding of the database says; what counts for the index of a table are bytes, and
	 * those can't always be compressed.
	 */
	private static final int CHARACTERS_OF_KEY = 512;

	private static final int CHARACTERS_OF_NAMESPACE = 255;

	private static final int BYTES = 2560;

	/**
	 * Return the name of the job that is locked by a key.
	 * @param key the key
	 * @return its name
	 */
	public static JobName of(AdvisoryLockKey key) {
		return new JobName(key.namespace(), key.name());
	}

	/**
	 * Read a name that begins with a namespace.
	 * @return the name, or {@code null} if the text has no namespace
	 */
	static @Nullable JobName parse(String text) {
		int slash = text.indexOf('/');
		return (slash > 0 && slash < text.length() - 1)
				? new JobName(text.substring(0, slash), text.substring(slash + 1)) : null;
	}

	/**
	 * Find out why runs of this job can't be recorded.
	 * @return what the ledger has no room for, or {@code null} if there is room
	 */
	public @Nullable String findExcess() {
		String excess = findExcess("'namespace'", this.namespace, CHARACTERS_OF_NAMESPACE);
		excess = (excess != null) ? excess : findExcess("'key'", this.key, CHARACTERS_OF_KEY);
		int bytes = (this.namespace + this.key).getBytes(StandardCharsets.UTF_8).length;
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

	/**
	 * Return the text of this name, as its {@linkplain AdvisoryLockKey#toString() key}
	 * has it.
	 */
	@Override
	public String toString() {
		return this.namespace.isEmpty() ? this.key : this.namespace + "/" + this.key;
	}

}
