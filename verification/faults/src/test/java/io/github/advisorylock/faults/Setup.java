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

/**
 * What a fleet works with.
 *
 * @param jvm what its instances run on
 * @param withoutReset whether lock sessions go through a pooler that keeps sessions, and
 * hands on what a client has left in a server process
 * @param partitioned whether the table of the completed keys is partitioned
 */
record Setup(Jvm jvm, boolean withoutReset, boolean partitioned) {

	/**
	 * Return what the tests of the harness need.
	 */
	static Setup plain() {
		return new Setup(Jvm.own(), false, false);
	}

	/**
	 * Return what a fleet works with, one of those side by side. Every other one is on
	 * virtual threads, if there are any; of four fleets no two have the same.
	 */
	static Setup of(int fleet) {
		Jvm jvm = (fleet % 2 == 0) ? Jvm.withVirtualThreads().orElseGet(Jvm::own) : Jvm.own();
		return new Setup(jvm, fleet % 4 == 1 || fleet % 4 == 2, fleet % 4 < 2);
	}

}
