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

import io.github.advisorylock.sample.Instance;

import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

/**
 * The start page.
 */
@Controller
class HomeController {

	private final Instance instance;

	private final ActivityLog activity;

	private final LeaderLog leaders;

	private final LedgerView ledger;

	private final OutboxView outbox;

	HomeController(Instance instance, ActivityLog activity, LeaderLog leaders, LedgerView ledger, OutboxView outbox) {
		this.instance = instance;
		this.activity = activity;
		this.leaders = leaders;
		this.ledger = ledger;
		this.outbox = outbox;
	}

	@GetMapping("/")
	String home(Model model) {
		model.addAttribute("instance", this.instance.name());
		model.addAttribute("address", "http://localhost:" + this.instance.port());
		model.addAttribute("activities", this.activity.recent());
		model.addAttribute("leaders", this.leaders.leaders());
		model.addAttribute("reports", this.ledger.lastReports());
		model.addAttribute("senders", this.outbox.senders());
		model.addAttribute("waiting", this.outbox.waiting());
		return "home";
	}

}
