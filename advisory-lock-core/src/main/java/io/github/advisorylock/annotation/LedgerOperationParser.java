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

package io.github.advisorylock.annotation;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import io.github.advisorylock.annotation.InvalidSingleRunnerException.InvalidAttributeException;
import io.github.advisorylock.annotation.SingleRunnerSettings.LedgerUse;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.interceptor.LedgerOperation.ResultFormat;
import io.github.advisorylock.interceptor.SingleRunnerOperation.AutoTicks;
import io.github.advisorylock.interceptor.SkippedValue;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.StringUtils;

/**
 * Turns the attributes of an annotation that need the ledger into what is asked of it.
 *
 * @param use which runs are recorded
 * @param resolver resolves placeholders in an attribute, by its name and text
 */
record LedgerOperationParser(LedgerUse use, BiFunction<String, String, String> resolver) {

	/**
	 * Any number but zero.
	 */
	private static final Pattern NUMBER = Pattern.compile("[+-]?0*[1-9]\\d*");

	/**
	 * Spring reads a sign alone, or brackets with nothing in them, as no time at all.
	 */
	private static final Pattern WITHOUT_NUMBER = Pattern.compile("\\D*");

	/**
	 * Where what needs the schedule belongs.
	 */
	private static final String PLACE = " Where a @Scheduled method calls this one, that is the method for "
			+ "@SingleRunner with PER_TICK, 'catchUp' and 'maxRetries'; called by it, this one is once per tick with "
			+ "'once' as AUTO.";

	LedgerOperation parse(SingleRunner annotation, Method method, boolean fixedKey, SingleRunnerSettings.Job job,
			@Nullable ResultFormat results) {
		Duration minInterval = duration("minInterval", annotation.minInterval(), job.minInterval());
		Duration catchUp = duration("catchUp", annotation.catchUp(), job.catchUp());
		boolean perTick = annotation.once() == Once.PER_TICK;
		if (catchUp != null && !perTick) {
			throw new InvalidAttributeException("catchUp",
					source("catch-up", job.catchUp()) + "needs attribute 'once' to be PER_TICK",
					"Set 'once' to PER_TICK, or remove 'catchUp'." + PLACE, null);
		}
		int maxRetries = (job.maxRetries() != null) ? job.maxRetries() : annotation.maxRetries();
		checkRetries(maxRetries, catchUp, source("max-retries", job.maxRetries()));
		boolean asked = isDurable(annotation) || minInterval != null;
		if (!asked) {
			boolean recorded = fixedKey && this.use == LedgerUse.ALWAYS && job.permits(annotation) == 1;
			return recorded ? LedgerOperation.RECORDED : LedgerOperation.NONE;
		}
		checkAsked(annotation, fixedKey, perTick, job);
		checkNotOnceForAll(annotation, method, fixedKey);
		Supplier<@Nullable CronTicks> ticks = () -> perTick ? ticks(method) : null;
		return new LedgerOperation(true, perTick, ticks, annotation.once() == Once.PER_KEY, minInterval, catchUp,
				maxRetries, results);
	}

	private static void checkRetries(int maxRetries, @Nullable Duration catchUp, String source) {
		if (maxRetries < 0) {
			throw new InvalidAttributeException("maxRetries", "is less than zero: " + maxRetries,
					"Set it to how often a tick that failed is tried again, or remove it.", null);
		}
		if (maxRetries > 0 && catchUp == null) {
			throw new InvalidAttributeException("maxRetries",
					source + "needs attribute 'catchUp', which says for how long a tick may be tried again",
					"Set 'catchUp', or remove 'maxRetries'." + PLACE, null);
		}
	}

	/**
	 * Say which property has set an attribute, if one has.
	 */
	private static String source(String name, @Nullable Object override) {
		return (override != null) ? "is set by 'advisory-lock.jobs.<key>." + name + "' and " : "";
	}

