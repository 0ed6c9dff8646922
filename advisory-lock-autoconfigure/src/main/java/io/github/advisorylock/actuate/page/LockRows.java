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

package io.github.advisorylock.actuate.page;

import java.util.Locale;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;

/**
 * The table of all advisory locks of the server.
 *
 * @param jobs tells who holds a lock
 */
record LockRows(JobRows jobs) {

	private static final int MOST = 500;

	Html table(AdvisoryLocksDescriptor all) {
		return Html.of("""
				<section id="locks"><details><summary><h2>All advisory locks of the server (%s)</h2></summary>
				<table><thead><tr><th scope="col">Key</th><th scope="col">Number</th><th scope="col">Whose</th>
				<th scope="col">Database</th><th scope="col">Held by</th><th scope="col">Waiting</th></tr></thead>
				<tbody>%s</tbody></table></details></section>
				""", (all.lockCount() > MOST) ? "the first of " + all.lockCount() : all.locks().size(),
				all.locks().stream().limit(MOST).map(this::row).collect(Html.joining()));
	}

	private Html row(LockDescriptor lock) {
		String key = lock.key();
		String namespace = (lock.namespace() != null) ? lock.namespace() : "";
		return Html.of("""
				<tr data-kind="%s"><td data-label="Key">%s</td><td data-label="Number"><code>%s</code>%s</td>
				<td data-label="Whose">%s</td><td data-label="Database">%s</td><td data-label="Held by">%s</td>
				<td data-label="Waiting">%s</td></tr>
				""", lock.kind(), (key != null) ? PageQuery.name(namespace, key) : "", lock.number(),
				lock.shared() ? " shared" : "", lock.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '),
				lock.database(), lock.holders().stream().map(this.jobs::holder).collect(Html.joining()),
				lock.waiters().isEmpty() ? "" : lock.waiters().size());
	}

}
