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

package io.github.advisorylock.sample.outbox;

import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.sample.Instance;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Looks whether messages pile up in the outbox, once per interval, however many instances
 * there are: each calls it as often, at a time of its own, and is skipped unless nobody
 * has looked in this interval.
 */
@Component
class OutboxCheck {

	private static final Log logger = LogFactory.getLog(OutboxCheck.class);

	private static final int MANY = 100;

	private final JdbcClient jdbc;

	private final Instance instance;

	OutboxCheck(JdbcClient jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	@Scheduled(fixedDelayString = "${sample.outbox.check-every}", initialDelayString = "${sample.outbox.check-every}")
	@SingleRunner("outbox-check")
	void check() {
		int waiting = this.jdbc.sql("SELECT count(*) FROM outbox WHERE sent_at IS NULL").query(Integer.class).single();
		if (waiting >= MANY) {
			logger.warn("Instance " + this.instance + " finds " + waiting + " messages waiting in the outbox");
		}
	}

}
