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

package io.github.advisorylock.actuate;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Comparator;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

/**
 * What tells a job from all others, and what stands for it in addresses. A key may hold
 * anything, and as it is could lead elsewhere: there, it has letters, digits, {@code -}
 * and {@code _} only, behind a sign that tells an id from a key. Jobs are listed in the
 * order of namespace and key.
 *
 * @param namespace the namespace of its key, empty for none
 * @param key the name of its key
 */
record JobId(String namespace, String key) implements Comparable<JobId> {

	private static final Comparator<JobId> ORDER = Comparator.comparing(JobId::namespace).thenComparing(JobId::key);

	private static final String OF_NAME = "~";

	/**
	 * Names of more bytes are those of no job in the ledger, and may be too long for an
	 * address.
	 */
	private static final String OF_HASH = "~~";

	private static final int LONGEST_NAME = 2561;

	static JobId of(AdvisoryLockKey key) {
		return new JobId(key.namespace(), key.name());
	}

	/**
	 * Return whether a text is that of an id rather than a key. Keys that begin as ids do
	 * are addressed by their ids only.
	 */
	static boolean isId(String text) {
		return text.startsWith(OF_NAME);
	}

	/**
	 * Read the text of an id.
	 * @return the id, {@code null} if the text is that of none, or of a hash
	 */
	static @Nullable JobId parse(String text) {
		if (!isId(text) || text.startsWith(OF_HASH)) {
			return null;
		}
		try {
			byte[] bytes = Base64.getUrlDecoder().decode(text.substring(OF_NAME.length()));
			String name = new String(bytes, StandardCharsets.UTF_8);
			int slash = name.indexOf('/');
			JobId id = new JobId(name.substring(0, Math.max(0, slash)), name.substring(slash + 1));
			return id.text().equals(text) ? id : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/**
	 * Return what stands for the job in addresses.
	 */
	String text() {
		byte[] name = (this.namespace + "/" + this.key).getBytes(StandardCharsets.UTF_8);
		Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
		return (name.length <= LONGEST_NAME) ? OF_NAME + encoder.encodeToString(name)
				: OF_HASH + encoder.encodeToString(hash(name));
	}

	private static byte[] hash(byte[] name) {
		try {
			return MessageDigest.getInstance("SHA-256").digest(name);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-256 is missing from this Java runtime", ex);
		}
	}

	@Override
	public int compareTo(JobId other) {
		return ORDER.compare(this, other);
	}

}
