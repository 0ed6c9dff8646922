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

package io.github.advisorylock.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * What tells a job from all others.
 *
 * @param namespace the namespace of its key, empty for none
 * @param key the name of its key
 */
record JobName(String namespace, String key) {

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
	 * Return the text of this name, as its
	 * {@linkplain io.github.advisorylock.AdvisoryLockKey#toString() key} has it.
	 */
	@Override
	public String toString() {
		return this.namespace.isEmpty() ? this.key : this.namespace + "/" + this.key;
	}

}
