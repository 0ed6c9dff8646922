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

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import io.github.advisorylock.jdbc.ApplicationName;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockNumber;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a moment, with the names of those whose key is known: PostgreSQL has
 * numbers only.
 */
final class LockTable {

	private final LockActivity activity;

	private final Map<LockNumber, List<LockActivity.Entry>> here;

	private final UnaryOperator<@Nullable String> redaction;

	private final Map<LockNumber, KnownLock> known = new HashMap<>();

	LockTable(LockActivity activity, UnaryOperator<@Nullable String> redaction) {
		this.activity = activity;
		this.here = activity.entries()
			.stream()
			.filter(this::isHere)
			.collect(Collectors.groupingBy(LockActivity.Entry::number));
		this.redaction = redaction;
	}

	/**
	 * Let a lock have a name.
	 * @param key its key
	 * @param kind whose it is
	 * @param run the last run under it, if there is one
	 */
	void name(AdvisoryLockKey key, Kind kind, @Nullable RunDescriptor run) {
		this.known.putIfAbsent(LockNumber.of(key), new KnownLock(key, kind, run));
	}

	/**
	 * Find the names of locks by those of their holders. A name that is not the one of
	 * the number, because it was cut or the key has another namespace, is left out.
	 */
	void nameByHolders(String namespace, AdvisoryLockKeyFactory keyFactory) {
		for (LockActivity.Entry entry : this.activity.entries()) {
			ApplicationName holder = entry.holderName();
			if (holder != null && isHere(entry) && !this.known.containsKey(entry.number())
					&& !holder.subject().isBlank()) {
				AdvisoryLockKey key = keyFactory.createKey(namespace, holder.subject());
				if (LockNumber.of(key).equals(entry.number())) {
					name(key, Kind.JOB, null);
				}
			}
		}
	}

	/**
	 * Return the moment, by the database's clock.
	 */
	Instant time() {
		return this.activity.time();
	}

	List<HolderDescriptor> holders(AdvisoryLockKey key) {
		return holders(this.here.getOrDefault(LockNumber.of(key), List.of()));
	}

	List<WaiterDescriptor> waiters(AdvisoryLockKey key) {
		return waiters(this.here.getOrDefault(LockNumber.of(key), List.of()));
	}

	List<LockDescriptor> all() {
		Map<Object, List<LockActivity.Entry>> locks = this.activity.entries()
			.stream()
			.collect(Collectors.groupingBy((entry) -> List.of(entry.database(), entry.number()), LinkedHashMap::new,
					Collectors.toList()));
		return locks.values().stream().map(this::describe).toList();
	}

	private LockDescriptor describe(Collection<LockActivity.Entry> entries) {
		LockActivity.Entry first = entries.iterator().next();
		KnownLock lock = isHere(first) ? this.known.get(first.number()) : null;
		return new LockDescriptor((lock != null) ? lock.kind() : kind(entries),
				(lock != null) ? lock.key().name() : null, (lock != null) ? lock.key().namespace() : null,
				(lock != null && lock.kind() == Kind.JOB) ? JobId.of(lock.key()).text() : null,
				first.number().toString(), first.database(), first.shared(), holders(entries), waiters(entries));
	}

	private Kind kind(Collection<LockActivity.Entry> entries) {
		if (!isHere(entries.iterator().next())) {
			return Kind.OTHER_DATABASE;
		}
		return entries.stream().anyMatch((entry) -> entry.holderName() != null) ? Kind.UNNAMED : Kind.FOREIGN;
	}

	private List<HolderDescriptor> holders(Collection<LockActivity.Entry> entries) {
		return entries.stream().filter(LockActivity.Entry::granted).map(this::holder).toList();
	}

	private List<WaiterDescriptor> waiters(Collection<LockActivity.Entry> entries) {
		return entries.stream().filter((entry) -> !entry.granted()).map(this::waiter).toList();
	}

	private HolderDescriptor holder(LockActivity.Entry entry) {
		KnownLock lock = isHere(entry) ? this.known.get(entry.number()) : null;
		RunDescriptor run = (lock != null) ? lock.running() : null;
		ApplicationName name = entry.holderName();
		String instance = (name != null) ? fullName(name, run) : null;
		Instant since = (run != null && run.instance().equals(instance)) ? run.startedAt() : entry.transactionStart();
		return new HolderDescriptor(instance, entry.pid(), since, entry.application(), entry.user(), entry.client(),
				entry.state(), this.redaction.apply(entry.query()));
	}

	private static String fullName(ApplicationName name, @Nullable RunDescriptor run) {
		if (InstanceName.get().endsWith(name.instance())) {
			return InstanceName.get();
		}
		return (run != null && run.instance().endsWith(name.instance())) ? run.instance() : name.instance();
	}

	private WaiterDescriptor waiter(LockActivity.Entry entry) {
		Instant since = entry.waitingSince();
		return new WaiterDescriptor(entry.pid(), since,
				(since != null) ? Duration.between(since, this.activity.time()) : null, entry.blockedBy(),
				entry.application(), entry.user(), entry.client());
	}

	private boolean isHere(LockActivity.Entry entry) {
		return entry.database().equals(this.activity.database());
	}

	/**
	 * A lock whose key is known.
	 */
	private record KnownLock(AdvisoryLockKey key, Kind kind, @Nullable RunDescriptor run) {

		@Nullable RunDescriptor running() {
			return (this.run != null && this.run.finishedAt() == null) ? this.run : null;
		}

	}

}
