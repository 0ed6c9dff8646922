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

import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Instances;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

/**
 * The home page. All that it shows is read from the database and the library when it is
 * asked for, so each instance shows the same.
 */
@Controller
class HomeController {

	private static final String POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
			+ "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

	private final Instance instance;

	private final Instances instances;

	private final ActivityLog activity;

	private final LeaderLog leaders;

	private final ShardView shards;

	private final ReportView report;

	private final ShopView shop;

	HomeController(Instance instance, Instances instances, ActivityLog activity, LeaderLog leaders, ShardView shards,
			ReportView report, ShopView shop) {
		this.instance = instance;
		this.instances = instances;
		this.activity = activity;
		this.leaders = leaders;
		this.shards = shards;
		this.report = report;
		this.shop = shop;
	}

	@GetMapping("/")
	String home(Model model, HttpServletRequest request, HttpServletResponse response) {
		response.setHeader("Content-Security-Policy", POLICY);
		model.addAttribute("instance", this.instance.name());
		model.addAttribute("address", this.instance.address());
		model.addAttribute("host", "http://" + request.getServerName() + ":");
		model.addAttribute("time", LocalTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS));
		List<Instances.Known> known = this.instances.all();
		model.addAttribute("instances", known);
		model.addAttribute("leaders", this.leaders.last());
		addShards(model, known);
		addReport(model);
		addShop(model);
		return "home";
	}

	private void addShards(Model model, List<Instances.Known> known) {
		List<ShardView.Shard> all = this.shards.all(known);
		model.addAttribute("shards", all);
		model.addAttribute("parts", this.shards.parts(known, all));
	}

	private void addReport(Model model) {
		model.addAttribute("reports", this.report.runs());
		model.addAttribute("next", this.report.next());
		model.addAttribute("retry", this.report.retry());
		model.addAttribute("willFail", this.report.willFail());
		model.addAttribute("ticks", this.activity.of("nightly-report"));
	}

	private void addShop(Model model) {
		model.addAttribute("paid", this.shop.paidBy("ada"));
		model.addAttribute("payments", this.activity.of("payment:"));
		model.addAttribute("exports", this.activity.of("export:"));
		model.addAttribute("prices", this.activity.of("partner-prices"));
		model.addAttribute("token", this.shop.nextToken());
		model.addAttribute("waiting", this.shop.waitingMessages());
		model.addAttribute("checks", this.activity.of("outbox-check"));
		model.addAttribute("senders", this.shop.senders());
		model.addAttribute("tenants", this.shop.tenants());
	}

}
