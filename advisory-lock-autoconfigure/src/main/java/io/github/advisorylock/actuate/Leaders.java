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

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.InstanceDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LeaderDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedInstance;
import io.github.advisorylock.actuate.JobRegistry.RecordedRole;
import org.jspecify.annotations.Nullable;

/**
 * The leaders of roles: those who hold the lock of one lead it, and what an instance says
 * of its term holds as long as it does.
 */
final class Leaders {

	private final GuardedApplication application;

	private final List<RecordedInstance> instances;

	private final Set<String> roles;

	/**
	 * Look for the leaders of the roles of this instance, and of those of others.
	 */
	Leaders(GuardedApplication application, List<RecordedInstance> instances) {
		this.application = application;
		this.instances = instances.stream().filter(Leaders::isAlive).toList();
		this.roles = new TreeSet<>(application.roles().get());
		this.instances.forEach((instance) -> instance.roles().forEach((role) -> this.roles.add(role.name())));
	}

	private static boolean isAlive(RecordedInstance instance) {
		return instance.instance().state().equals("alive");
	}

	/**
	 * Return the keys of the locks of the roles.
	 */
	List<AdvisoryLockKey> keys() {
		return this.roles.stream().map(this::key).toList();
	}

	private AdvisoryLockKey key(String role) {
		return this.application.keyFactory().createKey(this.application.namespace(), LeaderElection.KEY_PREFIX + role);
	}

	List<LeaderDescriptor> describe(LockTable locks) {
		return this.roles.stream().map((role) -> describe(role, locks)).toList();
	}

	private LeaderDescriptor describe(String role, LockTable locks) {
		HolderDescriptor holder = locks.holders(List.of(key(role)), null).stream().findFirst().orElse(null);
		String name = (holder != null) ? holder.instance() : null;
		RecordedRole led = this.instances.stream()
			.filter((instance) -> instance.instance().instance().equals(name))
			.findFirst()
			.map((instance) -> role(instance, role))
			.orElse(null);
		List<String> waiting = this.instances.stream()
			.filter((instance) -> !instance.instance().instance().equals(name) && role(instance, role) != null
					&& instance.instance().drainedAt() == null)
			.map((instance) -> instance.instance().instance())
			.toList();
		return new LeaderDescriptor(role, this.application.namespace(), name, (holder != null) ? holder.pid() : null,
				(led != null) ? led.term() : null, (led != null) ? led.since() : null, waiting);
	}

	private static @Nullable RecordedRole role(RecordedInstance instance, String name) {
		return instance.roles().stream().filter((role) -> role.name().equals(name)).findFirst().orElse(null);
	}

	/**
	 * Return instances with the roles that they lead.
	 */
	static List<InstanceDescriptor> describe(List<RecordedInstance> instances, List<LeaderDescriptor> leaders) {
		return instances.stream()
			.map((one) -> one.instance()
				.leading(leaders.stream()
					.filter((leader) -> isAlive(one) && one.instance().instance().equals(leader.instance()))
					.map(LeaderDescriptor::role)
					.toList()))
			.toList();
	}

}
