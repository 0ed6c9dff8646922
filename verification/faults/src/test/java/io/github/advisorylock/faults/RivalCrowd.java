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

package io.github.advisorylock.faults;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Instances of several contestants in one JVM: enough to see that each of them works.
 * Public for the JVM that starts it.
 */
public final class RivalCrowd {

	private RivalCrowd() {
	}

	/**
	 * Run until killed.
	 * @param arguments those of {@link Instance}, once for each contestant
	 */
	public static void main(String[] arguments) throws Exception {
		for (int i = 0; i < arguments.length; i += 8) {
			ContestantSettings settings = new ContestantSettings(arguments[i + 2], arguments[i + 3], arguments[i + 4],
					arguments[i + 5], Duration.ofMillis(Long.parseLong(arguments[i + 6])));
			History history = new History(Path.of(arguments[i + 1]), settings.instance());
			Contestant contestant = (Contestant) Class.forName(arguments[i]).getDeclaredConstructor().newInstance();
			contestant.start(settings,
					new RecordedWork(settings, history, Duration.ofMillis(Long.parseLong(arguments[i + 7]))));
		}
		System.out.println(Instance.STARTED);
		Thread.currentThread().join();
	}

}
