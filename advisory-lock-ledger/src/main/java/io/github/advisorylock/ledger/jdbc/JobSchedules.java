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

package io.github.advisorylock.ledger.jdbc;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.interceptor.CronTicks;
import org.jspecify.annotations.Nullable;

import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * The schedules that operators give jobs: what is allowed, and what this instance knows
 * of them.
 */
final class JobSchedules {

	private static final Duration AHEAD = Duration.ofSeconds(30);

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Duration LONGEST = Duration.ofDays(36_500);

	private static final int LONGEST_EXPRESSION = 1000;

	private final Supplier<OperatorRepository> repository;

	private final BiConsumer<Map<JobName, CronTicks.Changes>, Boolean> methods;

	private final ReentrantLock learning = new ReentrantLock();

	/**
	 * Create it.
	 * @param repository has the schedules
	 * @param methods is given those of all jobs, and whether they are certain: what may
	 * have been read in an old snapshot is not, and replaces nothing that is newer
	 */
	JobSchedules(Supplier<OperatorRepository> repository,
			BiConsumer<Map<JobName, CronTicks.Changes>, Boolean> methods) {
		this.repository = repository;
		this.methods = methods;
	}

	/**
	 * Look up the schedules of all jobs.
	 * @param inside whether the current transaction, if any, may be asked
	 */
	void learn(boolean inside) {
		this.learning.lock();
		try {
			this.methods.accept(this.repository.get().changes(null, inside), !inside);
		}
		finally {
			this.learning.unlock();
		}
	}

	/**
	 * Give a job another schedule.
	 * @return from when on it holds
	 */
	Instant reschedule(JobName job, Wanted wanted, String by, @Nullable String reason) {
		OperatorRepository repository = this.repository.get();
		OperatorRepository.InCode inCode = inCode(job);
		CronTicks.Change change = change(job, wanted, inCode);
		CronTicks ticks = change.ticks();
		Duration interval = change.interval();
		Instant effectiveAt = repository.reschedule(job,
				(ticks != null) ? wanted.cron() : Objects.toString(interval, null),
				(ticks != null) ? zone(wanted, inCode) : null, by, reason);
		CronTicks planned = repository.changes(job, false)
			.getOrDefault(job, CronTicks.Changes.NONE)
			.ticks(inCode.ticks());
		if (planned != null) {
			repository.planned(job, planned.nextAfter(inCode.clock()));
		}
		learn(false);
		return effectiveAt;
	}

	/**
	 * Return when a job would be called next with another schedule.
	 */
	List<Instant> preview(JobName job, Wanted wanted, int times) {
		OperatorRepository.InCode inCode = inCode(job);
		CronTicks.Change change = change(job, wanted, inCode);
		CronTicks ticks = (change.ticks() != null) ? change.ticks() : inCode.ticks();
		Duration interval = (change.interval() != null) ? change.interval()
				: (inCode.interval() != null) ? Duration.parse(inCode.interval()) : Duration.ZERO;
		List<Instant> next = new ArrayList<>();
		Instant last = change.from();
		for (int i = 0; i < times && last != null; i++) {
			last = (ticks != null) ? ticks.nextAfter((i == 0) ? last.minusNanos(1) : last) : last.plus(interval);
			if (last != null) {
				next.add(last);
			}
		}
		return next;
	}

	private OperatorRepository.InCode inCode(JobName job) {
		OperatorRepository.InCode inCode = this.repository.get()
			.inCode(job)
			.orElseThrow(() -> new IllegalStateException(failed(job) + "the ledger has no job of that key"));
		Assert.state(inCode.recorded(), () -> failed(job) + "its runs are not recorded in the ledger");
		Assert.state(inCode.count() > 0, () -> failed(job) + "it has no schedule: no @Scheduled method has that key, "
				+ "or its schedule is switched off");
		Assert.state(inCode.count() == 1,
				() -> failed(job) + "it has " + inCode.count() + " schedules, and which is meant is not told");
		return inCode;
	}

	private static CronTicks.Change change(JobName job, Wanted wanted, OperatorRepository.InCode inCode) {
		boolean isCron = "cron".equals(inCode.type());
		Assert.isTrue(wanted.cron() == null || wanted.interval() == null,
				() -> failed(job) + "'cron' and 'interval' must not be set both");
		Assert.isTrue(wanted.zone() == null || wanted.cron() != null, () -> failed(job) + "'zone' needs 'cron'");
		Assert.isTrue(wanted.interval() == null || !isCron,
				() -> failed(job) + "'interval' is for 'fixedRate' and 'fixedDelay', and its schedule is a 'cron'");
		Assert.isTrue(wanted.cron() == null || isCron,
				() -> failed(job) + "'cron' is for a cron schedule, and its schedule is '" + inCode.type() + "'");
		Instant from = inCode.clock().plus(AHEAD);
		if (wanted.interval() != null) {
			return new CronTicks.Change(from, inCode.clock(), null, interval(job, wanted.interval()));
		}
		String cron = wanted.cron();
		if (cron == null) {
			return new CronTicks.Change(from, inCode.clock(), null, null);
		}
		String zone = zone(wanted, inCode);
		CronTicks ticks;
		try {
			StorableText.check("cron", cron, LONGEST_EXPRESSION);
			ticks = new CronTicks(cron, ZoneId.of(zone));
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(failed(job) + "'cron' is no cron expression: '"
					+ AdvisoryLockKey.display(cron) + "' (" + ex.getMessage() + ")", ex);
		}
		Assert.isTrue(ticks.nextAfter(from) != null,
				() -> failed(job) + "'cron' plans no time that is to come: '" + AdvisoryLockKey.display(cron) + "'");
		return new CronTicks.Change(from, inCode.clock(), ticks, null);
	}

	/**
	 * Read a zone as Spring's scheduler does.
	 */
	private static String zone(Wanted wanted, OperatorRepository.InCode inCode) {
		String zone = StringUtils.hasText(wanted.zone()) ? wanted.zone() : inCode.zone();
		try {
			return StringUtils.parseTimeZoneString(String.valueOf(zone)).toZoneId().getId();
		}
		catch (IllegalArgumentException | DateTimeException ex) {
			throw new IllegalArgumentException(
					"'zone' is no time zone: '" + AdvisoryLockKey.display(String.valueOf(zone)) + "'", ex);
		}
	}

	private static Duration interval(JobName job, String text) {
		Duration interval;
		try {
			Assert.isTrue(!text.strip().matches("[+-]?\\d+"), "it has no unit");
			interval = DurationFormatterUtils.detectAndParse(text.strip());
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(failed(job) + "'interval' is no time such as 'PT10M': '"
					+ AdvisoryLockKey.display(text) + "' (" + ex.getMessage() + ")", ex);
		}
		Assert.isTrue(interval.compareTo(SHORTEST) >= 0 && interval.compareTo(LONGEST) <= 0,
				() -> failed(job) + "'interval' must be a millisecond at least, and no more than " + LONGEST.toDays()
						+ " days: '" + AdvisoryLockKey.display(text) + "'");
		return interval;
	}

	private static String failed(JobName job) {
		return "Failed to change the schedule of '" + AdvisoryLockKey.display(job.toString()) + "': ";
	}

	/**
	 * What an operator wants: a cron expression or an interval, or neither for the
	 * schedule in the code.
	 */
	record Wanted(@Nullable String cron, @Nullable String zone, @Nullable String interval) {

	}

}
