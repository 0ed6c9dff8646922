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

import java.time.Duration;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;

/**
 * The instances: those that live, and those that went away and how.
 *
 * @param times tells times
 */
record InstancesView(Times times) {

	private static final List<String> LABELS = List.of("Instance", "State", "Since", "Last seen", "Version", "Clock",
			"Locks", "Leads");

	private static final Duration TOLERATED_SKEW = Duration.ofSeconds(5);

	static View of(View.Context context) {
		AdvisoryLocksDescriptor all = context.source().getActivity(context.showValues());
		return new View("Instances", About.of(all), new InstancesView(new Times(all.time())).write(all));
	}

	private Html write(AdvisoryLocksDescriptor all) {
		if (all.instances().isEmpty()) {
			return Html.of("<p class=\"empty\">%s</p>",
					all.ledger() ? "No instance has made itself known yet: each does once a minute."
							: "Instances make themselves known in the ledger, which is not in use.");
		}
		return View.table("instances", "Instances", LABELS, Html.each(all.instances(), this::row));
	}

	private Html row(InstanceDescriptor one) {
		return Html.of(
				"<tr data-instance=\"%s\" data-state=\"%s\"><th scope=\"row\" class=\"instance\">%s</th>%s%s%s%s%s%s%s</tr>",
				one.instance(), one.state(), one.instance(),
				View.cell("state", "State", Html
					.of("%s%s", View.badge(one.state(), one.state()), Html.with(one.endedAt(),
							(end) -> Html.of(" <small>%s ago, %s</small>", this.times.since(end), how(one.state()))))),
				View.cell("count", "Since", this.times.at(one.startedAt())),
				View.cell("count", "Last seen", this.times.since(one.seenAt()) + " ago"),
				View.cell("version", "Version",
						Html.of("%s%s", one.version(),
								Html.with(one.library(), (library) -> Html.of(" <small>library %s</small>", library)))),
				View.cell("clock", "Clock", Html.with(one.clockSkew(), InstancesView::skew)),
				View.cell("count", "Locks", one.locks()), View.cell("leads", "Leads", Html.each(one.leaderOf(),
						(role) -> Html.of("%s %s ", View.icon("leader"), AdvisoryLockKey.display(role)))));
	}

	private static String how(String state) {
		return state.equals("stopped") ? "in order" : "without a word: killed, or cut off from the database";
	}

	private static Html skew(Duration skew) {
		String text = skew.isZero() ? "right" : Times.text(skew.abs()) + (skew.isNegative() ? " ahead" : " behind");
		return (skew.abs().compareTo(TOLERATED_SKEW) > 0) ? View.badge("CLOCK_SKEW", text) : Html.of("%s", text);
	}

}
