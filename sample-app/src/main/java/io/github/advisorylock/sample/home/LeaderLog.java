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
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Says in one line each who began and who stopped leading, and remembers it for the page.
 */
@Component
class LeaderLog {

	private static final Log logger = LogFactory.getLog(LeaderLog.class);

	private final JdbcClient jdbc;

	private final Instance instance;

	LeaderLog(JdbcClient jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	@EventListener
	void gained(LeadershipGainedEvent event) {
		logger.info("Instance " + this.instance + " leads '" + event.role() + "' in term " + event.term());
		this.jdbc.sql("""
				INSERT INTO leadership AS known (role, instance, term) VALUES (?, ?, ?) ON CONFLICT (role)
				DO UPDATE SET instance = excluded.instance, term = excluded.term, until = NULL
				WHERE known.term <= excluded.term
				""").params(event.role(), this.instance.name(), event.term()).update();
	}

	@EventListener
	void lost(LeadershipLostEvent event) {
		logger.info("Instance " + this.instance + " no longer leads '" + event.role() + "'");
		this.jdbc.sql("UPDATE leadership SET until = now() WHERE role = ? AND term = ?")
			.params(event.role(), event.term())
			.update();
	}

	/**
	 * Return who leads, as far as is known: an instance that is killed can't say so.
	 */
	List<Leadership> leaders() {
		return this.jdbc.sql("SELECT role, instance, term FROM leadership WHERE until IS NULL ORDER BY role")
			.query(Leadership.class)
			.list();
	}

	/**
	 * Who leads a role.
	 */
	record Leadership(String role, String instance, long term) {

	}

}
