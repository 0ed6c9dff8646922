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

package io.github.advisorylock;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Which lock to take, and how to ask for it. Immutable: each method returns a changed
 * copy.
 *
 * @since 0.1.0
 */
public final class LockRequest {

	/**
	 * What the names of the library's own locks begin with.
	 */
	static final String OWN_PREFIX = "advisory-lock:";

	private final Settings settings;

	private LockRequest(Settings settings) {
		this.settings = settings;
	}

	/**
	 * Create a request for a named lock. The name is looked up in the default namespace,
	 * {@code advisory-lock.namespace}, unless {@link #namespace(String)} says otherwise,
	 * and turned into a key by the {@link AdvisoryLockKeyFactory}.
	 * @param key the name of the lock, not empty
	 * @return a request for an exclusive lock
	 * @throws IllegalArgumentException if the name begins with {@code leader:} or
	 * {@code advisory-lock:}, which are kept for roles and for the library itself
	 */
	public static LockRequest of(String key) {
		Assert.hasText(key, "'key' must not be empty");
		checkAllowed(key);
		return new LockRequest(new Settings(null, key));
	}

	/**
	 * Create a request for the given key as it is. A key that is given as a number stands
	 * for that number, whatever else may have it.
	 * @param key the key
	 * @return a request for an exclusive lock
	 * @throws IllegalArgumentException if the name of the key begins with {@code leader:}
	 * or {@code advisory-lock:}, which are kept for roles and for the library itself
	 */
	public static LockRequest of(AdvisoryLockKey key) {
		Assert.notNull(key, "'key' must not be null");
		checkAllowed(key.namespace(), key.name());
		return new LockRequest(new Settings(key, null));
	}

	/**
	 * Use the given namespace instead of the default one.
	 * @param namespace the namespace, empty for none; without a slash
	 * @return a changed copy
	 */
	public LockRequest namespace(String namespace) {
		Assert.notNull(namespace, "'namespace' must not be null");
		Assert.state(this.settings.key == null, "'namespace' must not be set on a request for a ready-made key");
		return change((settings) -> settings.namespace = namespace);
	}

	/**
	 * Set how long the lock lives.
	 * <p>
	 * By default {@link AdvisoryLockOperations#execute} takes a
	 * {@link LockScope#TRANSACTION} lock and {@link AdvisoryLockOperations#tryAcquire} a
	 * {@link LockScope#SESSION} lock.
	 * @param scope the scope
	 * @return a changed copy
	 */
	public LockRequest scope(LockScope scope) {
		Assert.notNull(scope, "'scope' must not be null");
		return change((settings) -> settings.scope = scope);
	}

	/**
	 * Set who may hold the key together with this request.
	 * <p>
	 * By default {@link LockMode#EXCLUSIVE}.
	 * @param mode the mode
	 * @return a changed copy
	 */
	public LockRequest mode(LockMode mode) {
		Assert.notNull(mode, "'mode' must not be null");
		return change((settings) -> settings.mode = mode);
	}

	/**
	 * Set how many may hold the key at a time, on all instances together. Each holder has
	 * one of as many {@linkplain AdvisoryLockKey#permit locks}. Everybody must ask for
	 * the same number: of different ones the largest holds.
	 * <p>
	 * Holders are not told apart: nothing of the ledger can be asked for, nor a tick or
	 * an interval, nor mode {@link LockMode#SHARED}. A
	 * {@linkplain AdvisoryLockOperations#tryAcquire held lock} is one of them, and a
	 * second one of the same thread is another.
	 * <p>
	 * By default 1, the lock of the key itself.
	 * @param permits how many, from 1 to {@value AdvisoryLockKey#MAX_PERMITS}
	 * @return a changed copy
	 */
	public LockRequest permits(int permits) {
		AdvisoryLockKey.checkPermits("permits", permits);
		return change((settings) -> settings.permits = permits);
	}

	/**
	 * Set how long to wait for a lock that is busy.
	 * <p>
	 * By default {@code advisory-lock.wait-for}, which by default does not wait.
	 * @param waitFor the longest time to wait, zero to not wait
	 * @return a changed copy
	 */
	public LockRequest waitFor(Duration waitFor) {
		Assert.notNull(waitFor, "'waitFor' must not be null");
		Assert.isTrue(!waitFor.isNegative(), "'waitFor' must not be negative");
		return change((settings) -> settings.waitFor = waitFor);
	}

	/**
	 * Set the longest time for which the lock is held. After that its holder is told that
	 * it is lost, as when it is: a run is interrupted, unless losses are reported only,
	 * and fails, however it ends; a {@link HeldLock} is released. The lock of a run that
	 * goes on nevertheless stays taken until it ends, so that no other runs beside it. A
	 * run that is part of another one of the same key has no time of its own.
	 * <p>
	 * By default there is none.
	 * @param maxRun the longest time, more than zero, counted from when the lock is taken
	 * @return a changed copy
	 */
	public LockRequest maxRun(Duration maxRun) {
		Assert.notNull(maxRun, "'maxRun' must not be null");
		Assert.isTrue(maxRun.compareTo(Duration.ZERO) > 0, "'maxRun' must be more than zero");
		return change((settings) -> settings.maxRun = maxRun);
	}

