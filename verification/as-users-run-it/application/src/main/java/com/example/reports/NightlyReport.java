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
import io.github.advisorylock.annotation.SingleRunner;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The example of the README, each second.
 */
@Component
public class NightlyReport {

	private final Journal journal;

	NightlyReport(Journal journal) {
		this.journal = journal;
	}

	@Scheduled(cron = "* * * * * *")
	@SingleRunner(key = "nightly-report")
	public void create() {
		this.journal.ran("nightly-report", LockContext.current().orElseThrow().tick().orElseThrow());
	}

}
