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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.SessionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaitDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for whom: each that holds something up, with those behind it, and each circle
 * in which nobody can go on.
 */
final class WaitGraph {

	private final Map<Integer, Html> names = new TreeMap<>();

	/**
	 * Who waits for a server process, and what for.
	 */
	private final Map<Integer, Map<Integer, String>> waiters = new TreeMap<>();

	private final Map<Integer, List<Integer>> blockers = new LinkedHashMap<>();

	private final Set<Integer> drawn = new LinkedHashSet<>();

	WaitGraph(List<LockDescriptor> locks, List<WaitDescriptor> waits) {
		nameHolders(locks);
		for (WaitDescriptor wait : waits) {
			name(wait.waiter());
			wait.blockers().forEach(this::name);
			add(wait.waiter().pid(), wait.blockers().stream().map(SessionDescriptor::pid).toList(), wait.lock(),
					wait.waiting());
		}
		for (LockDescriptor lock : locks) {
			for (WaiterDescriptor waiter : lock.waiters()) {
				this.names.putIfAbsent(waiter.pid(), process(Objects.toString(waiter.application(), ""), waiter.pid()));
				add(waiter.pid(), waiter.blockedBy(), JobParts.lock(lock), waiter.waiting());
			}
		}
	}

	/**
	 * Whoever holds the lock of one job runs it. Several are on the connection that
	 * carries the session locks of an instance.
	 */
	private void nameHolders(List<LockDescriptor> locks) {
		Map<Integer, List<LockDescriptor>> jobs = new LinkedHashMap<>();
		for (LockDescriptor lock : locks) {
			for (HolderDescriptor holder : lock.holders()) {
				List<LockDescriptor> held = jobs.computeIfAbsent(holder.pid(), (pid) -> new ArrayList<>());
				if (lock.kind() == Kind.JOB) {
					held.add(lock);
				}
				Html process = process(JobParts.who(holder), holder.pid());
				this.names.put(holder.pid(),
						(held.size() == 1) ? Html.of("%s on %s", job(held.get(0)), process) : process);
			}
		}
	}

	private static Html job(LockDescriptor lock) {
		return job(lock.id(), JobParts.lock(lock), lock.target());
	}

	private static Html job(@Nullable String id, String name, @Nullable String target) {
		return Html.of("%s%s", (id != null) ? JobParts.link(id, name, null) : name,
				Html.with(target, (method) -> Html.of(" <small>%s</small>", JobParts.shortName(method))));
	}

	private void name(SessionDescriptor session) {
		String key = session.key();
		Html process = process(
				(session.instance() != null) ? session.instance() : Objects.toString(session.application(), ""),
				session.pid());
		String name = (key != null) ? JobParts.name(Objects.toString(session.namespace(), ""), key) : null;
		this.names.putIfAbsent(session.pid(),
				(name != null) ? Html.of("%s on %s", job(session.id(), name, session.target()), process) : process);
	}

	private static Html process(String name, int pid) {
		return (pid == 0) ? Html.of("%s", name.startsWith("prepared") ? name : "a prepared transaction")
				: Html.of("%s (%s)", name, pid);
	}

	private void add(int pid, List<Integer> blockedBy, String lock, @Nullable Duration waiting) {
		this.blockers.put(pid, blockedBy);
		String what = lock + ((waiting != null) ? ", for " + Times.text(waiting) : "");
		blockedBy
			.forEach((blocker) -> this.waiters.computeIfAbsent(blocker, (absent) -> new TreeMap<>()).put(pid, what));
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

	private Html name(Integer pid) {
		return this.names.getOrDefault(pid, process("server process", pid));
	}

	private String what(Integer waiter, Integer blocker) {
		return this.waiters.getOrDefault(blocker, Map.of()).getOrDefault(waiter, "a lock");
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
						(pid) -> Html.of("<li><b>%s</b> waits for%s</li>", name(pid),
								this.blockers.getOrDefault(pid, List.of())
									.stream()
									.map((blocker) -> Html.of(" %s of %s", what(pid, blocker), name(blocker)))
									.collect(Html.joining()))));
	}

}
