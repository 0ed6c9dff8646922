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

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;

/**
 * Who leads which role, and who would take over.
 *
 * @param times tells times
 */
record LeadersView(Times times) {

	private static final List<String> LABELS = List.of("Role", "Leader", "Since", "Term", "Would take over");

	static View of(View.Context context) {
		AdvisoryLocksDescriptor all = context.source().getActivity(context.showValues());
		return new View("Leaders", About.of(all), new LeadersView(new Times(all.time())).write(all));
	}

	private Html write(AdvisoryLocksDescriptor all) {
		return all.leaders().isEmpty()
				? new Html("<p class=\"empty\">There are no roles with a leader: see @LeaderOnly.</p>")
				: Html.of(
						"<p class=\"note\">A term is a number that is higher than that of all leaders before; numbers in between "
								+ "went to runs of jobs.</p>%s",
						View.table("leaders", "Leaders", LABELS, Html.each(all.leaders(), this::row)));
	}

	private Html row(LeaderDescriptor leader) {
		return Html.of("<tr data-role=\"%s\"><th scope=\"row\">%s%s</th>%s%s%s%s</tr>", leader.role(),
				View.icon("leader"), AdvisoryLockKey.display(leader.role()),
				View.cell("instance", "Leader",
						(leader.instance() != null) ? leader.instance() : View.badge("failing", "nobody leads")),
				View.cell("count", "Since", Html.with(leader.since(),
						(since) -> Html.of("%s <small>for %s</small>", this.times.at(since), this.times.since(since)))),
				View.cell("count", "Term", leader.term()),
				View.cell("waiting", "Would take over", leader.waiting().isEmpty() ? "nobody" : Html
					.each(leader.waiting(), (instance) -> Html.of("<span class=\"holder\">%s</span>", instance))));
	}

}
