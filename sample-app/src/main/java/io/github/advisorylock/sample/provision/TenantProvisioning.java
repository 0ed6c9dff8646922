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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockBusyException;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.sample.Instance;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.core.retry.RetryException;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Sets up a tenant for each file of a folder at start-up. An instance must not serve
 * before that is done, so it waits for another one that is at it, a few times over,
 * rather than skip.
 */
@Component
class TenantProvisioning implements ApplicationRunner {

	private static final Log logger = LogFactory.getLog(TenantProvisioning.class);

	private static final int RETRIES = 3;

	private final AdvisoryLockOperations locks;

	private final JdbcClient jdbc;

	private final Instance instance;

	private final Path folder;

	private final LockRequest request;

	TenantProvisioning(AdvisoryLockOperations locks, JdbcClient jdbc, Instance instance,
			@Value("${sample.provision.folder}") Path folder, @Value("${sample.provision.wait-for}") Duration waitFor) {
		this.locks = locks;
		this.jdbc = jdbc;
		this.instance = instance;
		this.folder = folder;
		this.request = LockRequest.of("tenant-provisioning").waitFor(waitFor);
	}

	@Override
	public void run(ApplicationArguments arguments) throws RetryException {
		RetryPolicy policy = RetryPolicy.builder()
			.includes(LockBusyException.class)
			.maxRetries(RETRIES)
			.delay(Duration.ZERO)
			.build();
		int created = new RetryTemplate(policy).execute(this::sweepAlone);
		logger.info("Instance " + this.instance + " provisioned " + created + " new tenants from " + this.folder);
	}

	private Integer sweepAlone() throws IOException {
		return this.locks.execute(this.request, (lock) -> sweep()).orElseThrow();
	}

	private Integer sweep() throws IOException {
		if (!Files.isDirectory(this.folder)) {
			return 0;
		}
		int created = 0;
		try (Stream<Path> files = Files.list(this.folder)) {
			List<Path> tenants = files.filter((file) -> file.toString().endsWith(".properties")).sorted().toList();
			for (Path tenant : tenants) {
				created += provision(PropertiesLoaderUtils.loadProperties(new FileSystemResource(tenant)));
			}
		}
		return created;
	}

	private int provision(Properties tenant) {
		return this.jdbc.sql("""
				INSERT INTO tenant (name, plan, provisioned_by) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
				""")
			.params(tenant.getProperty("name"), tenant.getProperty("plan", "free"), this.instance.name())
			.update();
	}

}
