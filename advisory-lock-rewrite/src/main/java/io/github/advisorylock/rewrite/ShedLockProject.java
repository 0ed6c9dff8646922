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

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * All that was found of ShedLock in the sources of a project, and what becomes of it.
 */
final class ShedLockProject {

	private static final String SHARED_AND_LEAST = "two methods share this lock and it has a lockAtLeastFor; "
			+ "@SingleRunner has either: give each method a key of its own, or drop lockAtLeastFor";

	private static final String ASKS_FOR_TABLES = "to keep defaultLockAtLeastFor = \"%s\" here takes the ledger's tables; "
			+ "give this method a lockAtLeastFor of its own and run the recipe again: \"0s\" if the time is only for clocks "
			+ "that differ, or else the time, which becomes minInterval; see " + ShedLock.GUIDE;

	private static final String RANDOM_CRON = "its cron expression has a random part, so that each instance plans other "
			+ "ticks, which only lockAtLeastFor = \"%s\" kept from being run by all: write one expression for all instances, "
			+ "of which one runs each tick anyway, and run the recipe again; see " + ShedLock.GUIDE;

	private static final String TAKEN = "code takes locks from ShedLock too, and advisory-lock-shedlock can't provide them: %s; see "
			+ ShedLock.GUIDE;

	final Map<String, String> constants = new HashMap<>();

	final List<SchedulerLockUse> uses = new ArrayList<>();

	final List<ComposedUse> composedUses = new ArrayList<>();

	/** Names of classes, with the files that use them. */
	final Map<String, Set<String>> typesInUse = new HashMap<>();

	/** What {@code @EnableSchedulerLock} says about those without a time of their own. */
	final Set<String> defaults = new HashSet<>();

	/** Whether ShedLock guards calls that pass no proxy. */
	boolean woven;

	/** Whether something other than annotations and lock providers needs ShedLock. */
	boolean otherUse;

	final LockProviders providers = new LockProviders();

	/** Files that use ShedLock and can't be read, or are in another language. */
	final Set<Path> unread = new HashSet<>();

	/** Properties of POMs that versions of ShedLock are taken from. */
	final Set<String> versions = new HashSet<>();

	/** Properties of POMs that anything else is taken from. */
	final Set<String> otherProperties = new HashSet<>();

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
		return this.otherUse || keepsAnnotations();
	}

	/**
	 * Return whether anything is translated.
	 */
	boolean translates() {
		return !keepsShedLock()
				|| translations().values().stream().anyMatch((translation) -> translation.obstacle() == null);
	}

	/**
	 * Return whether ShedLock stays with the locks of this library, so that what is
	 * translated and what stays exclude each other.
	 */
	boolean bridges() {
		return keepsShedLock() && translates() && this.providers.obstacle() == null;
	}

	/**
	 * Return whether a method stays under ShedLock.
	 */
	boolean keepsAnnotations() {
		return translations().values().stream().anyMatch((translation) -> translation.obstacle() != null);
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

	/**
	 * Return whether a time is kept in tables: a {@code minInterval}, or the
	 * {@code lockAtLeastFor} of a method that stays and gets another provider.
	 */
	boolean needsLedger() {
		boolean bridges = bridges();
		return this.uses.stream()
			.anyMatch((use) -> (translation(use).obstacle() == null) ? translation(use).minInterval() != null
					: bridges && least(use) != null);
	}

	private Map<UUID, Translation> translate() {
		Map<String, List<SchedulerLockUse>> locks = locks();
		Map<UUID, Translation> result = new LinkedHashMap<>();
		String provider = this.providers.isTaken() ? this.providers.obstacle() : null;
		for (SchedulerLockUse use : this.uses) {
			boolean shared = locks.values().stream().anyMatch((users) -> users.size() > 1 && users.contains(use));
			String least = least(use);
			boolean own = hasOwnTime(use);
			String minInterval = (least != null && !covers(use, least, own, shared)) ? least : null;
			String obstacle = use.obstacle();
			if (obstacle == null && least != null && schedules(use).stream().anyMatch(this::isRandom)) {
				obstacle = RANDOM_CRON.formatted(least);
			}
			else if (obstacle == null && minInterval != null && !own) {
				obstacle = ASKS_FOR_TABLES.formatted(least);
			}
			else if (obstacle == null && minInterval != null && shared) {
				obstacle = SHARED_AND_LEAST;
			}
			if (obstacle == null && provider != null) {
				obstacle = TAKEN.formatted(provider);
			}
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

	/**
	 * Return whether a method does without the time from one run to the next: where its
	 * tick is remembered, or where the time is for all methods, so against clocks, which
	 * are not asked by a schedule of intervals.
	 * @param own whether the time is that of this method and no other
	 */
	private boolean covers(SchedulerLockUse use, String least, boolean own, boolean shared) {
		List<@Nullable Schedule> schedules = schedules(use);
		return !schedules.isEmpty() && schedules.stream()
			.allMatch((schedule) -> schedule != null && (schedule.isCron() ? !shared : !own)
					&& isLonger(schedule, Schedule.time(least, "")));
	}

	/**
	 * Return the schedules of the methods that an annotation is for.
	 */
	private List<@Nullable Schedule> schedules(SchedulerLockUse use) {
		List<@Nullable Schedule> schedules = new ArrayList<>();
		if (use.schedule() != null || use.composed() == null) {
			schedules.add(use.schedule());
		}
		else {
			this.composedUses.stream()
				.filter((composed) -> composed.annotation().equals(use.composed()))
				.forEach((composed) -> schedules.add(composed.schedule()));
		}
		return schedules;
	}

	private boolean isRandom(@Nullable Schedule schedule) {
		return schedule != null && schedule.isRandom(this::resolve);
	}

	/**
	 * Return whether a schedule leaves at least some time from one run to the next. A
	 * cron expression that can't be known is taken to do so: its ticks are remembered.
	 */
	private boolean isLonger(Schedule schedule, @Nullable Duration time) {
		Duration interval = schedule.interval(this::resolve);
		return (interval != null && time != null) ? interval.compareTo(time) >= 0 : schedule.isCron();
	}

	/**
	 * Return the time that a lock is kept at least.
	 * @return the time, {@code null} if there is none
	 */
	private @Nullable String least(SchedulerLockUse use) {
		if (hasOwnTime(use)) {
			return normalize(resolve(Objects.requireNonNull(use.atLeastFor())));
		}
		return this.defaults.stream()
			.map((text) -> normalize(resolve(text)))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private boolean hasOwnTime(SchedulerLockUse use) {
		return use.atLeastFor() != null && !resolve(use.atLeastFor()).isEmpty();
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
	private static @Nullable String normalize(String text) {
		Duration time = Schedule.time(text, "");
		if (text.isBlank() || (time != null && time.isZero())) {
			return null;
		}
		String plain = text.replace("+", "");
		return plain.matches("\\d+") ? plain + "ms" : plain;
	}

}
