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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;

/**
 * Who waits for whom: each that holds something up, with those behind it, and each circle
 * in which nobody can go on.
 */
final class WaitGraph {

	private final Map<Integer, String> names = new TreeMap<>();

	/**
	 * Who waits for a server process, and what for.
	 */
	private final Map<Integer, Map<Integer, String>> waiters = new TreeMap<>();

	private final Map<Integer, List<Integer>> blockers = new LinkedHashMap<>();

	private final Set<Integer> drawn = new LinkedHashSet<>();

	WaitGraph(List<LockDescriptor> locks) {
		for (LockDescriptor lock : locks) {
			lock.holders().forEach((holder) -> this.names.put(holder.pid(), name(holder)));
		}
		for (LockDescriptor lock : locks) {
			for (WaiterDescriptor waiter : lock.waiters()) {
				this.names.putIfAbsent(waiter.pid(),
						Objects.toString(waiter.application(), "") + " (" + waiter.pid() + ")");
				this.blockers.put(waiter.pid(), waiter.blockedBy());
				String what = JobParts.lock(lock)
						+ ((waiter.waiting() != null) ? ", for " + Times.text(waiter.waiting()) : "");
				waiter.blockedBy()
					.forEach((blocker) -> this.waiters.computeIfAbsent(blocker, (pid) -> new TreeMap<>())
						.put(waiter.pid(), what));
			}
		}
	}

	private static String name(HolderDescriptor holder) {
		return JobParts.who(holder) + " (" + holder.pid() + ")";
	}

	Html draw() {
		if (this.waiters.isEmpty()) {
			return View.section("waits", "Who waits for whom", new Html("<p class=\"empty\">Nobody waits.</p>"));
		}
		List<Html> chains = new ArrayList<>();
		for (Integer pid : this.waiters.keySet()) {
			List<Integer> circle = circle(pid);
			if (circle.contains(pid) && !this.drawn.contains(pid)) {
				chains.add(deadlock(circle));
				this.drawn.addAll(circle);
			}
		}
		for (Integer pid : this.waiters.keySet()) {
			if (!this.blockers.containsKey(pid)) {
				chains.add(Html.of("<li>%s <b>%s</b> holds up%s</li>", View.icon("lock"), name(pid), behind(pid)));
			}
		}
		return View.section("waits", "Who waits for whom",
				Html.of("<ul class=\"chains\">%s</ul>", chains.stream().collect(Html.joining())));
	}

	private String name(Integer pid) {
		return this.names.getOrDefault(pid, "server process " + pid);
	}

	private Html behind(Integer pid) {
		this.drawn.add(pid);
		Map<Integer, String> behind = this.waiters.getOrDefault(pid, Map.of());
		return behind.isEmpty() ? Html.NONE
				: Html.of("<ul>%s</ul>",
						Html.each(behind.entrySet(),
								(waiter) -> Html.of("<li>%s <b>%s</b> waits for %s%s</li>", View.icon("waiting"),
										name(waiter.getKey()), waiter.getValue(),
										this.drawn.contains(waiter.getKey()) ? Html.NONE : behind(waiter.getKey()))));
	}

	/**
	 * Return who is waited for in turn, up to who is waited for again.
	 */
	private List<Integer> circle(Integer start) {
		List<Integer> way = new ArrayList<>();
		List<Integer> open = new ArrayList<>(this.blockers.getOrDefault(start, List.of()));
		while (!open.isEmpty()) {
			Integer pid = open.remove(open.size() - 1);
			if (!way.contains(pid)) {
				way.add(pid);
				open.addAll(this.blockers.getOrDefault(pid, List.of()));
			}
		}
		return way;
	}

	private Html deadlock(List<Integer> circle) {
		List<Integer> members = circle.stream().filter((pid) -> circle(pid).contains(pid)).toList();
		return Html.of("<li class=\"deadlock\">%s<ol>%s</ol></li>", View.badge("FAILED", "deadlock"),
				Html.each(members,
						(pid) -> Html.of("<li><b>%s</b> waits for %s</li>", name(pid),
								this.blockers.getOrDefault(pid, List.of())
									.stream()
									.map(this::name)
									.collect(Collectors.joining(", ")))));
	}

}
