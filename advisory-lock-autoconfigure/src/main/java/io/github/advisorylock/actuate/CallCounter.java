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

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;

/**
 * Counts how the calls of this instance ended since it started, and remembers when it
 * last lost a lock.
 *
 * @since 0.1.0
 */
class CallCounter implements ApplicationListener<PayloadApplicationEvent<?>> {

	/**
	 * Keys may depend on arguments: they are not kept for ever.
	 */
	private static final Duration REMEMBERED = Duration.ofHours(1);

	private final Map<String, Map<String, LongAdder>> counts = new ConcurrentHashMap<>();

	private final Map<AdvisoryLockKey, Loss> losses = new ConcurrentHashMap<>();

	@Override
	public void onApplicationEvent(PayloadApplicationEvent<?> event) {
		if (event.getPayload() instanceof SingleRunnerFinishedEvent finished) {
			count(finished.method(),
					finished.cancelled() ? "CANCELLED" : (finished.failure() != null) ? "FAILED" : "EXECUTED");
		}
		else if (event.getPayload() instanceof SingleRunnerSkippedEvent skipped) {
			count(skipped.method(), skipped.outcome().name());
		}
		else if (event.getPayload() instanceof LockLostEvent lost && lost.reason() != LockLostEvent.Reason.CANCELLED) {
			Instant now = Instant.now();
			this.losses.values().removeIf((loss) -> loss.at().isBefore(now.minus(REMEMBERED)));
			this.losses.put(lost.key(), new Loss(now, lost.reason()));
		}
	}

	Map<String, Long> of(String method) {
		Map<String, Long> sums = new TreeMap<>();
		this.counts.getOrDefault(method, Map.of()).forEach((outcome, count) -> sums.put(outcome, count.sum()));
		return sums;
	}

	/**
	 * Return why a lock was lost last, within the last hour.
	 * @param executed when a run of it began that was executed, {@code null} if none was
	 * @return the reason, {@code null} if there is no loss since then
	 */
	LockLostEvent.@Nullable Reason lossOf(AdvisoryLockKey key, @Nullable Instant executed) {
		Loss loss = this.losses.get(key);
		if (loss == null || loss.at().isBefore(Instant.now().minus(REMEMBERED))) {
			return null;
		}
		return (executed != null && executed.isAfter(loss.at())) ? null : loss.reason();
	}

	private void count(String method, String outcome) {
		this.counts.computeIfAbsent(method, (absent) -> new ConcurrentHashMap<>())
			.computeIfAbsent(outcome, (absent) -> new LongAdder())
			.increment();
	}

	private record Loss(Instant at, LockLostEvent.Reason reason) {

	}

}
