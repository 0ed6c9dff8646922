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

import io.github.advisorylock.ledger.JobName;
import org.jspecify.annotations.Nullable;

/**
 * What stands for a job in addresses. A key may hold anything, and as it is could lead
 * elsewhere: an id has letters, digits, {@code -} and {@code _} only, behind a sign that
 * tells it from a key.
 */
final class JobId {

	private static final String OF_NAME = "~";

	/**
	 * Names of more bytes are those of no job in the ledger, and may be too long for an
	 * address.
	 */
	private static final String OF_HASH = "~~";

	private static final int LONGEST_NAME = 2561;

	private JobId() {
	}

	static String of(JobName name) {
		byte[] text = (name.namespace() + "/" + name.key()).getBytes(StandardCharsets.UTF_8);
		Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();
		return (text.length <= LONGEST_NAME) ? OF_NAME + encoder.encodeToString(text)
				: OF_HASH + encoder.encodeToString(hash(text));
	}

	/**
	 * Return whether a text is an id rather than a key. Keys that begin as ids do are
	 * addressed by their ids only.
	 */
	static boolean isId(String text) {
		return text.startsWith(OF_NAME);
	}

	/**
	 * Return the name that an id stands for.
	 * @return the name, {@code null} if the id is none, or is that of a hash
	 */
	static @Nullable JobName parse(String id) {
		if (!isId(id) || id.startsWith(OF_HASH)) {
			return null;
		}
		try {
			byte[] bytes = Base64.getUrlDecoder().decode(id.substring(OF_NAME.length()));
			String text = new String(bytes, StandardCharsets.UTF_8);
			int slash = text.indexOf('/');
			JobName name = new JobName(text.substring(0, Math.max(0, slash)), text.substring(slash + 1));
			return of(name).equals(id) ? name : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private static byte[] hash(byte[] text) {
		try {
			return MessageDigest.getInstance("SHA-256").digest(text);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-256 is missing from this Java runtime", ex);
		}
	}

}