	/**
	 * Do the work once for this key: after a run that ended well, later ones are
	 * {@link LockOutcome#ALREADY_RAN} for as long as the ledger remembers it,
	 * {@code advisory-lock.ledger.remember-keys}. Needs the ledger; only for
	 * {@link AdvisoryLockOperations#execute}.
	 * @return a changed copy
	 */
	public LockRequest oncePerKey() {
		return change((settings) -> settings.oncePerKey = true);
	}

	/**
	 * Do the work once for a tick, the planned time of a schedule: when a run for this
	 * tick or a later one has ended well, it is {@link LockOutcome#ALREADY_RAN}. Needs
	 * the ledger; only for {@link AdvisoryLockOperations#execute}.
	 * @param tick the planned time
	 * @return a changed copy
	 */
	public LockRequest oncePerTick(Instant tick) {
		Assert.notNull(tick, "'tick' must not be null");
		return change((settings) -> {
			settings.tick = tick;
			settings.durable = true;
		});
	}

	/**
	 * Do the work once for a tick as long as the application lives that did it: the tick
	 * is remembered by a lock of its own, and without the ledger. When a run for this
	 * tick has ended well, it is {@link LockOutcome#ALREADY_RAN}. Only for
	 * {@link AdvisoryLockOperations#execute}.
	 * @param tick the planned time
	 * @param memory for how long the tick is remembered after the end of the run, more
	 * than zero
	 * @return a changed copy
	 */
	public LockRequest rememberTick(Instant tick, Duration memory) {
		Assert.notNull(tick, "'tick' must not be null");
		Assert.isTrue(memory.compareTo(Duration.ZERO) > 0, "'memory' must be more than zero");
		return change((settings) -> {
			settings.tick = tick;
			settings.memory = memory;
		});
	}

	/**
	 * Leave a time between the starts of two runs, however they end:
	 * {@link LockOutcome#TOO_SOON} before it has passed, by the clock of the database.
	 * Needs the ledger; only for {@link AdvisoryLockOperations#execute}.
	 * @param minInterval the shortest time from start to start, more than zero
	 * @return a changed copy
	 */
	public LockRequest minInterval(Duration minInterval) {
		Assert.notNull(minInterval, "'minInterval' must not be null");
		Assert.isTrue(minInterval.compareTo(Duration.ZERO) > 0, "'minInterval' must be more than zero");
		return change((settings) -> settings.minInterval = minInterval);
	}

	/**
	 * Carry something along that advice and an implementation of the operations have
	 * agreed on, instead of what is carried of the same class. Means nothing to others.
	 * @param detail what to carry
	 * @return a changed copy
	 */
	public LockRequest with(Object detail) {
		Assert.notNull(detail, "'detail' must not be null");
		return change((settings) -> {
			Map<Class<?>, Object> details = new LinkedHashMap<>(settings.details);
			details.put(detail.getClass(), detail);
			settings.details = details;
		});
	}

	/**
	 * Take the lock in the database whose transactions the given manager begins, instead
	 * of the default one. Its session, its ledger and what else belongs to the lock are
	 * there, too.
	 * @param transactionManager the name of the bean, not empty
	 * @return a changed copy
	 */
	public LockRequest transactionManager(String transactionManager) {
		Assert.hasText(transactionManager, "'transactionManager' must not be empty");
		return change((settings) -> settings.transactionManager = transactionManager);
	}

	private LockRequest change(Consumer<Settings> change) {
		Settings changed = this.settings.copy();
		change.accept(changed);
		Assert.isTrue(!changed.oncePerKey || changed.tick == null,
				"'oncePerKey' and 'oncePerTick' must not be set both");
		Assert.isTrue(changed.permits == 1 || changed.mode == LockMode.EXCLUSIVE,
				"'permits' and mode SHARED must not be set both");
		LockRequest request = new LockRequest(changed);
		Assert.isTrue(
				changed.permits == 1 || (!request.isRecorded() && changed.tick == null && changed.details.isEmpty()),
				"'permits' must not be set together with what needs runs one after the other: the ledger, ticks "
						+ "and intervals");
		return request;
	}

	/**
	 * Return the key of this request.
	 * @param defaultNamespace the namespace for a request that does not name one
	 * @param keyFactory makes the key of a request that was created by name
	 * @return the key
	 * @throws IllegalArgumentException if it would be one that is kept for others
	 */
	public AdvisoryLockKey key(String defaultNamespace, AdvisoryLockKeyFactory keyFactory) {
		if (this.settings.key != null) {
			return this.settings.key;
		}
		Assert.state(this.settings.name != null, "'name' must not be null");
		String namespace = (this.settings.namespace != null) ? this.settings.namespace : defaultNamespace;
		checkAllowed(namespace, this.settings.name);
		return keyFactory.createKey(namespace, this.settings.name);
	}

	/**
	 * Without a namespace, what stands before the first slash is as good as one.
	 */
	private static void checkAllowed(String namespace, String name) {
		checkAllowed(name);
		if (namespace.isEmpty()) {
			checkAllowed(name.substring(name.indexOf('/') + 1));
		}
	}

