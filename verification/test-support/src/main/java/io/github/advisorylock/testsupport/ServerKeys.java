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

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What the server makes of the texts of keys.
 */
public final class ServerKeys {

	private static final String FORMULA = """
			SELECT ('x' || left(encode(sha256(convert_to(text, 'UTF8')), 'hex'), 16))::bit(64)::bigint
			FROM unnest(?::text[]) WITH ORDINALITY AS names (text, position) ORDER BY position
			""";

	private ServerKeys() {
	}

	/**
	 * Compute the numbers of many texts in one query, by the documented formula.
	 */
	public static List<Long> of(List<String> texts) {
		try (Connection connection = TestPostgres.open();
				PreparedStatement statement = connection.prepareStatement(FORMULA)) {
			statement.setArray(1, connection.createArrayOf("text", texts.toArray()));
			List<Long> values = new ArrayList<>();
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					values.add(rows.getLong(1));
				}
			}
			return values;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Return the first 4 bytes of the SHA-256 of a text, computed by the server.
	 */
	public static int firstFourBytes(String text) {
		return Integer.parseInt(
				TestPostgres
					.query("SELECT ('x' || left(encode(sha256(convert_to('" + text.replace("'", "''")
							+ "', 'UTF8')), 'hex'), 8))::bit(32)::int")
					.get(0));
	}

	/**
	 * Read the locks of the server as words.
	 */
	public static List<String> tagsInLockTable() {
		return TestPostgres.query("SELECT encode(decode(lpad(to_hex(classid::bigint), 8, '0') "
				+ "|| lpad(to_hex(objid::bigint), 8, '0'), 'hex'), 'escape') FROM pg_locks "
				+ "WHERE locktype = 'advisory' AND granted");
	}

}
