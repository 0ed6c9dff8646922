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

package io.github.advisorylock.sample.home;

import java.util.List;

import io.github.advisorylock.LeadershipGainedEvent;
import io.github.advisorylock.LeadershipLostEvent;
import io.github.advisorylock.sample.Instance;
import org.jspecify.annotations.Nullable;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Remembers for the page who led, as the library tells each instance in events.
 */
@Component
class LeaderLog {

	private static final int MOST_SHOWN = 5;

	private final JdbcClient jdbc;

	private final Instance instance;

	LeaderLog(JdbcClient jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	@EventListener
	void gained(LeadershipGainedEvent event) {
		this.jdbc.sql("INSERT INTO leadership (role, term, instance) VALUES (?, ?, ?)")
			.params(event.role(), event.term(), this.instance.name())
			.update();
	}

	@EventListener
	void lost(LeadershipLostEvent event) {
		this.jdbc.sql("UPDATE leadership SET until = now() WHERE role = ? AND term = ?")
			.params(event.role(), event.term())
			.update();
	}

	/**
	 * Return who led the role metrics, the last first. One that was killed could not say
	 * until when: its successor came so many seconds after its last sign of life.
	 */
	List<Leadership> last() {
		return this.jdbc.sql("""
				SELECT *, row_number() OVER terms AS number, until IS NULL AND lead(term) OVER terms IS NULL AS leads,
				to_char(since AT TIME ZONE 'UTC', 'HH24:MI:SS') AS began,
				to_char(until AT TIME ZONE 'UTC', 'HH24:MI:SS') AS ended,
				extract(epoch FROM since - lag(coalesce(until, seen_at)) OVER terms)::numeric(9, 1) AS vacant_seconds
				FROM leadership l LEFT JOIN LATERAL (SELECT max(seen_at) AS seen_at FROM sample_instance
				WHERE name = l.instance) AS sign ON true
				WHERE role = 'metrics' WINDOW terms AS (ORDER BY term) ORDER BY term DESC LIMIT ?
				""").params(MOST_SHOWN).query(Leadership.class).list();
	}

	/**
	 * A term of a leader.
	 */
	record Leadership(String role, int number, long term, String instance, boolean leads, String began,
			@Nullable String ended, @Nullable Double vacantSeconds) {

	}

}
