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

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * One instance of a contestant, in a JVM of its own, until it is killed or its input
 * ends. Public for the JVM that starts it.
 */
public final class Instance {

	static final String STARTED = "Instance is up";

	/**
	 * What is written to an instance to have its runs interrupted.
	 */
	static final String INTERRUPT = "interrupt";

	static final String STOPPED = "Instance has stopped";

	private Instance() {
	}

	/**
	 * Run.
	 * @param arguments class of the contestant, file of the history, URL, user, password,
	 * name, milliseconds between two ticks, milliseconds of a run
	 */
	public static void main(String[] arguments) throws Exception {
		ContestantSettings settings = new ContestantSettings(arguments[2], arguments[3], arguments[4], arguments[5],
				Duration.ofMillis(Long.parseLong(arguments[6])));
		try (History history = new History(Path.of(arguments[1]), settings.instance());
				Contestant contestant = (Contestant) Class.forName(arguments[0])
					.getDeclaredConstructor()
					.newInstance()) {
			RecordedWork work = new RecordedWork(settings, history, Duration.ofMillis(Long.parseLong(arguments[7])));
			contestant.start(settings, work);
			System.out.println(STARTED);
			BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String line = input.readLine(); line != null; line = input.readLine()) {
				if (line.equals(INTERRUPT)) {
					work.interrupt();
				}
			}
		}
		System.out.println(STOPPED);
		System.exit(0);
	}

}
