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

package io.github.advisorylock.documentation;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fenced block of a Markdown document.
 *
 * @param place the file and the line of the opening fence
 * @param language the word after the opening fence, empty when there is none
 * @param use what follows that word: the file that the block is, or the session that
 * types it
 * @param text the lines between the fences
 */
record CodeBlock(String place, String language, String use, String text) {

	private static final Pattern FENCE = Pattern.compile(" *(```+|~~~+) *(\\S*) *(.*)");

	CodeBlock(String place, String language, String text) {
		this(place, language, "", text);
	}

	static List<CodeBlock> parse(String file, String document) {
		List<CodeBlock> blocks = new ArrayList<>();
		List<String> lines = document.lines().toList();
		for (int i = 0; i < lines.size(); i++) {
			Matcher opening = FENCE.matcher(lines.get(i));
			if (opening.matches()) {
				int end = end(lines, i, opening.group(1));
				blocks.add(new CodeBlock(file + ":" + (i + 1), opening.group(2), opening.group(3),
						String.join("\n", lines.subList(i + 1, end))));
				i = end;
			}
		}
		return blocks;
	}

	/**
	 * Return whether an application consists of this block, among others.
	 */
	boolean isFile() {
		return this.use.startsWith("file=");
	}

	String document() {
		return this.place.substring(0, this.place.indexOf(':'));
	}

	private static int end(List<String> lines, int start, String fence) {
		int end = start + 1;
		while (end < lines.size() && !lines.get(end).strip().equals(fence)) {
			end++;
		}
		return end;
	}

	@Override
	public String toString() {
		return this.place + " (" + this.language + ")";
	}

}
