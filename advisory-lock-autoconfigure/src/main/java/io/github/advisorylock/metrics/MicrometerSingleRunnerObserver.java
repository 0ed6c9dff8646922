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

package io.github.advisorylock.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.interceptor.SingleRunnerObserver;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.jdbc.RunLedger;
import io.github.advisorylock.log.LockLog;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Makes an observation of each run, and meters of runs and skips. A skip is no
 * observation unless asked for, so that traces are not full of work that was not done.
 *
 * @since 0.1.0
 */
public class MicrometerSingleRunnerObserver implements SingleRunnerObserver {

	private final MeterRegistry meters;

	private final ObservationRegistry observations;

	private final LockExecutionObservationConvention convention;

	private final @Nullable SkipConvention skips;

	private final Map<String, OperationMeters> operations = new ConcurrentHashMap<>();

	private final Map<AdvisoryLockKey, String> running = new ConcurrentHashMap<>();

	private final Map<AdvisoryLockKey, String> registered = new ConcurrentHashMap<>();

	/**
	 * Create an observer.
	 * @param meters where the meters are registered
	 * @param observations where runs are observed; if
	 * {@linkplain ObservationRegistry#isNoop() nobody listens}, they are timed directly
	 * @param convention names and tags of a run and of a skip
	 * @param observeSkips whether a skip is an observation too, without length
	 */
	public MicrometerSingleRunnerObserver(MeterRegistry meters, ObservationRegistry observations,
			LockExecutionObservationConvention convention, boolean observeSkips) {
		this.meters = meters;
		this.observations = observations;
		this.convention = convention;
		this.skips = observeSkips ? new SkipConvention(convention) : null;
	}

	/**
	 * Register the meters of a method before its first call.
	 * @param operation how the method runs
	 * @param key the key of every call, or any key if that depends on arguments
	 */
	public void register(SingleRunnerOperation operation, AdvisoryLockKey key) {
		metersOf(operation, key);
		this.registered.put(key, operation.keyTemplate());
	}

	/**
	 * Count a lock that was lost. The run may have ended before that is told.
	 * @param event the loss
	 */
	public void lost(LockLostEvent event) {
		String running = this.running.get(event.key());
		String key = (running != null) ? running : this.registered.getOrDefault(event.key(), "none");
		lostCounter(key, event.reason()).increment();
	}

	@Override
	public Call observe(SingleRunnerOperation operation, AdvisoryLockKey key) {
		return new ObservedCall(operation, key, metersOf(operation, key));
	}

	private OperationMeters metersOf(SingleRunnerOperation operation, AdvisoryLockKey key) {
		OperationMeters known = this.operations.get(operation.keyTemplate());
		return (known != null) ? known : this.operations.computeIfAbsent(operation.keyTemplate(), (template) -> {
			lostCounter(template, LockLostEvent.Reason.GONE);
			return new OperationMeters(this.meters, this.convention, operation, key);
		});
	}

	private Counter lostCounter(String key, LockLostEvent.Reason reason) {
		return Counter.builder("advisory.lock.lost")
			.description("Locks that were lost while their holder still ran")
			.tag("key", key)
			.tag("reason", LockLog.word(reason))
			.register(this.meters);
	}

	/**
	 * A call on its way.
	 */
	private final class ObservedCall implements Call {

		private final SingleRunnerOperation operation;

		private final AdvisoryLockKey key;

		private final OperationMeters known;

		private final long started = System.nanoTime();

		private LongTaskTimer.@Nullable Sample timed;

		private @Nullable Observation observation;

		private @Nullable LockExecutionObservationContext context;

		private ObservedCall(SingleRunnerOperation operation, AdvisoryLockKey key, OperationMeters known) {
			this.operation = operation;
			this.key = key;
			this.known = known;
		}

