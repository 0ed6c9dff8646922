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

package io.github.advisorylock.actuate;

import java.net.http.HttpResponse;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import com.zaxxer.hikari.HikariDataSource;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what operators can do while the database with the ledger has become
 * read-only, as providers make one whose disk is full.
 */
@Tag("gate")
class ReadOnlyLedgerTests {

	private static final Queue<String> acts = new ConcurrentLinkedQueue<>();

	private static final Gate gate = new Gate();

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		TestPostgres.execute("CREATE DATABASE full_disk");
		application = OperatedApplication.start(Jobs.class, "advisory-lock.instance=shop-1",
				"spring.datasource.url="
						+ TestPostgres.url().replaceFirst("(jdbc:postgresql://[^/]*/)[^?]*", "$1full_disk"),
				"management.endpoints.web.exposure.include=advisorylocks,health",
				"management.endpoint.health.show-details=always",
				"management.endpoint.advisorylocks.access=unrestricted");
	}

	@AfterAll
	static void stop() {
		application.close();
		TestPostgres.execute("DROP DATABASE full_disk WITH (FORCE)");
	}

	@Test
	void whatNeedsNoWritingIsDoneAndTheRestIsRefusedWithTheReason() {
		assertThat(application.runNow("hangs-not").body()).contains("EXECUTED");
		assertThat(application.get("actuator/health").body()).contains("\"ledger\":\"reachable\"");
		CompletableFuture<Void> run = Gate.runAsync(application.bean(Jobs.class)::hang);
		gate.awaitEntered();
		setReadOnly("on");
		try {
			acts.clear();
			assertThat(application.get("actuator/health")).satisfies((health) -> {
				assertThat(health.statusCode()).isEqualTo(503);
				assertThat(health.body()).contains("read-only");
			});
			assertThat(application.setState("hangs", "cancelled").body()).contains("ENDED");
			Gate.assertThatInterruptEnds(run);
			assertThat(act("drained").statusCode()).isEqualTo(200);
			assertThat(application.get("actuator/advisorylocks").body()).contains("\"drained\":true");
			assertThat(application.setState("hangs-not", "running").statusCode()).isEqualTo(409);
			assertThat(post("{\"state\":\"paused\"}")).satisfies((refused) -> {
				assertThat(refused.statusCode()).isEqualTo(503);
				assertThat(refused.body()).contains("read-only");
			});
			assertThat(acts).as("what failed, too").containsExactly("CANCELLED", "INSTANCE_DRAINED", "ALL_PAUSED");
		}
		finally {
			setReadOnly("off");
		}
		assertThat(act("resumed").statusCode()).isEqualTo(200);
		assertThat(application.runNow("hangs-not").body()).contains("EXECUTED");
	}

	private static HttpResponse<String> act(String state) {
		return post("{\"state\":\"" + state + "\",\"instance\":\"shop-1\"}");
	}

	private static HttpResponse<String> post(String body) {
		return application.post("actuator/advisorylocks", "application/json", body);
	}

	private static void setReadOnly(String value) {
		TestPostgres.execute("ALTER DATABASE full_disk SET default_transaction_read_only = " + value);
		application.bean(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();
	}

	/**
	 * One that hangs, and one that does not.
	 */
	static class Jobs {

		@SingleRunner(key = "hangs", scope = LockScope.SESSION)
		void hang() {
			gate.pass();
		}

		@SingleRunner(key = "hangs-not")
		void hangNot() {
		}

		@EventListener
		void acted(AuditApplicationEvent event) {
			acts.add(event.getAuditEvent().getType().replace("ADVISORY_LOCK_", ""));
		}

	}

}
