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

package io.github.advisorylock.shedlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.testsupport.TestPostgres;
import net.javacrumbs.shedlock.core.LockProvider;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Configuration;

/**
 * An application with ShedLock on its class path and a ledger, named {@code shedlock}.
 */
final class ShedLockApplication implements AutoCloseable {

	static final String NAMESPACE = "shedlock";

	static final String PREFIX = "shedlock_tests_";

	final ConfigurableApplicationContext context;

	final Queue<AdvisoryLockKey> lost = new ConcurrentLinkedQueue<>();

	private ShedLockApplication(ConfigurableApplicationContext context) {
		this.context = context;
		context.addApplicationListener((event) -> {
			if (event instanceof PayloadApplicationEvent<?> payload
					&& payload.getPayload() instanceof LockLostEvent loss) {
				this.lost.add(loss.key());
			}
		});
	}

	/**
	 * Start an application, with further sources, and properties after those.
	 */
	static ShedLockApplication start(List<Class<?>> sources, String... properties) {
		return start(TestPostgres.url(), sources, properties);
	}

	static ShedLockApplication start(String... properties) {
		return start(List.of(), properties);
	}

	/**
	 * Start an application on any database.
	 */
	static ShedLockApplication start(String url, List<Class<?>> sources, String... properties) {
		List<Class<?>> all = new ArrayList<>(sources);
		all.add(Application.class);
		return new ShedLockApplication(new SpringApplicationBuilder(all.toArray(Class<?>[]::new))
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties("spring.datasource.url=" + url, "spring.application.name=" + NAMESPACE,
					"spring.datasource.hikari.maximum-pool-size=20", "spring.datasource.hikari.minimum-idle=0",
					"spring.flyway.enabled=false", "spring.liquibase.enabled=false", "spring.jmx.enabled=false",
					"advisory-lock.ledger.initialize-schema=always", "advisory-lock.ledger.table-prefix=" + PREFIX)
			.properties(properties)
			.run());
	}

	LockProvider provider() {
		return this.context.getBean(LockProvider.class);
	}

	/**
	 * Return whether a session of the server holds the lock of a name.
	 */
	static boolean isLocked(String name) {
		return !holders(name).isEmpty();
	}

	/**
	 * Have the server end the session that holds the lock of a name.
	 */
	static void terminateHolder(String name) {
		holders(name).forEach((pid) -> TestPostgres.execute("SELECT pg_terminate_backend(" + pid + ")"));
	}

	private static List<String> holders(String name) {
		return TestPostgres.query("SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
				+ "AND d.datname = current_database() WHERE l.locktype = 'advisory' AND l.granted "
				+ "AND concat_ws(':', l.classid, l.objid, l.objsubid) = '"
				+ PostgresAdvisoryLockTemplate.lockEntry(AdvisoryLockKey.of(NAMESPACE, name)) + "'");
	}

	/**
	 * Return whether the ledger keeps a name, where there is one.
	 */
	static boolean isKept(String name) {
		boolean ledger = TestPostgres.query("SELECT to_regclass('" + PREFIX + "job') IS NOT NULL").contains("t");
		return ledger && !TestPostgres
			.query("SELECT 1 FROM " + PREFIX + "job WHERE key = '" + name + "' AND held_until > clock_timestamp()")
			.isEmpty();
	}

	/**
	 * Have the ledger keep a name no longer, as time does.
	 */
	static void letTimePass(String name) {
		TestPostgres.execute("UPDATE " + PREFIX + "job SET held_until = clock_timestamp() WHERE key = '" + name + "'");
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class Application {

	}

}
