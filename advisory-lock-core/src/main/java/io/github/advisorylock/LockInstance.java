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

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * This instance of the application, as the ledger, the endpoint, logs and connections
 * name it. Each application context is one, and no two that live have the same name: the
 * later one adds a suffix.
 *
 * @since 0.1.0
 */
public final class LockInstance implements AutoCloseable {

	/**
	 * Names in use are system properties: an application server may have this class once
	 * for each application.
	 */
	private static final String CLAIM = LockInstance.class.getName() + ":";

	private static final int LONGEST = 240;

	private final String wanted;

	private final Consumer<String> log;

	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

	private final Set<Object> drains = ConcurrentHashMap.newKeySet();

	private volatile String name;

	private int suffix = 1;

	private boolean claimed;

	/**
	 * Create an instance.
	 * @param name its name, {@code null} for {@code host:pid}
	 */
	public LockInstance(@Nullable String name) {
		this(name, (said) -> {
		});
	}

	private LockInstance(@Nullable String name, Consumer<String> log) {
		this.log = log;
		String given = (name != null) ? name : host() + ":" + ProcessHandle.current().pid();
		this.wanted = given.substring(Math.max(0, given.length() - LONGEST));
		this.name = this.wanted;
	}

	/**
	 * Create an instance whose name no other one in this JVM has until it is closed.
	 * @param name its name, {@code null} for {@code host:pid}
	 * @param log is told that it has got another one
	 * @return the instance
	 */
	public static LockInstance claim(@Nullable String name, Consumer<String> log) {
		LockInstance instance = new LockInstance(name, log);
		instance.claimed = tryClaim(instance.wanted);
		if (!instance.claimed) {
			instance.giveWay();
		}
		return instance;
	}

	/**
	 * Return the name of this instance.
	 * @return the name, of at most 255 characters
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Take another name, with the next suffix, as another instance that lives has this
	 * one.
	 */
	public synchronized void giveWay() {
		String before = this.name;
		do {
			this.suffix++;
		}
		while (!tryClaim(this.wanted + "-" + this.suffix));
		close();
		this.claimed = true;
		this.name = this.wanted + "-" + this.suffix;
		this.log.accept("This instance is called '" + this.name + "', as another one that lives is called '" + before
				+ "'; set 'advisory-lock.instance' to a name that no other instance has");
		changed();
	}

	private static boolean tryClaim(String name) {
		return System.getProperties().putIfAbsent(CLAIM + name, "") == null;
	}

	/**
	 * Return whether an operator has this instance begin no guarded run and lead no role.
	 * What runs goes on.
	 * @return whether it is drained
	 */
	public boolean isDrained() {
		return !this.drains.isEmpty();
	}

	/**
	 * Begin no guarded run and lead no role any more, or do both again.
	 * @param source where that is said; several may say so
	 * @param drained whether it is said
	 */
	public void drain(Object source, boolean drained) {
		if (drained ? this.drains.add(source) : this.drains.remove(source)) {
			this.log.accept("Instance '" + this.name + "' " + (isDrained()
					? "is drained: it begins no guarded run and leads no role" : "is drained no longer"));
			changed();
		}
	}

	/**
	 * Have something done whenever this instance changes.
	 * @param listener what to do; must be quick
	 */
	public void whenChanged(Runnable listener) {
		this.listeners.add(listener);
	}

	private void changed() {
		this.listeners.forEach(Runnable::run);
	}

	/**
	 * Leave the name to others.
	 */
	@Override
	public synchronized void close() {
		if (this.claimed) {
			System.getProperties().remove(CLAIM + this.name);
		}
		this.claimed = false;
	}

	private static String host() {
		String host = System.getenv("HOSTNAME");
		if (host != null && !host.isBlank()) {
			return host;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "localhost";
		}
	}

}
