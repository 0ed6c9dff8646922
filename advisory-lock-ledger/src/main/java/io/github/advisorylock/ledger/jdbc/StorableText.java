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

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Text from outside, as the encoding of a database can have it: a statement with another
 * character is refused, and what it was to record would be lost. Not for keys, which must
 * not become those of others.
 */
record StorableText(@Nullable Charset charset) {

	/**
	 * The encodings of one byte whose names Java does not derive, as PostgreSQL calls
	 * them.
	 */
	private static final Map<String, String> CHARSETS = Map.of("LATIN5", "ISO-8859-9", "LATIN7", "ISO-8859-13",
			"LATIN9", "ISO-8859-15", "KOI8R", "KOI8-R", "KOI8U", "KOI8-U", "EUC_JP", "EUC-JP", "EUC_KR", "EUC-KR");

	/**
	 * Return what an encoding can have.
	 * @param encoding what PostgreSQL calls it; of one that Java does not know ASCII is
	 * used, which all have
	 */
	static StorableText in(String encoding) {
		if ("UTF8".equals(encoding) || "SQL_ASCII".equals(encoding)) {
			return new StorableText(null);
		}
		String name = CHARSETS.getOrDefault(encoding,
				encoding.replaceFirst("^WIN", "windows-")
					.replaceFirst("^LATIN(?=[1-4]$)", "ISO-8859-")
					.replace('_', '-'));
		return new StorableText(Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.US_ASCII);
	}

	/**
	 * Make sure that a text which somebody gives is none that no column has room for.
	 */
	static void check(String name, String text, int longest) {
		Assert.isTrue(text.length() <= longest && text.indexOf('\0') < 0,
				() -> "'" + name + "' must have no more than " + longest + " characters, none of them NUL");
	}

	/**
	 * Replace by a question mark what the encoding has not got.
	 */
	String of(String text) {
		return (this.charset != null) ? new String(text.getBytes(this.charset), this.charset) : text;
	}

}
