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

package io.github.advisorylock.interceptor;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The ticks that a method is planned for: by its annotations, or by the schedules that
 * operators have chosen instead. A refresh of the configuration may give placeholders
 * other values, so the annotations are parsed again whenever a scheduler is given the
 * method again, and not at a call.
 */
final class ScheduledTicks {

	/**
	 * No ticks.
	 */
	static final ScheduledTicks NONE = of(null);

	private static final int MOST_WITHDRAWN = 50;

	private final Supplier<? extends @Nullable CronTicks> parser;

	/**
	 * What plans calls again when the schedule is another one.
	 */
	private final Set<Runnable> plans = new CopyOnWriteArraySet<>();

	private volatile @Nullable CronTicks inCode;

	private volatile CronTicks.Changes changes = CronTicks.Changes.NONE;

	private volatile @Nullable Instant changedAt;

	private volatile @Nullable CronTicks current;

	/**
	 * What was to hold, and was taken back before it did: the latest ones.
	 */
	private volatile List<CronTicks> withdrawn = List.of();

	/**
	 * Create ticks.
	 * @param parser parses the schedule of the method, {@code null} if it plans no ticks;
	 * asked now and whenever a scheduler is given the method again
	 */
	ScheduledTicks(Supplier<? extends @Nullable CronTicks> parser) {
		this.parser = parser;
		this.inCode = parser.get();
		this.current = this.inCode;
	}

	static ScheduledTicks of(@Nullable CronTicks ticks) {
		return new ScheduledTicks(() -> ticks);
	}

	/**
	 * Return the ticks that are planned now.
	 * @return the ticks, {@code null} if the method has no schedule, or it is switched
	 * off
	 */
	@Nullable CronTicks current() {
		return this.current;
	}

	@Nullable CronTicks inCode() {
		return this.inCode;
	}

	/**
	 * Return the schedules that operators have chosen.
	 */
	CronTicks.Changes changes() {
		return this.changes;
	}

	/**
	 * Return when they have chosen the last one of them, {@code null} if never.
	 */
	@Nullable Instant changedAt() {
		return this.changedAt;
	}

	/**
	 * Parse the schedule again.
	 * @return whether it is another one now
	 */
	synchronized boolean parseAgain() {
		String before = String.valueOf(this.inCode);
		this.inCode = this.parser.get();
		this.current = this.changes.ticks(this.inCode);
		return !before.equals(String.valueOf(this.inCode));
	}

	/**
	 * Have calls planned by the schedules that operators have chosen.
	 */
	void change(CronTicks.Changes changes) {
		synchronized (this) {
			List<CronTicks> gone = new ArrayList<>(this.withdrawn);
			for (CronTicks.Change known : this.changes.all()) {
				boolean stays = changes.all().stream().anyMatch((one) -> one.changedAt().equals(known.changedAt()));
				if (!stays && known.ticks() != null) {
					gone.add(known.ticks());
				}
			}
			this.withdrawn = List.copyOf(gone.subList(Math.max(0, gone.size() - MOST_WITHDRAWN), gone.size()));
			this.changes = changes;
			this.changedAt = changes.changedAt();
			this.current = changes.ticks(this.inCode);
		}
		this.plans.forEach(Runnable::run);
	}

	/**
	 * Return whether a run for a tick may begin. A tick of what was withdrawn was planned
	 * before this instance knew that, as no other was.
	 */
	boolean allows(Instant tick) {
		CronTicks now = this.current;
		return this.changes.allows(tick, this.inCode)
				&& (this.withdrawn.stream().noneMatch((one) -> one.has(tick)) || (now != null && now.has(tick)));
	}

	/**
	 * Have something run whenever the schedule is another one.
	 */
	void plan(Runnable again) {
		this.plans.add(again);
	}

	void forget(Runnable again) {
		this.plans.remove(again);
	}

}
