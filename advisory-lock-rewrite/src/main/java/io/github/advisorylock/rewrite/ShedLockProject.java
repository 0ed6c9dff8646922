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

package io.github.advisorylock.rewrite;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * All that was found of ShedLock in the sources of a project, and what becomes of it.
 */
final class ShedLockProject {

	private static final Pattern SIMPLE = Pattern.compile("\\+?(\\d+)([a-zA-Z]{0,2})");

	private static final String SHARED_AND_LEAST = "two methods share this lock and it has a lockAtLeastFor; "
			+ "@SingleRunner has either: give each method a key of its own, or drop lockAtLeastFor";

	final Map<String, String> constants = new HashMap<>();

	final List<SchedulerLockUse> uses = new ArrayList<>();

	final List<ComposedUse> composedUses = new ArrayList<>();

	/** Names of classes, with the files that use them. */
	final Map<String, Set<String>> typesInUse = new HashMap<>();

	/** What {@code @EnableSchedulerLock} says about those without a time of their own. */
	final Set<String> defaults = new HashSet<>();

	/** Whether ShedLock guards calls that pass no proxy. */
	boolean woven;

	/** Whether something is used that only ShedLock has. */
	boolean otherUse;

	private @Nullable Map<UUID, Translation> translations;

	/**
	 * Return what becomes of each annotation, by its id.
	 */
	Map<UUID, Translation> translations() {
		if (this.translations == null) {
			this.translations = translate();
		}
		return this.translations;
	}

	/**
	 * Return whether ShedLock is still needed when everything else has been translated.
	 */
	boolean keepsShedLock() {
		return this.otherUse
				|| translations().values().stream().anyMatch((translation) -> translation.obstacle() != null);
	}

	/**
	 * Return which attributes a composed annotation no longer has.
	 */
	Set<String> lostAttributes(String annotation) {
		return this.uses.stream()
			.filter((use) -> annotation.equals(use.composed()) && translation(use).obstacle() == null)
			.flatMap((use) -> use.timeAliases().stream())
			.collect(Collectors.toSet());
	}

	private Translation translation(SchedulerLockUse use) {
		return Objects.requireNonNull(translations().get(use.id()));
	}

	boolean needsLedger() {
		return translations().values().stream().anyMatch((translation) -> translation.minInterval() != null);
	}

	private Map<UUID, Translation> translate() {
		Map<String, List<SchedulerLockUse>> locks = locks();
		Map<UUID, Translation> result = new LinkedHashMap<>();
		for (SchedulerLockUse use : this.uses) {
			boolean shared = locks.values().stream().anyMatch((users) -> users.size() > 1 && users.contains(use));
			String least = normalize(least(use));
			String minInterval = ticks(use) ? null : least;
			String obstacle = (use.obstacle() == null && shared && least != null) ? SHARED_AND_LEAST : use.obstacle();
			if (this.woven) {
				obstacle = "ShedLock is woven in by AspectJ, and guards calls within a class, too";
			}
			result.put(use.id(), new Translation(obstacle, !use.transactional(), minInterval, shared));
		}
		keepTogether(locks, result);
		return result;
	}

	/**
	 * Methods that share a lock exclude each other only while one library has it.
	 */
	private static void keepTogether(Map<String, List<SchedulerLockUse>> locks, Map<UUID, Translation> translations) {
		for (List<SchedulerLockUse> users : locks.values()) {
			boolean stays = users.stream()
				.map((user) -> translations.get(user.id()))
				.anyMatch((translation) -> translation != null && translation.obstacle() != null);
			for (SchedulerLockUse user : stays ? users : List.<SchedulerLockUse>of()) {
				translations.computeIfPresent(user.id(), (id, translation) -> (translation.obstacle() != null)
						? translation
						: new Translation("another method that has this lock stays under ShedLock", true, null, true));
			}
		}
	}

	/**
	 * Return the uses of each lock; one that is part of an annotation counts for each
	 * method that has it.
	 */
	private Map<String, List<SchedulerLockUse>> locks() {
		Map<String, List<SchedulerLockUse>> locks = new HashMap<>();
		for (SchedulerLockUse use : this.uses) {
			for (String lock : locksOf(use)) {
				locks.computeIfAbsent(lock, (name) -> new ArrayList<>()).add(use);
			}
		}
		return locks;
	}

	private List<String> locksOf(SchedulerLockUse use) {
		if (use.composed() == null) {
			return List.of(resolve(use.lock()));
		}
		return this.composedUses.stream()
			.filter((composed) -> composed.annotation().equals(use.composed()))
			.map((composed) -> resolve((use.nameAlias() != null)
					? composed.arguments().getOrDefault(use.nameAlias(), use.lock()) : use.lock()))
			.toList();
	}

	private boolean ticks(SchedulerLockUse use) {
		List<ComposedUse> methods = this.composedUses.stream()
			.filter((composed) -> composed.annotation().equals(use.composed()))
			.toList();
		return use.ticks() || (!methods.isEmpty() && methods.stream().allMatch(ComposedUse::ticks));
	}

	private @Nullable String least(SchedulerLockUse use) {
		if (use.atLeastFor() != null && !resolve(use.atLeastFor()).isEmpty()) {
			return resolve(use.atLeastFor());
		}
		return this.defaults.stream()
			.map(this::resolve)
			.filter((text) -> normalize(text) != null)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Return the text that a constant has.
	 * @param value the text itself, or the name of a constant
	 */
	String resolve(String value) {
		return this.constants.getOrDefault(value, value);
	}

	/**
	 * Return a time in the form that {@code minInterval} has.
	 * @return the time, {@code null} if it is none
	 */
	private static @Nullable String normalize(@Nullable String text) {
		if (text == null || text.isBlank()) {
			return null;
		}
		Matcher simple = SIMPLE.matcher(text);
		if (simple.matches()) {
			String unit = simple.group(2).isEmpty() ? "ms" : simple.group(2);
			return (Long.parseLong(simple.group(1)) != 0) ? simple.group(1) + unit : null;
		}
		try {
			return Duration.parse(text).isZero() ? null : text;
		}
		catch (DateTimeParseException ex) {
			// A placeholder, which is read at start-up
			return text;
		}
	}

}