		@Override
		public Work begin(LockContext lock) {
			this.known.acquired(elapsed());
			MicrometerSingleRunnerObserver.this.running.put(this.key, this.operation.keyTemplate());
			if (MicrometerSingleRunnerObserver.this.observations.isNoop()) {
				this.timed = this.known.begin();
				return Work.UNOBSERVED;
			}
			Work work = openScope(observation(lock).start());
			if (this.context != null && lock instanceof RunLedger.Traced run) {
				TraceIds.tell(this.context, run);
			}
			return work;
		}

		/**
		 * A handler may throw, and then nobody else puts back the scope that was current.
		 */
		private Work openScope(Observation observation) {
			ObservationRegistry registry = MicrometerSingleRunnerObserver.this.observations;
			Observation.Scope previous = registry.getCurrentObservationScope();
			try {
				Observation.Scope scope = observation.openScope();
				return () -> {
					try {
						scope.close();
					}
					finally {
						registry.setCurrentObservationScope(previous);
					}
				};
			}
			catch (RuntimeException | Error ex) {
				registry.setCurrentObservationScope(previous);
				throw ex;
			}
		}

		private Observation observation(@Nullable LockContext lock) {
			LockExecutionObservationContext context = new LockExecutionObservationContext(this.operation, this.key);
			if (lock != null) {
				context.setLock(lock);
			}
			this.context = context;
			this.observation = Observation.createNotStarted(MicrometerSingleRunnerObserver.this.convention,
					() -> context, MicrometerSingleRunnerObserver.this.observations);
			return this.observation;
		}

		@Override
		public void end(@Nullable LockOutcome outcome, @Nullable Throwable failure) {
			if (outcome != null && outcome != LockOutcome.EXECUTED) {
				this.known.skipped(outcome, elapsed());
				observeSkip(outcome);
				return;
			}
			MicrometerSingleRunnerObserver.this.running.remove(this.key);
			if (failure == null) {
				this.known.succeeded();
			}
			if (MicrometerSingleRunnerObserver.this.observations.isNoop()) {
				this.known.ran(this.key, failure, (this.timed != null) ? this.timed.stop() : elapsed());
			}
			else {
				stop(failure);
			}
		}

		private void observeSkip(LockOutcome outcome) {
			SkipConvention skips = MicrometerSingleRunnerObserver.this.skips;
			if (skips != null) {
				LockExecutionObservationContext context = new LockExecutionObservationContext(this.operation, this.key);
				context.setOutcome(outcome);
				Observation.createNotStarted(skips, () -> context, MicrometerSingleRunnerObserver.this.observations)
					.start()
					.stop();
			}
		}

		private void stop(@Nullable Throwable failure) {
			Observation observed = (this.observation != null) ? this.observation : observation(null).start();
			boolean cancelled = LockLostException.isCancelled(failure, this.key);
			if (failure != null && !cancelled) {
				observed.error(failure);
			}
			if (this.context != null) {
				this.context.setCancelled(cancelled);
				this.context.setOutcome((failure != null) ? null : LockOutcome.EXECUTED);
			}
			observed.stop();
		}

		private long elapsed() {
			return System.nanoTime() - this.started;
		}

	}

	/**
	 * Names and tags of the observation of a skip: the tags are those of a run.
	 *
	 * @param execution the convention for runs
	 */
	private record SkipConvention(
			LockExecutionObservationConvention execution) implements LockExecutionObservationConvention {

		@Override
		public String getName() {
			return "advisory.lock.skip";
		}

		@Override
		public String getContextualName(LockExecutionObservationContext context) {
			return "skip " + context.getOperation().keyTemplate();
		}

		@Override
		public KeyValues getLowCardinalityKeyValues(LockExecutionObservationContext context) {
			return this.execution.getLowCardinalityKeyValues(context);
		}

		@Override
		public KeyValues getHighCardinalityKeyValues(LockExecutionObservationContext context) {
			return this.execution.getHighCardinalityKeyValues(context);
		}

	}

}
