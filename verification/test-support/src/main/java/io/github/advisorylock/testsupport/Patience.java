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

package io.github.advisorylock.testsupport;

import java.time.Duration;

/**
 * How long tests wait for what comes at once, as it may take a while on a busy machine.
 * Who waits goes on when it has come, so that nothing is gained by less.
 */
public final class Patience {

	/**
	 * For methods that want a number.
	 */
	public static final long SECONDS = 30;

	/**
	 * For methods that want a duration.
	 */
	public static final Duration TIME = Duration.ofSeconds(SECONDS);

	private Patience() {
	}

}
