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

package io.github.advisorylock.benchmarks.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A JVM with some instances of a fleet. It does what it reads, line by line, and says
 * {@link #DONE} after each.
 */
public final class InstanceJvm {

	/**
	 * How each answer ends.
	 */
	static final String DONE = "done";

	/**
	 * Have the instances take part in elections of a number of roles.
	 */
	static final String ELECT = "elect ";

	/**
	 * Have the instances hold a lock each.
	 */
	static final String HOLD = "hold";

	private InstanceJvm() {
	}

	/**
	 * Start instances and have them do what is asked for, until nobody asks any more.
	 * @param args how many, the URL of their database, further properties
	 * @throws IOException if what is asked for can't be read
	 */
	public static void main(String[] args) throws IOException {
		List<Instance> instances = new ArrayList<>();
		String[] properties = Arrays.copyOfRange(args, 2, args.length);
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			instances.add(new Instance(InstanceConfiguration.start(args[1], properties)));
		}
		Warnings warnings = Warnings.listen();
		System.gc();
		Runtime runtime = Runtime.getRuntime();
		say("heap " + (runtime.totalMemory() - runtime.freeMemory()));
		say(DONE);
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			if (line.startsWith(ELECT)) {
				int roles = Integer.parseInt(line.substring(ELECT.length()));
				say("leaders " + instances.stream().mapToLong((instance) -> instance.leads(roles)).sum());
			}
			else if (line.equals(HOLD)) {
				instances.forEach(Instance::hold);
			}
			else {
				play(instances, Call.parse(line)).forEach(InstanceJvm::say);
			}
			warnings.take().forEach((warning) -> say("error " + warning));
			say(DONE);
		}
		instances.parallelStream().forEach(Instance::close);
	}

	private static List<String> play(List<Instance> instances, Call call) {
		List<String> lines = Collections.synchronizedList(new ArrayList<>());
		List<CompletableFuture<?>> playing = new ArrayList<>();
		instances.forEach((instance) -> playing.add(instance.play(call, lines::add)));
		CompletableFuture.allOf(playing.toArray(CompletableFuture[]::new)).exceptionally((failure) -> null).join();
		return List.copyOf(lines);
	}

	private static void say(String line) {
		System.out.println(line);
	}

}
