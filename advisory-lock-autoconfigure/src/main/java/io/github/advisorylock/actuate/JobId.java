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
import java.util.Base64;
import java.util.Comparator;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

/**
 * What tells a job from all others, and what can stand for it in the path of an address
 * where its key can't: {@code ~} and its namespace, a slash and its key as Base64 that is
 * safe in URLs. Jobs are listed in the order of namespace and key.
 *
 * @param namespace the namespace of its key, empty for none
 * @param key the name of its key
 */
record JobId(String namespace, String key) implements Comparable<JobId> {

	private static final Comparator<JobId> ORDER = Comparator.comparing(JobId::namespace).thenComparing(JobId::key);

	private static final String SIGN = "~";

	static JobId of(AdvisoryLockKey key) {
		return new JobId(key.namespace(), key.name());
	}

	/**
	 * Read what stands in the path of an address. Keys that begin as ids do are addressed
	 * by their ids only.
	 * @param namespace the namespace of a key
	 * @return the job, {@code null} if an id is that of none
	 */
	static @Nullable JobId of(String namespace, String path) {
		if (!path.startsWith(SIGN)) {
			return new JobId(namespace, path);
		}
		try {
			byte[] bytes = Base64.getUrlDecoder().decode(path.substring(SIGN.length()));
			String name = new String(bytes, StandardCharsets.UTF_8);
			int slash = name.indexOf('/');
			JobId id = new JobId(name.substring(0, Math.max(0, slash)), name.substring(slash + 1));
			return id.text().equals(path) ? id : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/**
	 * Return what can stand for the job in an address.
	 */
	String text() {
		byte[] name = (this.namespace + "/" + this.key).getBytes(StandardCharsets.UTF_8);
		return SIGN + Base64.getUrlEncoder().withoutPadding().encodeToString(name);
	}

	@Override
	public int compareTo(JobId other) {
		return ORDER.compare(this, other);
	}

}
