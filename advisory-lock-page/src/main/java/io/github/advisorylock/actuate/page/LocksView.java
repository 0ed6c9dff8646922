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

import java.util.List;
import java.util.Locale;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;

/**
 * The advisory locks of the server, and who waits for whom.
 *
 * @param parts tells of holders
 * @param writable whether there are buttons
 */
record LocksView(JobParts parts, boolean writable) {

	private static final int MOST = 500;

	static View of(View.Context context) {
		AdvisoryLocksDescriptor all = context.source().getActivity(context.showValues());
		return new View("Locks", About.of(all),
				new LocksView(new JobParts(new Times(all.time())), context.writable()).write(all));
	}

	private Html write(AdvisoryLocksDescriptor all) {
		return Html.of("%s%s", new WaitGraph(all.locks(), all.waits()).draw(),
				View.section("locks", "Advisory locks of the server", all.locks().isEmpty()
						? new Html("<p class=\"empty\">Nobody holds an advisory lock.</p>") : table(all)));
	}

	private Html table(AdvisoryLocksDescriptor all) {
		return Html.of("<p>%s</p>%s",
				(all.lockCount() > MOST) ? "the first of " + all.lockCount() : all.locks().size() + " locks",
				View.table("all-locks", "Advisory locks",
						List.of("Key", "Whose", "Held by", "Waiting", "Number", "Database"),
						Html.each(all.locks().stream().limit(MOST).toList(), this::row)));
	}

	private Html row(LockDescriptor lock) {
		String id = lock.id();
		String key = String.valueOf(lock.key());
		Html name = Html.of("%s%s", (id != null) ? JobParts.link(id, key, null) : JobParts.lock(lock),
				Html.with(lock.target(), (method) -> Html.of(" <small>%s</small>", JobParts.shortName(method))));
		return Html.of("<tr data-kind=\"%s\" data-id=\"%s\" data-key=\"%s\"><th scope=\"row\">%s%s</th>%s%s%s%s%s</tr>",
				lock.kind(), (id != null) ? id : lock.number(), JobParts.lock(lock), View.icon("lock"), name,
				View.cell("whose", "Whose", lock.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ')),
				View.cell("holders", "Held by", Html.of("%s%s", this.parts.holders(lock.holders()), free(lock))),
				View.cell("waiting", "Waiting", this.parts.waiters(lock.waiters())),
				View.cell("number", "Number",
						Html.of("<code>%s</code>%s", lock.number(), lock.shared() ? " shared" : "")),
				View.cell("database", "Database", lock.database()));
	}

	private Html free(LockDescriptor lock) {
		boolean held = lock.holders().stream().anyMatch((holder) -> holder.instance() != null);
		return (lock.id() == null || !held || !this.writable) ? Html.NONE
				: JobParts.buttons(List.of(JobParts.button(String.valueOf(lock.key()), "freed", "Free lock")));
	}

}
