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
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.advisorylock.LockOutcome;
import org.jspecify.annotations.Nullable;

/**
 * Finds the job that an operator means by a text: a key, or a namespace, a slash and a
 * key. Both may be meant, as a key may contain a slash; methods of this application go
 * before what only the ledger knows.
 *
 * @param defaultNamespace the namespace of keys that nobody knows
 * @param methods the methods of this application; asked for each time
 * @param known asks the ledger whether it has a job or a run of a name
 */
record JobFinder(String defaultNamespace, Supplier<? extends Collection<LedgerMethod>> methods,
		Predicate<JobName> known) {

	/**
	 * Find the job that a text means, whether or not it exists.
	 * @throws IllegalArgumentException if several jobs could be meant
	 */
	JobName find(String text) {
		JobName ofMethod = findOfMethod(text);
		if (ofMethod != null) {
			return ofMethod;
		}
		JobName plain = new JobName(this.defaultNamespace, text);
		JobName qualified = JobName.parse(text);
		if (qualified == null || !this.known.test(qualified)) {
			return plain;
		}
		return this.known.test(plain) ? choose(text, List.of(plain, qualified)) : qualified;
	}

	/**
	 * Find the methods of the job that a text means.
	 * @return the methods, none if this application has none
	 * @throws IllegalArgumentException if several jobs could be meant
	 */
	List<LedgerMethod> findMethods(String text) {
		return methodsOf(findOfMethod(text));
	}

	/**
	 * Return the methods of a job.
	 * @return the methods, none if this application has none
	 */
	List<LedgerMethod> methodsOf(@Nullable JobName name) {
		return this.methods.get().stream().filter((method) -> method.name().equals(name)).toList();
	}

	private @Nullable JobName findOfMethod(String text) {
		List<JobName> names = this.methods.get()
			.stream()
			.map(LedgerMethod::name)
			.filter((name) -> name.key().equals(text) || name.toString().equals(text))
			.distinct()
			.toList();
		return names.isEmpty() ? null : choose(text, names);
	}

	/**
	 * A key without a namespace has no other text than this one.
	 */
	private static JobName choose(String text, List<JobName> names) {
		if (names.size() == 1) {
			return names.get(0);
		}
		return names.stream()
			.filter((name) -> name.namespace().isEmpty())
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException(
					"'" + text + "' may mean several jobs; name one of them with its namespace: " + names));
	}

	/**
	 * Run each, whatever became of those before: the first failure is thrown with the
	 * later ones, else the first outcome that is not a run is told.
	 */
	static LockOutcome runAll(Iterator<Supplier<LockOutcome>> runs) {
		LockOutcome outcome;
		try {
			outcome = runs.next().get();
		}
		catch (RuntimeException | Error ex) {
			runAfter(ex, runs);
			throw ex;
		}
		LockOutcome later = runs.hasNext() ? runAll(runs) : LockOutcome.EXECUTED;
		return (outcome != LockOutcome.EXECUTED) ? outcome : later;
	}

	private static void runAfter(Throwable failure, Iterator<Supplier<LockOutcome>> runs) {
		try {
			if (runs.hasNext()) {
				runAll(runs);
			}
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * A method of this application whose runs are recorded under a key of its own.
	 *
	 * @param name the name of its job
	 * @param run runs it now and says how that ended, {@code null} if it needs arguments
	 * @param retry runs it for a tick that is to be tried again and says how that ended,
	 * {@code null} if it needs arguments, or has no ticks
	 * @param backfill runs it for any tick, {@code null} likewise
	 */
	record LedgerMethod(JobName name, @Nullable Supplier<LockOutcome> run,
			@Nullable Function<Instant, LockOutcome> retry, Backfill.@Nullable Work backfill) {

	}

}
