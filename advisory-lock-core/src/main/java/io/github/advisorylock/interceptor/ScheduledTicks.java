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

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The ticks that the annotations of a method plan. A refresh of the configuration may
 * give its placeholders other values, so its schedule is parsed again whenever a
 * scheduler is given the method again, and not at a call.
 */
final class ScheduledTicks {

	/**
	 * No ticks.
	 */
	static final ScheduledTicks NONE = of(null);

	private final Supplier<? extends @Nullable CronTicks> parser;

	private volatile @Nullable CronTicks current;

	/**
	 * Create ticks.
	 * @param parser parses the schedule of the method, {@code null} if it plans no ticks;
	 * asked now and whenever a scheduler is given the method again
	 */
	ScheduledTicks(Supplier<? extends @Nullable CronTicks> parser) {
		this.parser = parser;
		this.current = parser.get();
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

	/**
	 * Parse the schedule again.
	 * @return whether it is another one now
	 */
	boolean parseAgain() {
		String before = String.valueOf(this.current);
		CronTicks parsed = this.parser.get();
		this.current = parsed;
		return !before.equals(String.valueOf(parsed));
	}

}
