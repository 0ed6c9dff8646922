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

package io.github.advisorylock;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.arbitraries.StringArbitrary;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.StringLength;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what is true of every {@link AdvisoryLockKey}.
 */
@PropertyDefaults(edgeCases = EdgeCasesMode.NONE)
class KeyLawTests {

	@Property(seed = "11")
	void numberOfANameIsTheBeginningOfTheHashOfItsText(@ForAll("namespaces") String namespace,
			@ForAll("names") String name) {
		AdvisoryLockKey key = AdvisoryLockKey.of(namespace, name);
		String text = namespace.isEmpty() ? name : namespace + "/" + name;
		assertThat(key.value()).isEqualTo(new BigInteger(hash(text).substring(0, 16), 16).longValue());
		assertThat(key).isEqualTo(AdvisoryLockKey.of(text)).hasSameHashCodeAs(AdvisoryLockKey.of(text));
		assertThat(AdvisoryLockKeyFactory.sha256().createKey(namespace, name)).isEqualTo(key);
	}

	@Property(seed = "11")
	void namespaceAndNameAreWhatTheyWereMadeOf(@ForAll("namespaces") String namespace, @ForAll("names") String name) {
		for (AdvisoryLockKey key : new AdvisoryLockKey[] { AdvisoryLockKeyFactory.sha256().createKey(namespace, name),
				AdvisoryLockKeyFactory.pair().createKey(namespace, name) }) {
			assertThat(key.namespace()).isEqualTo(namespace);
			assertThat(key.name()).isEqualTo(name);
			assertThat(key).hasToString(AdvisoryLockKey.display(namespace.isEmpty() ? name : namespace + "/" + name));
		}
	}

	/**
	 * Of few letters and slashes, so that texts meet which begin and end differently.
	 */
	@Property(seed = "11")
	void namespacesDoNotRunIntoEachOther(@ForAll("shortNamespaces") String namespace, @ForAll("shortNames") String name,
			@ForAll("shortNamespaces") String otherNamespace, @ForAll("shortNames") String otherName) {
		AdvisoryLockKey key = AdvisoryLockKey.of(namespace, name);
		AdvisoryLockKey other = AdvisoryLockKey.of(otherNamespace, otherName);
		assertThat(key.equals(other)).isEqualTo(namespace.equals(otherNamespace) && name.equals(otherName));
	}

	@Property(seed = "11")
	void pairIsHashOfNamespaceAndHashOfName(@ForAll("namespaces") String namespace, @ForAll("names") String name) {
		AdvisoryLockKey key = AdvisoryLockKeyFactory.pair().createKey(namespace, name);
		assertThat(key.isPair()).isTrue();
		assertThat(key).isEqualTo(AdvisoryLockKey.ofPair(firstFourBytes(namespace), firstFourBytes(name)));
	}

	@Property(seed = "11", edgeCases = EdgeCasesMode.MIXIN)
	void halvesOfANumberAreThoseOfThePair(@ForAll long value, @ForAll int classId, @ForAll int objectId) {
		AdvisoryLockKey number = AdvisoryLockKey.ofValue(value);
		ByteBuffer halves = ByteBuffer.allocate(Long.BYTES).putInt(number.classId()).putInt(number.objectId());
		assertThat(halves.getLong(0)).isEqualTo(value).isEqualTo(number.value());
		AdvisoryLockKey pair = AdvisoryLockKey.ofPair(classId, objectId);
		assertThat(pair.classId()).isEqualTo(classId);
		assertThat(pair.objectId()).isEqualTo(objectId);
		assertThat(pair).isNotEqualTo(AdvisoryLockKey.ofValue(pair.value()));
	}

	@Property(seed = "11")
	void tagIsReadInTheBytesOfItsNumber(@ForAll @AlphaChars @StringLength(min = 1, max = 4) String high,
			@ForAll @AlphaChars @StringLength(min = 1, max = 4) String low) {
		byte[] bytes = ByteBuffer.allocate(Long.BYTES).putLong(AdvisoryLockKey.ofTag(high, low).value()).array();
		assertThat(new String(bytes, 0, 4, StandardCharsets.US_ASCII)).isEqualTo(padded(high));
		assertThat(new String(bytes, 4, 4, StandardCharsets.US_ASCII)).isEqualTo(padded(low));
	}

	@Provide
	Arbitrary<String> namespaces() {
		return text().ofMaxLength(20).filter((namespace) -> !namespace.contains("/"));
	}

	@Provide
	Arbitrary<String> names() {
		return text().ofMaxLength(300).filter(StringUtils::hasText);
	}

	@Provide
	Arbitrary<String> shortNamespaces() {
		return Arbitraries.strings().withChars("ab").ofMinLength(1).ofMaxLength(3);
	}

	@Provide
	Arbitrary<String> shortNames() {
		return Arbitraries.strings().withChars("ab/").ofMinLength(1).ofMaxLength(4);
	}

	private static StringArbitrary text() {
		return Arbitraries.strings().withChars("aZ09-_:/ #{}$'\"\u0000\n\u00e9\u05de\u9375");
	}

	private static int firstFourBytes(String text) {
		return new BigInteger(hash(text).substring(0, 8), 16).intValue();
	}

	private static String hash(String text) {
		try {
			return HexFormat.of()
				.formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String padded(String word) {
		return word + "\u0000".repeat(4 - word.length());
	}

}