	/**
	 * A scheduler has no arguments that would make another key of each call.
	 */
	private static void checkNotOnceForAll(SingleRunner annotation, Method method, boolean fixedKey) {
		if (annotation.once() == Once.PER_KEY && fixedKey && !schedules(method).isEmpty()) {
			throw new InvalidAttributeException("once",
					"is PER_KEY on a @Scheduled method, whose key is always the same: it would run once, and not again "
							+ "while that is remembered ('advisory-lock.ledger.remember-keys')",
					"Set 'once' to PER_TICK, or remove it. What is to run once for all can be called on "
							+ "ApplicationReadyEvent.",
					null);
		}
	}

	private static Set<Scheduled> schedules(Method method) {
		return AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class);
	}

	private static boolean isDurable(SingleRunner annotation) {
		return annotation.once() == Once.PER_TICK || annotation.once() == Once.PER_KEY;
	}

	/**
	 * Return what calls of a scheduler are run once for without being told to. Where
	 * there is anything wrong with the schedule, it is for Spring to say so.
	 * @return what that is, or why not, {@code null} if nothing could be expected
	 */
	@Nullable AutoTicks autoTicks(SingleRunner annotation, Method method, int permits, Duration longest) {
		Set<Scheduled> schedules = schedules(method);
		String refused = annotation.allowSharedKey() ? "'allowSharedKey' is set" : (permits > 1) ? "'permits' is set"
				: (SkippedValue.of(method) == SkippedValue.NONE) ? "a skipped call would have nothing to return" : null;
		if (annotation.once() != Once.AUTO || (refused != null && schedules.isEmpty())) {
			return null;
		}
		return new AutoTicks(() -> !schedules.isEmpty() ? ticksIfAny(method) : null, intervalsIfAny(schedules), longest,
				refused);
	}

	private List<Duration> intervalsIfAny(Set<Scheduled> schedules) {
		try {
			Set<Duration> intervals = new LinkedHashSet<>();
			for (Scheduled schedule : schedules) {
				intervals.add(interval(schedule));
			}
			intervals.remove(Duration.ZERO);
			return List.copyOf(intervals);
		}
		catch (IllegalArgumentException | InvalidAttributeException ex) {
			return List.of();
		}
	}

	/**
	 * Read an interval as Spring's scheduler does, of which a schedule has one or none.
	 */
	private Duration interval(Scheduled schedule) {
		ChronoUnit unit = schedule.timeUnit().toChronoUnit();
		long number = Math.max(schedule.fixedRate(), schedule.fixedDelay());
		String text = this.resolver.apply("fixedRate", schedule.fixedRateString() + schedule.fixedDelayString());
		return StringUtils.hasText(text)
				? DurationFormatterUtils.detectAndParse(text, DurationFormat.Unit.fromChronoUnit(unit))
				: Duration.of(Math.max(0, number), unit);
	}

	private @Nullable CronTicks ticksIfAny(Method method) {
		try {
			return ticks(method);
		}
		catch (InvalidAttributeException ex) {
			return null;
		}
	}

	private void checkAsked(SingleRunner annotation, boolean fixedKey, boolean perTick, SingleRunnerSettings.Job job) {
		String attribute = isDurable(annotation) ? "once" : "minInterval";
		String source = isDurable(annotation) ? "" : source("min-interval", job.minInterval());
		if (this.use == LedgerUse.OFF) {
			throw new InvalidAttributeException(attribute,
					source + "needs the ledger, which is switched off or missing",
					"Remove 'advisory-lock.ledger.enabled' or add 'advisory-lock-ledger', or remove the attribute.",
					null);
		}
		if (job.permits(annotation) > 1) {
			throw new InvalidAttributeException(attribute,
					source + "must not be set together with 'permits'"
							+ ((job.permits() != null) ? ", which 'advisory-lock.jobs.<key>.permits' sets" : "")
							+ ": the ledger takes the runs of a key one after the other",
					"Remove 'permits', or the attribute.", null);
		}
		if (annotation.allowSharedKey()) {
			throw new InvalidAttributeException(attribute, source
					+ "must not be set together with 'allowSharedKey': the ledger would take a run of one method for "
					+ "one of the other", "Give the method a key of its own.", null);
		}
		if (perTick && !fixedKey) {
			throw new InvalidAttributeException("once",
					"must not be PER_TICK with an expression in 'key' or 'namespace'",
					"Set both to a text without '#{...}'.", null);
		}
	}

	/**
	 * Return the ticks of the method's schedule.
	 * @return the ticks, {@code null} if the schedule is switched off by {@code "-"}
	 */
	private @Nullable CronTicks ticks(Method method) {
		Set<Scheduled> schedules = schedules(method);
		Scheduled schedule = (schedules.size() == 1) ? schedules.iterator().next() : null;
		String cron = (schedule != null) ? this.resolver.apply("cron", schedule.cron()) : "";
		if (schedule == null || !StringUtils.hasText(cron)) {
			throw new InvalidAttributeException("once",
					"is PER_TICK, and the method does not have exactly one cron schedule",
					"Put one @Scheduled with 'cron' on the method, or set 'once' to NONE." + PLACE, null);
		}
		String zone = this.resolver.apply("zone", schedule.zone());
		try {
			return Scheduled.CRON_DISABLED.equals(cron) ? null : new CronTicks(cron, zone(zone));
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAttributeException("once",
					"is PER_TICK, and the schedule of the method can't be parsed: " + ex.getMessage(),
					"Correct 'cron' and 'zone' of @Scheduled.", ex);
		}
	}

	/**
	 * Read a zone as Spring's scheduler does, which takes short names such as PST.
	 */
	private static ZoneId zone(String zone) {
		return StringUtils.hasText(zone) ? StringUtils.parseTimeZoneString(zone).toZoneId() : ZoneId.systemDefault();
	}

	/**
	 * Read an attribute that is a time of more than zero.
	 * @return the time, {@code null} if there is none
	 */
	@Nullable Duration duration(String attribute, String text, @Nullable Duration override) {
		if (override != null) {
			return override;
		}
		String resolved = this.resolver.apply(attribute, text);
		if (!StringUtils.hasText(resolved)) {
			return null;
		}
		Duration duration = parseDuration(attribute, resolved, "more than zero");
		if (duration.isZero()) {
			throw invalidDuration(attribute, resolved, "more than zero", null);
		}
		return duration;
	}

	/**
	 * Read a time of any form that Spring Boot reads, but for a number without a unit.
	 * @param allowed which times make sense, for the message
	 * @throws InvalidAttributeException if the text is none, or a negative one
	 */
	static Duration parseDuration(String attribute, String text, String allowed) {
		if (NUMBER.matcher(text.strip()).matches()) {
			throw new InvalidAttributeException(attribute, "has no unit: '" + text + "'",
					"Write it like \"" + text.strip()
							+ "s\" for seconds; a number alone would be milliseconds, which are written \""
							+ text.strip() + "ms\".",
					null);
		}
		if (WITHOUT_NUMBER.matcher(text).matches()) {
			throw invalidDuration(attribute, text, allowed, null);
		}
		try {
			Duration duration = DurationFormatterUtils.detectAndParse(text.strip());
			if (!duration.isNegative()) {
				return duration;
			}
		}
		catch (IllegalArgumentException ex) {
			throw invalidDuration(attribute, text, allowed, ex);
		}
		throw invalidDuration(attribute, text, allowed, null);
	}

	private static InvalidAttributeException invalidDuration(String attribute, String text, String allowed,
			@Nullable Throwable cause) {
		return new InvalidAttributeException(attribute, "is no duration of " + allowed + ": '" + text + "'",
				"Write it like \"5s\" or \"PT5S\".", cause);
	}

}
