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

package io.github.advisorylock.sample.provision;

import java.util.List;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows which tenants there are, and which instance set each of them up.
 */
@RestController
class TenantController {

	private final JdbcClient jdbc;

	TenantController(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@GetMapping("/tenants")
	List<Tenant> tenants() {
		return this.jdbc.sql("SELECT name, plan, provisioned_by FROM tenant ORDER BY name").query(Tenant.class).list();
	}

	/**
	 * A tenant.
	 */
	record Tenant(String name, String plan, String provisionedBy) {

	}

}
