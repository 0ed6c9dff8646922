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

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import io.github.advisorylock.jdbc.server.ApplicationName;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

/**
 * Who has the locks of this database at a moment, and who waits for them.
 */
final class LockTable {

	private final LockActivity activity;

	private final Map<LockNumber, List<LockActivity.Entry>> entries;

	private final Collection<String> instances;

	private final UnaryOperator<@Nullable String> redaction;

	/**
	 * Create a table.
	 * @param instances the full names of instances, of which connections have the end
	 * @param redaction hides values in statements
	 */
	LockTable(LockActivity activity, Collection<String> instances, UnaryOperator<@Nullable String> redaction) {
		this.activity = activity;
		this.entries = activity.entries()
			.stream()
			.filter((entry) -> entry.database().equals(activity.database()))
			.collect(Collectors.groupingBy(LockActivity.Entry::number));
		this.instances = instances;
		this.redaction = redaction;
	}

	/**
	 * Return the moment, by the database's clock.
	 */
	Instant time() {
		return this.activity.time();
	}

	/**
	 * Return who has a lock.
	 * @param keys the key, or all its permits
	 * @param lastRun the last run under it that is recorded
	 */
	List<HolderDescriptor> holders(List<AdvisoryLockKey> keys, @Nullable RunDescriptor lastRun) {
		RunDescriptor open = (lastRun != null && lastRun.finishedAt() == null) ? lastRun : null;
		return entries(keys).filter(LockActivity.Entry::granted)
			.map((entry) -> holder(entry, keys.get(0).namespace(), open))
			.toList();
	}

	List<WaiterDescriptor> waiters(List<AdvisoryLockKey> keys) {
		return entries(keys).filter((entry) -> !entry.granted())
			.map((entry) -> new WaiterDescriptor(entry.pid(), entry.waitingSince(), entry.blockedBy(),
					entry.application(), entry.user(), entry.client()))
			.toList();
	}

	private Stream<LockActivity.Entry> entries(List<AdvisoryLockKey> keys) {
		return keys.stream().flatMap((key) -> this.entries.getOrDefault(LockNumber.of(key), List.of()).stream());
	}

	private HolderDescriptor holder(LockActivity.Entry entry, String namespace, @Nullable RunDescriptor open) {
		ApplicationName name = entry.holderName();
		String instance = (name != null) ? fullName(name.instance(), open) : null;
		boolean isSession = name != null && name.isSession(namespace);
		Instant since = (open != null && open.instance().equals(instance)) ? open.startedAt()
				: isSession ? null : entry.transactionStart();
		return new HolderDescriptor(instance, entry.pid(), since, entry.application(), entry.user(), entry.client(),
				entry.state(), this.redaction.apply(entry.query()));
	}

	private String fullName(String end, @Nullable RunDescriptor open) {
		return Stream.concat(Stream.ofNullable(open).map(RunDescriptor::instance), this.instances.stream())
			.filter((name) -> name.endsWith(end))
			.findFirst()
			.orElse(end);
	}

}
