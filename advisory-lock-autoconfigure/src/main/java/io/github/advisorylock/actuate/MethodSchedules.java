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

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ScheduleDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.config.CronTask;
import org.springframework.scheduling.config.FixedDelayTask;
import org.springframework.scheduling.config.IntervalTask;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.Task;
import org.springframework.scheduling.config.TriggerTask;
import org.springframework.scheduling.support.SimpleTriggerContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * When the schedulers of this instance call which method. A task is known by what its
 * work prints, {@code Class.method}, as in the endpoint {@code scheduledtasks}.
 */
final class MethodSchedules {

	private final Map<String, List<ScheduledTask>> tasks;

	private final UnaryOperator<String> placeholders;

	MethodSchedules(Stream<ScheduledTask> tasks, UnaryOperator<String> placeholders) {
		this.tasks = tasks.collect(Collectors.groupingBy((task) -> task.getTask().getRunnable().toString()));
		this.placeholders = placeholders;
	}

	List<ScheduleDescriptor> of(Method method) {
		return tasks(method).map((task) -> describe(task.getTask(), method)).toList();
	}

	/**
	 * Return when a method is called next.
	 * @param changed whether an operator has chosen its schedule
	 */
	@Nullable Instant next(Method method, boolean changed) {
		return tasks(method).map((task) -> next(task, changed))
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	/**
	 * The tasks of a method, which may be called through an interface, and never with
	 * arguments.
	 */
	private Stream<ScheduledTask> tasks(Method method) {
		if (method.getParameterCount() > 0) {
			return Stream.empty();
		}
		Class<?> type = method.getDeclaringClass();
		return Stream.concat(Stream.of(type), ClassUtils.getAllInterfacesForClassAsSet(type).stream())
			.map((declaring) -> this.tasks.getOrDefault(declaring.getName() + "." + method.getName(), List.of()))
			.flatMap(List::stream);
	}

	private ScheduleDescriptor describe(Task task, Method method) {
		if (task instanceof CronTask cron) {
			return new ScheduleDescriptor("cron", cron.getExpression(), zone(cron, method), null);
		}
		if (task instanceof IntervalTask interval) {
			Duration time = interval.getIntervalDuration();
			return new ScheduleDescriptor((task instanceof FixedDelayTask) ? "fixedDelay" : "fixedRate", null, null,
					time);
		}
		return new ScheduleDescriptor("custom",
				(task instanceof TriggerTask trigger) ? trigger.getTrigger().toString() : task.toString(), null, null);
	}

	/**
	 * A scheduler knows a delay rather than an instant: that of a cron expression is told
	 * exactly, by its trigger, which knows the zone, but not what an operator has chosen.
	 */
	private static @Nullable Instant next(ScheduledTask task, boolean changed) {
		Instant next = task.nextExecution();
		if (next != null && changed && task.getTask() instanceof CronTask) {
			return next.plusMillis(500).truncatedTo(ChronoUnit.SECONDS);
		}
		if (next != null && task.getTask() instanceof CronTask cron) {
			return cron.getTrigger().nextExecution(new SimpleTriggerContext());
		}
		return (next != null) ? next.truncatedTo(ChronoUnit.MILLIS) : null;
	}

	private String zone(CronTask task, Method method) {
		return AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class)
			.stream()
			.filter((scheduled) -> this.placeholders.apply(scheduled.cron()).equals(task.getExpression()))
			.map((scheduled) -> this.placeholders.apply(scheduled.zone()))
			.filter(StringUtils::hasText)
			.findFirst()
			.orElseGet(() -> ZoneId.systemDefault().getId());
	}

}
