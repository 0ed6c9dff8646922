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

package io.github.advisorylock.actuate.page;

import java.time.Duration;
import java.time.Instant;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Who tells what is on the page, and when.
 *
 * @param time the moment, by the database's clock
 * @param instance the instance that tells it
 * @param namespace its namespace
 * @param database the database it has it from, {@code null} if that is not told
 * @param clockSkew by how much the clock of the database is ahead of the instance's
 * @param ledger whether the ledger is in use
 */
record About(Instant time, String instance, String namespace, @Nullable String database, Duration clockSkew,
		boolean ledger) {

	static About of(AdvisoryLocksDescriptor all) {
		return new About(all.time(), all.instance(), all.namespace(), all.database(), all.clockSkew(), all.ledger());
	}

}
