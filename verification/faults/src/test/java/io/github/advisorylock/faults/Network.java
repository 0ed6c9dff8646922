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

import java.util.List;

/**
 * A network namespace with one cable to the machine, which can be cut.
 */
final class Network implements AutoCloseable {

	private static final int PARTS = 250;

	private static final boolean POSSIBLE = probe();

	private final String name;

	private final String subnet;

	/**
	 * Create a network.
	 * @param number tells apart those of one JVM
	 */
	Network(int number) {
		long process = ProcessHandle.current().pid();
		this.name = "al" + process % 100_000 + "-" + number;
		this.subnet = "10." + (100 + number % 100) + "." + process % PARTS + ".";
		Command.run("ip", "netns", "add", this.name);
		Command.run("ip", "link", "add", this.name + "h", "type", "veth", "peer", "name", "cable", "netns", this.name);
		Command.run("ip", "address", "add", host() + "/24", "dev", this.name + "h");
		Command.run("ip", "link", "set", this.name + "h", "up");
		inside("ip", "address", "add", this.subnet + "2/24", "dev", "cable");
		inside("ip", "link", "set", "cable", "up");
		inside("ip", "link", "set", "lo", "up");
	}

	/**
	 * Return whether this machine lets us make and cut a network.
	 */
	static boolean isPossible() {
		return POSSIBLE;
	}

	private static boolean probe() {
		String probe = "alp" + ProcessHandle.current().pid() % 100_000;
		return Command.works("ip netns add " + probe + " && ip netns exec " + probe
				+ " iptables -A INPUT -j DROP; code=$?; ip netns delete " + probe + "; exit $code");
	}

	/**
	 * Return the address that the machine has in this network.
	 */
	String host() {
		return this.subnet + "1";
	}

	/**
	 * Return what a command begins with that is to run in this network.
	 */
	List<String> prefix() {
		return List.of("ip", "netns", "exec", this.name);
	}

	/**
	 * Have packets dropped.
	 * @param chains {@code INPUT} for what comes in, {@code OUTPUT} for what goes out
	 */
	void cut(String... chains) {
		for (String chain : chains) {
			inside("iptables", "-A", chain, "-j", "DROP");
		}
	}

	/**
	 * Let everything through again.
	 */
	void mend() {
		inside("iptables", "-F");
	}

	private void inside(String... command) {
		String[] whole = new String[4 + command.length];
		prefix().toArray(whole);
		System.arraycopy(command, 0, whole, 4, command.length);
		Command.run(whole);
	}

	@Override
	public void close() {
		Command.run("ip", "netns", "delete", this.name);
	}

}
