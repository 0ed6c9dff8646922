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

package com.example.reports;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.annotation.SingleRunner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Jobs that swallow an error of the database, and what they are told to have been.
 */
@Component
@ConditionalOnBooleanProperty("careless")
public class Careless {

	private static final Logger logger = LoggerFactory.getLogger(Careless.class);

	private final Journal journal;

	Careless(Journal journal) {
		this.journal = journal;
	}

	@Scheduled(cron = "* * * * * *")
	@SingleRunner(key = "careless")
	public void run() {
		swallow("careless");
	}

	@Scheduled(cron = "* * * * * *")
	@Transactional
	@SingleRunner(key = "careless-transactional")
	public void runInTransaction() {
		swallow("careless-transactional");
	}

	private void swallow(String job) {
		this.journal.ran(job, LockContext.current().orElseThrow().tick().orElseThrow());
		try {
			this.journal.fail();
		}
		catch (DataAccessException ex) {
			LockContext lock = LockContext.current().orElseThrow();
			logger.info("Swallowed an error of {}, isHeld={}", job, lock.isHeld());
		}
	}

	@EventListener
	void finished(SingleRunnerFinishedEvent event) {
		Throwable failure = event.failure();
		this.journal.ran(
				event.key().name() + ((failure != null) ? " failed: " + failure.getClass().getSimpleName() : " done"),
				event.tick());
	}

}
