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

package io.github.advisorylock.leader;

import java.io.IOException;
import java.time.Duration;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.testsupport.Pause;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * One instance of an application with work in eight shards, each call of which writes
 * when it begins and ends. Lives as long as nobody closes its input. Public for the JVM
 * that starts it.
 */
@EnableScheduling
@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AopAutoConfiguration.class,
		DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		TaskSchedulingAutoConfiguration.class, TransactionAutoConfiguration.class })
@SpringBootConfiguration(proxyBeanMethods = false)
public class ShardedApplication {

	static final String NAME = "sharded";

	static final String ROLE = "work";

	static final int SHARDS = 8;

	private final String instance;

	private final JdbcTemplate jdbc;

	ShardedApplication(Environment environment) {
		this.instance = environment.getRequiredProperty("advisory-lock.instance");
		this.jdbc = new JdbcTemplate(
				new DriverManagerDataSource(environment.getRequiredProperty("spring.datasource.url")));
	}

	@Scheduled(fixedDelay = 20)
	@LeaderOnly(value = ROLE, shards = SHARDS)
	void work() {
		int shard = LockContext.currentShard();
		long term = LockContext.current().orElseThrow().fencingToken().orElseThrow();
		Long call = this.jdbc.queryForObject(
				"INSERT INTO sharded_call (shard, term, instance) VALUES (?, ?, ?) " + "RETURNING id", Long.class,
				shard, term, this.instance);
		Pause.of(Duration.ofMillis(300));
		this.jdbc.update("UPDATE sharded_call SET ended = clock_timestamp() WHERE id = ?", call);
	}

	public static void main(String[] args) throws IOException {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(ShardedApplication.class)
			.web(WebApplicationType.NONE)
			.properties("spring.application.name=" + NAME, "spring.datasource.hikari.maximum-pool-size=1")
			.run(args)) {
			System.out.println("Started");
			while (System.in.read() >= 0) {
				// says nothing to listen to
			}
		}
	}

}
