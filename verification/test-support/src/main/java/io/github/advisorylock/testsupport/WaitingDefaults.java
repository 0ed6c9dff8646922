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

import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Has the tests of a JVM look at once, and often, whether what they wait for has come,
 * and wait for it with {@link Patience}: by itself Awaitility looks each tenth of a
 * second, first after one, and gives up after ten seconds.
 */
public final class WaitingDefaults implements LauncherSessionListener {

	private static final Duration INTERVAL = Duration.ofMillis(10);

	@Override
	public void launcherSessionOpened(LauncherSession session) {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval(INTERVAL);
		Awaitility.setDefaultTimeout(Patience.TIME);
	}

}
