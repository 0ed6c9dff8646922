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

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.interceptor.CronTicks;
import io.github.advisorylock.interceptor.LedgerOperation;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The annotated methods of this application whose runs are recorded, and how to call them
 * through their proxies.
 *
 * @param postProcessor knows the annotated methods
 * @param beanFactory has their beans
 * @param isHere whether a method has its lock in the database of the ledger
 */
record RecordedMethodRegistry(SingleRunnerAnnotationBeanPostProcessor postProcessor, BeanFactory beanFactory,
		Predicate<SingleRunnerMethod> isHere) implements LedgerOpening.Methods {

	List<SingleRunnerMethod> recorded() {
		return this.postProcessor.getMethods()
			.stream()
			.filter((method) -> method.operation().ledger().recorded() && this.isHere.test(method))
			.toList();
	}

	/**
	 * Return the methods that have ticks, and are not paused by a property.
	 */
	List<SingleRunnerMethod> scheduled() {
		return recorded().stream()
			.filter((method) -> !method.operation().paused() && method.operation().ledger().ticks() != null)
			.toList();
	}

	/**
	 * Return the methods whose latest tick is made up for by any instance.
	 */
	List<SingleRunnerMethod> catchingUp() {
		return scheduled().stream()
			.filter((method) -> method.operation().ledger().catchUp() != null && method.fixedKey() != null)
			.toList();
	}

	/**
	 * Return what the jobs of all annotated methods are, recorded or not, of each key
	 * that has room in the ledger, and of what keys with arguments are made from.
	 */
	@Override
	public List<JobFacts> jobs() {
		return this.postProcessor.getMethods()
			.stream()
			.filter(this.isHere)
			.map(this::facts)
			.filter((job) -> job.name().findExcess() == null)
			.toList();
	}

	@Override
	public Collection<JobFinder.LedgerMethod> withFixedKey() {
		return recorded().stream().map(this::toLedgerMethod).flatMap(Collection::stream).toList();
	}

	/**
	 * Have methods called by the schedules that operators have chosen.
	 * @param certain whether what is given is newer than what is known
	 */
	@Override
	public void reschedule(Map<JobName, CronTicks.Changes> changes, boolean certain) {
		for (SingleRunnerMethod method : recorded()) {
			AdvisoryLockKey key = method.fixedKey();
			Instant known = method.operation().changes().changedAt();
			CronTicks.Changes found = (key != null) ? changes.getOrDefault(JobName.of(key), CronTicks.Changes.NONE)
					: CronTicks.Changes.NONE;
			Instant changedAt = found.changedAt();
			if (!Objects.equals(known, changedAt)
					&& (certain || known == null || (changedAt != null && changedAt.isAfter(known)))) {
				this.postProcessor.reschedule(method, found);
			}
		}
	}

	@Override
	public void whenRescheduled(Runnable listener) {
		this.postProcessor.whenRescheduled(listener);
	}

	/**
	 * Call a method as its scheduler does.
	 */
	void call(SingleRunnerMethod method) {
		SingleRunnerAnnotationBeanPostProcessor.call(this.beanFactory.getBean(method.beanName()), method.method());
	}

	private List<JobFinder.LedgerMethod> toLedgerMethod(SingleRunnerMethod method) {
		AdvisoryLockKey key = method.fixedKey();
		return (key != null)
				? List
					.of(new JobFinder.LedgerMethod(JobName.of(key), run(method), retry(method), backfill(method, key)))
				: List.of();
	}

	private JobFacts facts(SingleRunnerMethod method) {
		LedgerOperation ledger = method.operation().ledger();
		AdvisoryLockKey key = method.fixedKey();
		return new JobFacts(
				(key != null) ? JobName.of(key) : new JobName(method.namespace(), method.operation().keyTemplate()),
				method.method().getDeclaringClass().getName() + "." + method.method().getName(),
				method.operation().scope().name(), schedules(method),
				ledger.oncePerTick() ? "PER_TICK" : ledger.oncePerKey() ? "PER_KEY" : "NONE", ledger.minInterval(),
				ledger.catchUp(), (key != null) ? locks(key, method.operation().permits()) : null, ledger.recorded(),
				key == null, ledger.maxRetries(), method.operation().changes());
	}

	private static String locks(AdvisoryLockKey key, int permits) {
		return IntStream.rangeClosed(1, permits)
			.mapToObj(key::permit)
			.map(PostgresAdvisoryLockTemplate::lockEntry)
			.collect(Collectors.joining(","));
	}

	/**
	 * A schedule that can't be read is none: Spring says so.
	 */
	private List<JobFacts.Schedule> schedules(SingleRunnerMethod method) {
		try {
			return JobFacts.Schedule.of(method.method(), this::resolve);
		}
		catch (IllegalArgumentException ex) {
			return List.of();
		}
	}

	private @Nullable String resolve(String text) {
		BeanFactory beans = (this.beanFactory instanceof ConfigurableApplicationContext context)
				? context.getBeanFactory() : this.beanFactory;
		return (beans instanceof ConfigurableBeanFactory factory) ? factory.resolveEmbeddedValue(text) : text;
	}

	private @Nullable Function<Instant, LockOutcome> retry(SingleRunnerMethod method) {
		return (method.method().getParameterCount() == 0 && method.operation().ledger().oncePerTick())
				? (tick) -> this.postProcessor.callNow(method, (call) -> PlannedTime.run(tick, call)) : null;
	}

	Backfill.@Nullable Work backfill(SingleRunnerMethod method, AdvisoryLockKey key) {
		boolean able = method.method().getParameterCount() == 0 && !method.operation().ledger().oncePerKey();
		return able ? new TickWork(this, method, key) : null;
	}

	private @Nullable Supplier<LockOutcome> run(SingleRunnerMethod method) {
		return (method.method().getParameterCount() == 0) ? () -> this.postProcessor.callNow(method) : null;
	}

	/**
	 * What runs ticks of a method.
	 */
	private record TickWork(RecordedMethodRegistry methods, SingleRunnerMethod method,
			AdvisoryLockKey key) implements Backfill.Work {

		@Override
		public @Nullable CronTicks ticks(Instant time) {
			return this.method.operation().ticks(time);
		}

		@Override
		public @Nullable Instant nextAfter(Instant time) {
			return this.method.operation().nextTick(time);
		}

		@Override
		public LockOutcome run(Instant tick, boolean again) {
			return this.methods.postProcessor().callNow(this.method, (call) -> PlannedTime.backfill(tick, again, call));
		}

		@Override
		public void call(Instant tick) {
			PlannedTime.run(tick, () -> this.methods.call(this.method));
		}

	}

}
