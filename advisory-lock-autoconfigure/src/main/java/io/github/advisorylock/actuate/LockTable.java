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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.HolderDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.Kind;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.LockDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.SessionDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaitDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.WaiterDescriptor;
import io.github.advisorylock.actuate.JobRegistry.RecordedLock;
import io.github.advisorylock.jdbc.ApplicationName;
import io.github.advisorylock.jdbc.InstanceName;
import io.github.advisorylock.monitor.LockActivity;
import io.github.advisorylock.monitor.LockNumber;
import io.github.advisorylock.monitor.LockWaits;
import io.github.advisorylock.monitor.LockWaits.Session;
import io.github.advisorylock.monitor.LockWaits.Wait;
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
		name(key, kind, run, null);
	}

	/**
	 * Let a lock have a name.
	 * @param key its key
	 * @param kind whose it is
	 * @param run the last run under it, if there is one
	 * @param target its method, if that is known
	 */
	void name(AdvisoryLockKey key, Kind kind, @Nullable RunDescriptor run, @Nullable String target) {
		RunDescriptor open = (run != null && run.finishedAt() == null) ? run : null;
		this.known.putIfAbsent(LockNumber.of(key), new KnownLock(JobId.of(key), kind, kind == Kind.JOB, target,
				(open != null) ? open.instance() : null, (open != null) ? open.startedAt() : null));
	}

	/**
	 * Let locks that this instance holds have the names of their keys: nobody else knows
	 * those of keys that are not recorded. There is no job to look at.
	 */
	void nameHolds(Collection<AdvisoryLockKey> keys) {
		keys.forEach((key) -> this.known.putIfAbsent(LockNumber.of(key),
				new KnownLock(JobId.of(key), Kind.JOB, false, null, InstanceName.get(), null)));
	}

	/**
	 * Return the entries of those locks here whose key is not known.
	 */
	Set<String> unnamed() {
		return this.here.keySet()
			.stream()
			.filter((number) -> !this.known.containsKey(number))
			.map(LockNumber::entry)
			.collect(Collectors.toSet());
	}

	/**
	 * Let locks have the names that are recorded.
	 */
	void nameOwners(List<RecordedLock> owners) {
		Map<String, RecordedLock> byEntry = owners.stream()
			.collect(Collectors.toMap(RecordedLock::lock, Function.identity(), (one, same) -> one));
		for (LockNumber number : this.here.keySet()) {
			RecordedLock owner = byEntry.get(number.entry());
			if (owner != null) {
				this.known.putIfAbsent(number,
						new KnownLock(owner.id(), Kind.JOB, true, owner.target(), owner.instance(), owner.startedAt()));
			}
		}
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
		return new LockDescriptor((lock != null) ? lock.kind() : kind(entries), (lock != null) ? lock.id().key() : null,
				(lock != null) ? lock.id().namespace() : null,
				(lock != null && lock.listed()) ? lock.id().text() : null, (lock != null) ? lock.target() : null,
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
		ApplicationName name = entry.holderName();
		String runner = (lock != null) ? lock.runner() : null;
		String instance = (name != null) ? fullName(name, runner) : null;
		Instant since = (lock != null && lock.since() != null && Objects.equals(runner, instance)) ? lock.since()
				: entry.transactionStart();
		return new HolderDescriptor(instance, entry.pid(), since, entry.application(), entry.user(), entry.client(),
				entry.state(), this.redaction.apply(entry.query()));
	}

	private static String fullName(ApplicationName name, @Nullable String runner) {
		if (InstanceName.get().endsWith(name.instance())) {
			return InstanceName.get();
		}
		return (runner != null && runner.endsWith(name.instance())) ? runner : name.instance();
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
	 * Tell of waits for other locks: those of sessions of this application, and of all
	 * who are in one chain with them.
	 */
	List<WaitDescriptor> waits(LockWaits waits) {
		Set<Integer> ours = new HashSet<>();
		waits.sessions().values().stream().filter(Session::own).forEach((session) -> ours.add(session.pid()));
		this.activity.entries()
			.stream()
			.filter((entry) -> entry.holderName() != null)
			.forEach((entry) -> ours.add(entry.pid()));
		List<Wait> chained = waits.waits();
		int before;
		do {
			before = ours.size();
			chained.stream().filter((wait) -> touches(wait, ours)).forEach((wait) -> {
				ours.add(wait.pid());
				ours.addAll(wait.blockedBy());
			});
		}
		while (ours.size() > before);
		return chained.stream().filter((wait) -> touches(wait, ours)).map((wait) -> describe(wait, waits)).toList();
	}

	private static boolean touches(Wait wait, Set<Integer> pids) {
		return pids.contains(wait.pid()) || wait.blockedBy().stream().anyMatch(pids::contains);
	}

	private WaitDescriptor describe(Wait wait, LockWaits waits) {
		Instant since = wait.since();
		return new WaitDescriptor(what(wait), since,
				(since != null) ? Duration.between(since, this.activity.time()) : null, session(wait.pid(), waits),
				wait.blockedBy().stream().map((pid) -> session(pid, waits)).toList());
	}

	/**
	 * A place of a row is locked by whoever comes first of those that wait for its row.
	 */
	private static String what(Wait wait) {
		boolean row = wait.type().equals("transactionid") || wait.type().equals("tuple");
		String relation = wait.relation();
		if (relation != null) {
			return row ? "row of " + relation
					: (wait.type().equals("relation") ? "table " : wait.type() + " of ") + relation;
		}
		return row ? "end of a transaction" : wait.type();
	}

	private SessionDescriptor session(int pid, LockWaits waits) {
		Session session = waits.sessions().get(pid);
		KnownLock job = job(pid);
		ApplicationName name = (session != null) ? session.holderName() : null;
		return new SessionDescriptor(pid, (job != null) ? job.id().key() : null,
				(job != null) ? job.id().namespace() : null, (job != null && job.listed()) ? job.id().text() : null,
				(job != null) ? job.target() : null,
				(name != null) ? fullName(name, (job != null) ? job.runner() : null) : null,
				(session != null) ? session.application() : null, (session != null) ? session.user() : null,
				(session != null) ? session.client() : null, (session != null) ? session.state() : null,
				(session != null) ? this.redaction.apply(session.query()) : null);
	}

	/**
	 * Return the job that a server process runs: the one whose lock it has, if there is
	 * one only, as in scope {@code TRANSACTION}.
	 */
	private @Nullable KnownLock job(int pid) {
		List<KnownLock> jobs = this.activity.entries()
			.stream()
			.filter((entry) -> entry.pid() == pid && entry.granted() && isHere(entry))
			.map((entry) -> this.known.get(entry.number()))
			.filter(Objects::nonNull)
			.filter((lock) -> lock.kind() == Kind.JOB)
			.toList();
		return (jobs.size() == 1) ? jobs.get(0) : null;
	}

	/**
	 * A lock whose key is known.
	 *
	 * @param id the job or key
	 * @param kind whose it is
	 * @param listed whether there is a job to look at
	 * @param target its method, if that is known
	 * @param runner where it runs, if that is recorded
	 * @param since since when, if that is recorded
	 */
	private record KnownLock(JobId id, Kind kind, boolean listed, @Nullable String target, @Nullable String runner,
			@Nullable Instant since) {

	}

}