	private static void checkAllowed(String name) {
		String owner = name.startsWith(LeaderElection.KEY_PREFIX) ? "leaders"
				: name.startsWith(OWN_PREFIX) ? "the library" : null;
		if (owner != null) {
			throw new IllegalArgumentException("'key' starts with '" + name.substring(0, name.indexOf(':') + 1)
					+ "', which is kept for the locks of " + owner + ": '" + AdvisoryLockKey.display(name) + "'");
		}
	}

	/**
	 * Return how long the lock shall live.
	 * @return the scope, {@code null} to leave it to the operation
	 */
	public @Nullable LockScope scope() {
		return this.settings.scope;
	}

	/**
	 * Return who may hold the key together with this request.
	 * @return the mode
	 */
	public LockMode mode() {
		return this.settings.mode;
	}

	/**
	 * Return how many may hold the key at a time.
	 * @return the number, 1 for the lock of the key itself
	 */
	public int permits() {
		return this.settings.permits;
	}

	/**
	 * Return how long to wait for a lock that is busy.
	 * @return the longest time to wait, {@code null} for the default
	 */
	public @Nullable Duration waitFor() {
		return this.settings.waitFor;
	}

	/**
	 * Return the longest time for which the lock is held.
	 * @return the longest time, {@code null} if there is none
	 */
	public @Nullable Duration maxRun() {
		return this.settings.maxRun;
	}

	/**
	 * Return whether anything is asked of the ledger.
	 * @return {@code true} if the run is to be recorded
	 */
	public boolean isRecorded() {
		return this.settings.oncePerKey || this.settings.durable || this.settings.minInterval != null;
	}

	/**
	 * Return whether the work is done once for this key.
	 * @return {@code true} after {@link #oncePerKey()}
	 */
	public boolean isOncePerKey() {
		return this.settings.oncePerKey;
	}

	/**
	 * Return the tick that the work is done once for.
	 * @return the planned time, {@code null} if there is none
	 */
	public @Nullable Instant tick() {
		return this.settings.tick;
	}

	/**
	 * Return for how long a lock remembers the {@linkplain #tick() tick}.
	 * @return the time, {@code null} if it is none that is remembered like that
	 */
	public @Nullable Duration memory() {
		return this.settings.memory;
	}

	/**
	 * Return the time to leave between the starts of two runs.
	 * @return the shortest time, {@code null} if any will do
	 */
	public @Nullable Duration minInterval() {
		return this.settings.minInterval;
	}

	/**
	 * Return what is carried along.
	 * @param type the class of what {@link #with(Object)} was told
	 * @param <T> the same
	 * @return the detail, {@code null} if there is none of that class
	 */
	public <T> @Nullable T detail(Class<T> type) {
		return type.cast(this.settings.details.get(type));
	}

	/**
	 * Return which transaction manager's database is to have the lock.
	 * @return the name of the bean, {@code null} for the default
	 */
	public @Nullable String transactionManager() {
		return this.settings.transactionManager;
	}

	@Override
	public String toString() {
		return "LockRequest" + this.settings;
	}

	/**
	 * What is asked for. Changed by nobody once a request has it.
	 */
	private static final class Settings implements Cloneable {

		private final @Nullable AdvisoryLockKey key;

		private final @Nullable String name;

		private @Nullable String namespace;

		private @Nullable LockScope scope;

		private LockMode mode = LockMode.EXCLUSIVE;

		private int permits = 1;

		private @Nullable Duration waitFor;

		private @Nullable Duration maxRun;

		private boolean oncePerKey;

		private @Nullable Instant tick;

		private boolean durable;

		private @Nullable Duration memory;

		private @Nullable Duration minInterval;

		private @Nullable String transactionManager;

		private Map<Class<?>, Object> details = Map.of();

		private Settings(@Nullable AdvisoryLockKey key, @Nullable String name) {
			this.key = key;
			this.name = name;
		}

		private Settings copy() {
			try {
				return (Settings) clone();
			}
			catch (CloneNotSupportedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public String toString() {
			StringJoiner text = new StringJoiner(", ", "[", "]");
			text.add((this.key != null) ? this.key.toString() : AdvisoryLockKey
				.display((this.namespace != null) ? this.namespace + "/" + this.name : String.valueOf(this.name)));
			text.add("scope=" + this.scope).add("mode=" + this.mode).add("waitFor=" + this.waitFor);
			Stream
				.of(entry("permits", (this.permits > 1) ? this.permits : null), entry("maxRun", this.maxRun),
						entry("oncePerKey", this.oncePerKey ? true : null), entry("tick", this.tick),
						entry("durable", this.durable ? true : null), entry("memory", this.memory),
						entry("minInterval", this.minInterval), entry("transactionManager", this.transactionManager))
				.flatMap(Optional::stream)
				.forEach(text::add);
			this.details.values().forEach((detail) -> text.add(detail.toString()));
			return text.toString();
		}

		private static Optional<String> entry(String name, @Nullable Object value) {
			return Optional.ofNullable(value).map((set) -> name + "=" + set);
		}

	}

}
