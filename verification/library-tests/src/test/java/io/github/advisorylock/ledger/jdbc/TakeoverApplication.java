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

package io.github.advisorylock.ledger.jdbc;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration;
import io.github.advisorylock.testsupport.Pause;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * One instance of an application with ten jobs in each scope, each of which is to be run
 * once per tick whatever happens. An instance that is the victim of a tick begins its
 * work and never ends it; others come a little later. Where attempts are to fail, the
 * first one does. Public for the JVM that starts it.
 */
@EnableScheduling
@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AdvisoryLockLedgerAutoConfiguration.class,
		AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
		DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
		TaskSchedulingAutoConfiguration.class, TransactionAutoConfiguration.class })
@SpringBootConfiguration(proxyBeanMethods = false)
public class TakeoverApplication {

	static final String STARTED = "Instance is up";

	static final String CRON = "${cron}";

	private final JdbcTemplate jdbc;

	private final JdbcTemplate apart;

	private final boolean fail;

	TakeoverApplication(JdbcTemplate jdbc, Environment environment) {
		this.jdbc = jdbc;
		this.apart = new JdbcTemplate(
				new DriverManagerDataSource(environment.getRequiredProperty("spring.datasource.url")));
		this.fail = environment.getRequiredProperty("fail", Boolean.class);
	}

	@Bean
	ThreadPoolTaskSchedulerCustomizer afterVictim() {
		return (scheduler) -> scheduler.setTaskDecorator((task) -> () -> {
			if (isVictimElsewhere()) {
				Pause.of(Duration.ofSeconds(6));
			}
			task.run();
		});
	}

	@EventListener
	void noteSkip(SingleRunnerSkippedEvent event) {
		if (isVictimElsewhere()) {
			this.apart.update("INSERT INTO takeover_skip VALUES (?, ?, ?, clock_timestamp())", event.key().name(),
					event.tick().atOffset(ZoneOffset.UTC), ProcessHandle.current().pid());
		}
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t0", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction0() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t1", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction1() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t2", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction2() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t3", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction3() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t4", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction4() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t5", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction5() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t6", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction6() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t7", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction7() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t8", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction8() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "t9", once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void transaction9() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s0", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session0() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s1", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session1() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s2", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session2() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s3", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session3() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s4", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session4() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s5", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session5() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s6", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session6() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s7", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session7() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s8", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session8() {
		work();
	}

	@Scheduled(cron = CRON, zone = "UTC")
	@SingleRunner(key = "s9", scope = LockScope.SESSION, once = Once.PER_TICK, catchUp = "10m", maxRetries = 1)
	void session9() {
		work();
	}

	private void work() {
		LockContext lock = LockContext.current().orElseThrow();
		String key = lock.key().name();
		Instant tick = lock.tick().orElseThrow();
		this.apart.update("INSERT INTO takeover_begin VALUES (?, ?, ?, ?, clock_timestamp())", key,
				tick.atOffset(ZoneOffset.UTC), lock.attempt(), ProcessHandle.current().pid());
		if (isVictim(true)) {
			Pause.of(Duration.ofMinutes(2));
		}
		if (this.fail && lock.attempt() == 1) {
			throw new IllegalStateException("expected");
		}
		Pause.of(Duration.ofMillis(20));
		this.jdbc.update("INSERT INTO takeover_effect VALUES (?, ?, ?)", key, tick.atOffset(ZoneOffset.UTC),
				lock.fencingToken().orElseThrow());
	}

	/**
	 * Return whether there is a victim, which is another instance. Who can't be asked
	 * says no: the database may be away.
	 */
	private boolean isVictimElsewhere() {
		try {
			return isVictim(false);
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	private boolean isVictim(boolean itself) {
		return this.apart
			.queryForList("SELECT pid FROM takeover_victim WHERE (pid = ?) = ?", Long.class,
					ProcessHandle.current().pid(), itself)
			.size() > 0;
	}

	public static void main(String[] args) throws IOException {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(TakeoverApplication.class)
			.web(WebApplicationType.NONE)
			.properties("spring.application.name=takeover", "advisory-lock.ledger.initialize-schema=always",
					"spring.task.scheduling.pool.size=20", "spring.datasource.hikari.maximum-pool-size=25",
					"spring.datasource.hikari.minimum-idle=0", "spring.datasource.hikari.connection-timeout=5000")
			.run(args)) {
			System.out.println(STARTED);
			while (System.in.read() >= 0) {
				// says nothing to listen to
			}
		}
	}

}
