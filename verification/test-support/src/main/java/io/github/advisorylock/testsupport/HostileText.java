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

package io.github.advisorylock.testsupport;

import java.util.List;
import java.util.Random;

/**
 * Texts that break what is careless, made from a seed, so that a failure can be had
 * again.
 */
public final class HostileText {

	private static final List<String> PIECES = List.of("..", "/", "//", "../../shutdown", ";", "%", "%2f", "%00", "%2e",
			"\\", "\u0000", "\n", "\r\n", "\u2028", "\u202e", "\ufeff", "\ud800", "\udc00", "\ud83c\udfe2", "'", "\"",
			"<script>", "&amp;", "#{#id}", "${x}", "${", "#{", "T(java.lang.Runtime)", "?", "#", "~", "~~", ":", " ",
			"\t", "leader:", "advisory-lock:", "shop/", "report", "-1", "0", "1", "9223372036854775807",
			"P106751991168D", "1ns", "1e400", "5s", "PT5S", "P1D", "-5s", "true", "null", "[]", "{}", "[0]", ",", "=",
			"$1", "--", "/*", "\u00e9", "\u4e2d", "\u0130", "{jndi:ldap://x}", "%s%n", "jdbc:postgresql://u:p@h/d");

	private final Random random;

	public HostileText(long seed) {
		this.random = new Random(seed);
	}

	/**
	 * Return a text of a few pieces, seldom a long one.
	 */
	public String next() {
		StringBuilder text = new StringBuilder();
		int pieces = this.random.nextInt(6);
		for (int i = 0; i < pieces; i++) {
			text.append((this.random.nextInt(4) == 0) ? Character.toString(this.random.nextInt(0x3000)) : pick(PIECES));
		}
		return (this.random.nextInt(200) == 0) ? text.toString().repeat(1 + this.random.nextInt(400)) : text.toString();
	}

	/**
	 * Return one of some values.
	 */
	public <T> T pick(List<T> values) {
		return values.get(this.random.nextInt(values.size()));
	}

	public int nextInt(int bound) {
		return this.random.nextInt(bound);
	}

}
