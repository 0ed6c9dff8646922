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

package io.github.advisorylock.database;

import java.util.List;

/**
 * What a feature does in each database that has locks, besides the default one, whose
 * parts are beans.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockDatabaseFeature {

	/**
	 * Return what looks after the locks of a database. Initializing singletons and life
	 * cycles among it are treated as those of beans are; a
	 * {@link io.github.advisorylock.jdbc.RunLedger} records the runs.
	 * @param database the database, whose ledger can't be asked for yet
	 * @return the parts, in the order in which they are to begin
	 */
	List<Object> createFor(LockDatabase database);

}
