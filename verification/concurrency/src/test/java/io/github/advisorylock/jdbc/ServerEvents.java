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

package io.github.advisorylock.jdbc;

import java.time.Duration;

import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.TrustWindow;

/**
 * What a server may do to a lock session, as tests outside this package have it.
 */
public final class ServerEvents {

	private ServerEvents() {
	}

	/**
	 * Make a window in which nothing was confirmed yet.
	 */
	public static TrustWindow window(Duration length) {
		return new TrustWindow(length, LockScheduler.Ticker.SYSTEM);
	}

	/**
	 * Have the server answer.
	 * @param asked when it was asked
	 * @param answered when the answer came
	 */
	public static void answer(TrustWindow trust, long asked, long answered) {
		trust.confirm(asked, answered);
	}

	/**
	 * Have a lock be lost.
	 */
	public static void lose(Hold hold) {
		hold.markLost();
	}

}
