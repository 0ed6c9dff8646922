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

package io.github.advisorylock.sample.export;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.WhenBusy;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;

/**
 * Writes the orders of each day as CSV. It is costly, so each user may have one at a
 * time; a second request fails.
 */
@Service
class OrderExport {

	private static final Log logger = LogFactory.getLog(OrderExport.class);

	private final JdbcClient jdbc;

	private final Instance instance;

	private final Pace pace;

	private final Duration pause;

	OrderExport(JdbcClient jdbc, Instance instance, Pace pace,
			@Value("${sample.export.pause-per-day}") Duration pause) {
		this.jdbc = jdbc;
		this.instance = instance;
		this.pace = pace;
		this.pause = pause;
	}

	@SingleRunner(key = "export:#{#userId}", whenBusy = WhenBusy.FAIL)
	String export(String userId) {
		logger.info("Export for user '" + userId + "' begins on instance " + this.instance);
		StringBuilder csv = new StringBuilder("day,orders,amount\n");
		List<Map<String, Object>> days = this.jdbc.sql("""
				SELECT ordered_on, count(*) AS orders, sum(amount) AS amount FROM customer_order
				GROUP BY ordered_on ORDER BY ordered_on
				""").query().listOfRows();
		for (Map<String, Object> day : days) {
			csv.append(day.get("ordered_on")).append(',').append(day.get("orders"));
			csv.append(',').append(day.get("amount")).append('\n');
			this.pace.pause(this.pause);
		}
		return csv.toString();
	}

}
