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

package io.github.advisorylock.benchmarks;

import java.util.Arrays;
import java.util.Collections;
import java.util.stream.Collectors;

/**
 * A table as the documents have them, to be pasted there.
 */
final class MarkdownTable {

	private final StringBuilder text = new StringBuilder();

	MarkdownTable(String... columns) {
		row((Object[]) columns);
		row(Collections.nCopies(columns.length, "---").toArray());
	}

	void row(Object... cells) {
		this.text.append(Arrays.stream(cells).map(String::valueOf).collect(Collectors.joining(" | ", "| ", " |\n")));
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

}
