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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * A key of PostgreSQL's advisory locks: one 64-bit number, or a pair of 32-bit numbers,
 * with the name it was made from.
 * <p>
 * <b>The number that belongs to a name is a promise</b> across versions of this library
 * and across languages: the text is the name, or {@code namespace + "/" + name} when the
 * namespace is not empty; the key is the first 8 bytes of the SHA-256 of its UTF-8 form,
 * big-endian, as a signed 64-bit integer. In SQL: <pre class="code">
 * ('x' || left(encode(sha256(convert_to(:text, 'UTF8')), 'hex'), 16))::bit(64)::bigint
 * </pre>
 * <p>
 * Two keys are equal when PostgreSQL takes them for the same lock, whatever their names.
 *
 * @since 0.1.0
 * @see <a href=
 * "https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS">PostgreSQL
 * manual, section "Advisory Lock Functions"</a>
 */
public final class AdvisoryLockKey {

	/**
	 * How many may hold a key at a time at most.
	 */
	public static final int MAX_PERMITS = 64;

	private static final Pattern TAG = Pattern.compile("[A-Za-z]{1,4}");

	/**
	 * Characters that can fake a line, turn the direction of what follows, or be seen by
	 * nobody.
	 */
	private static final Pattern DECEPTIVE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]");

	private static final int DISPLAYED_CHARACTERS = 200;

	private final String text;

	private final String name;

	private final boolean pair;

	private final long value;

	private AdvisoryLockKey(String text, String name, boolean pair, long value) {
		this.text = text;
		this.name = name;
		this.pair = pair;
		this.value = value;
	}

	/**
	 * Return the key of a name without a namespace.
	 * @param name the name, of any length but not empty
	 * @return a 64-bit key
	 */
	public static AdvisoryLockKey of(String name) {
		return of("", name);
	}

	/**
	 * Return the key of a name in a namespace.
	 * @param namespace the namespace, empty for none; without a slash, so that no two
	 * pairs of namespace and name have the same text
	 * @param name the name, of any length but not empty
	 * @return a 64-bit key
	 */
	public static AdvisoryLockKey of(String namespace, String name) {
		String text = text(namespace, name);
		return new AdvisoryLockKey(text, name, false, sha256(text).getLong());
	}

	/**
	 * Return the key with the given number, as a worker in another language may use it.
	 * @param value the number
	 * @return a 64-bit key
	 */
	public static AdvisoryLockKey ofValue(long value) {
		String text = Long.toString(value);
		return new AdvisoryLockKey(text, text, false, value);
	}

	/**
	 * Return the key with the given pair of numbers. Pairs and 64-bit numbers never
	 * collide.
	 * @param classId the first number
	 * @param objectId the second number
	 * @return a pair key
	 */
	public static AdvisoryLockKey ofPair(int classId, int objectId) {
		String text = "(" + classId + ", " + objectId + ")";
		return new AdvisoryLockKey(text, text, true, combine(classId, objectId));
	}

	/**
	 * Return a key whose number spells two short words, so that it can be read in
	 * {@code pg_locks}: each word is one half of the number, its letters from the highest
	 * byte down, the rest zero.
	 * @param high the first word, one to four ASCII letters
	 * @param low the second word, one to four ASCII letters
	 * @return a 64-bit key
	 */
	public static AdvisoryLockKey ofTag(String high, String low) {
		String text = high + "-" + low;
		return new AdvisoryLockKey(text, text, false, combine(tag("high", high), tag("low", low)));
	}

	static AdvisoryLockKey pairOf(String namespace, String name) {
		String text = text(namespace, name);
		return new AdvisoryLockKey(text, name, true, combine(sha256(namespace).getInt(), sha256(name).getInt()));
	}

	/**
	 * Return the namespace that the key was made in.
	 * @return the namespace, empty if there is none
	 */
	public String namespace() {
		return this.text.substring(0, Math.max(0, this.text.length() - this.name.length() - 1));
	}

	/**
	 * Return the name of the key in its namespace.
	 * @return the name, or the numbers as text when the key was not made from a name
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Return the key as one number.
	 * @return the number of a 64-bit key; of a pair, {@link #classId()} in the high and
	 * {@link #objectId()} in the low half
	 */
	public long value() {
		return this.value;
	}

	/**
	 * Return whether PostgreSQL is asked for a pair of 32-bit numbers.
	 * @return {@code true} for a pair, {@code false} for a 64-bit number
	 */
	public boolean isPair() {
		return this.pair;
	}

	/**
	 * Return the first number of a pair, or the high half of a 64-bit key.
	 * @return what {@code pg_locks} shows as {@code classid}, signed
	 */
	public int classId() {
		return (int) (this.value >> Integer.SIZE);
	}

	/**
	 * Return the second number of a pair, or the low half of a 64-bit key.
	 * @return what {@code pg_locks} shows as {@code objid}, signed
	 */
	public int objectId() {
		return (int) this.value;
	}

	/**
	 * Return the key of one of the locks of which a holder needs any, where several may
	 * hold this key at a time: that of the first is this key itself, and the others
	 * follow from its number, whatever its name. As the keys of {@code n} permits are the
	 * first of those of {@code n + 1}, whoever asks for fewer never adds to what the
	 * others allow.
	 * <p>
	 * <b>The number of a permit is a promise</b> as that of a name is. Of a 64-bit key it
	 * is that of the name {@code advisory-lock:permit:<permit>:<number>}, without a
	 * namespace. Of a pair the first number stays, and the second one is the first 4
	 * bytes of the SHA-256 of
	 * {@code advisory-lock:permit:<permit>:<first number>,<second number>}. No request
	 * can ask for such a name.
	 * @param permit which permit, from 1 to {@value #MAX_PERMITS}
	 * @return its key, which is displayed as this one
	 */
	public AdvisoryLockKey permit(int permit) {
		checkPermits("permit", permit);
		if (permit == 1) {
			return this;
		}
		String start = LockRequest.OWN_PREFIX + "permit:" + permit + ":";
		long number = this.pair ? combine(classId(), sha256(start + classId() + "," + objectId()).getInt())
				: sha256(start + this.value).getLong();
		return new AdvisoryLockKey(this.text, this.name, this.pair, number);
	}

	static void checkPermits(String parameter, int permits) {
		if (permits < 1 || permits > MAX_PERMITS) {
			throw new IllegalArgumentException("'" + parameter + "' must be from 1 to " + MAX_PERMITS + ": " + permits);
		}
	}

	/**
	 * Return a name as it can be shown to somebody: bounded, and on one line. Names may
	 * come from outside, and must not be able to fill a log, to fake a line of it or to
	 * pass for another name. What is locked is the whole name.
	 * @param text the name of a key, or another text that somebody else chose
	 * @return the text; control, format and line-separating characters are question
	 * marks, and of more than 200 characters the first ones are followed by the length
	 * and a hash, so that two such texts can be told apart
	 */
	public static String display(String text) {
		if (text.length() <= DISPLAYED_CHARACTERS) {
			return printable(text);
		}
		return printable(text.substring(0, DISPLAYED_CHARACTERS)) + "... (" + text.length() + " characters, hash "
				+ Integer.toHexString(text.hashCode()) + ")";
	}

	/**
	 * Return a message as it can be shown to somebody, whatever names are in it: on one
	 * line.
	 * @param message a message with texts that somebody else chose
	 * @return the message; control, format and line-separating characters are question
	 * marks
	 */
	public static String printable(String message) {
		for (int i = 0; i < message.length(); i++) {
			// each run is logged with its key: nearly all of them are plain
			if (message.charAt(i) < ' ' || message.charAt(i) > '~') {
				return DECEPTIVE.matcher(message).replaceAll("?");
			}
		}
		return message;
	}

	private static String text(String namespace, String name) {
		Assert.notNull(namespace, "'namespace' must not be null");
		Assert.hasText(name, "'name' must not be empty");
		if (namespace.indexOf('/') >= 0) {
			throw new IllegalArgumentException("'namespace' must not contain a slash: '" + display(namespace) + "'");
		}
		return namespace.isEmpty() ? name : namespace + "/" + name;
	}

	private static int tag(String parameter, String word) {
		if (!TAG.matcher(word).matches()) {
			throw new IllegalArgumentException("'" + parameter + "' must be one to four ASCII letters: '" + word + "'");
		}
		byte[] bytes = new byte[Integer.BYTES];
		byte[] letters = word.getBytes(StandardCharsets.US_ASCII);
		System.arraycopy(letters, 0, bytes, 0, letters.length);
		return ByteBuffer.wrap(bytes).getInt();
	}

	private static long combine(int high, int low) {
		return ((long) high << Integer.SIZE) | (low & 0xFFFFFFFFL);
	}

	private static ByteBuffer sha256(String text) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			return ByteBuffer.wrap(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-256 is missing from this Java runtime", ex);
		}
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other
				|| (other instanceof AdvisoryLockKey that && this.pair == that.pair && this.value == that.value);
	}

	@Override
	public int hashCode() {
		return Long.hashCode(this.value);
	}

	/**
	 * Return the key as it stands in logs and messages.
	 * @return the {@linkplain #display displayed} name, behind its namespace and a slash
	 * when it has one
	 */
	@Override
	public String toString() {
		return display(this.text);
	}

}
