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

package io.github.advisorylock.monitor;

import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.function.Function;

import io.github.advisorylock.AdvisoryLockKey;

/**
 * What PostgreSQL locks, as its table of locks has it. Prints as the arguments of its
 * lock functions.
 *
 * @param classId the upper half of a 64-bit number, or the first of a pair
 * @param objectId the lower half, or the second of a pair
 * @param subId 1 for a 64-bit number, 2 for a pair
 * @see <a href="https://www.postgresql.org/docs/current/view-pg-locks.html">PostgreSQL
 * manual, the view of locks</a>
 * @since 0.1.0
 */
public record LockNumber(int classId, int objectId, int subId) {

	private static final int PAIR = 2;

	/**
	 * Return the number of a key.
	 * @param key the key
	 * @return its number
	 */
	public static LockNumber of(AdvisoryLockKey key) {
		return new LockNumber(key.classId(), key.objectId(), key.isPair() ? PAIR : 1);
	}

	/**
	 * Return the lock as the table of locks has it.
	 * @return class, object and kind, with a colon between them
	 */
	public String entry() {
		return Integer.toUnsignedString(this.classId) + ":" + Integer.toUnsignedString(this.objectId) + ":"
				+ this.subId;
	}

	/**
	 * Bind arrays of the parts of some numbers, as the first parameters.
	 * @return the index of the next parameter
	 */
	static int bind(PreparedStatement statement, Collection<LockNumber> numbers) throws SQLException {
		statement.setArray(1, array(statement, "bigint", numbers, (number) -> Integer.toUnsignedLong(number.classId)));
		statement.setArray(2, array(statement, "bigint", numbers, (number) -> Integer.toUnsignedLong(number.objectId)));
		statement.setArray(3, array(statement, "integer", numbers, LockNumber::subId));
		return 4;
	}

	private static Array array(PreparedStatement statement, String type, Collection<LockNumber> numbers,
			Function<LockNumber, Object> part) throws SQLException {
		return statement.getConnection().createArrayOf(type, numbers.stream().map(part).toArray());
	}

	@Override
	public String toString() {
		return (this.subId == PAIR) ? this.classId + ", " + this.objectId
				: Long.toString(((long) this.classId << Integer.SIZE) | Integer.toUnsignedLong(this.objectId));
	}

}
