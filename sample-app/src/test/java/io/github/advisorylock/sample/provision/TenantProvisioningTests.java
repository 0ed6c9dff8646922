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

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.DefaultApplicationArguments;
import org.springframework.core.retry.RetryException;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TenantProvisioning}.
 */
@SampleTest
@Tag("gate")
class TenantProvisioningTests {

	private static final String KEY = "tenant-provisioning";

	private final String tenant = UUID.randomUUID().toString();

	@TempDir
	private Path folder;

	@Autowired
	private AdvisoryLockOperations locks;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private Instance instance;

	@BeforeEach
	void writeTenant() throws Exception {
		Files.writeString(this.folder.resolve("new.properties"), "name=" + this.tenant);
	}

	@Test
	void sweepCreatesTheTenantsOfTheFolderOnce() throws Exception {
		sweep(Duration.ZERO);
		sweep(Duration.ZERO);
		assertThat(tenants()).isEqualTo(1);
		assertThat(new HttpCalls(this.instance.port()).get("/tenants").body()).contains(this.tenant, "acme", "free");
	}

	@Test
	void sweepWaitsForAnotherOneRatherThanSkip() throws Exception {
		CompletableFuture<Void> waiting;
		try (OutsideLock held = OutsideLock.on(KEY)) {
			waiting = CompletableFuture.runAsync(() -> {
				try {
					sweep(Duration.ofSeconds(5));
				}
				catch (RetryException ex) {
					throw new IllegalStateException(ex);
				}
			});
			OutsideLock.awaitWaiter();
			assertThat(tenants()).isZero();
		}
		waiting.join();
		assertThat(tenants()).isEqualTo(1);
	}

	@Test
	void sweepThatIsBusyAfterItsRetriesFails() throws Exception {
		try (OutsideLock held = OutsideLock.on(KEY)) {
			assertThatExceptionOfType(RetryException.class).isThrownBy(() -> sweep(Duration.ofMillis(50)))
				.withCauseInstanceOf(LockBusyException.class)
				.satisfies((ex) -> assertThat(ex.getRetryCount()).isEqualTo(3));
		}
		assertThat(tenants()).isZero();
	}

	private void sweep(Duration waitFor) throws RetryException {
		new TenantProvisioning(this.locks, this.jdbc, this.instance, this.folder, waitFor)
			.run(new DefaultApplicationArguments());
	}

	private int tenants() {
		return this.jdbc.sql("SELECT count(*) FROM tenant WHERE name = ?")
			.param(this.tenant)
			.query(Integer.class)
			.single();
	}

}
