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
import java.time.OffsetDateTime;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.advisorylock.LockContext;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.annotation.Once;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * One instance of an application with a job that is run once per tick. Says what its
 * clock says, and what it skips, and lives as long as nobody closes its input. Public for
 * the JVM that starts it.
 */
@EnableScheduling
@ImportAutoConfiguration({ AdvisoryLockAutoConfiguration.class, AdvisoryLockLedgerAutoConfiguration.class,
		AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
		DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
		TaskSchedulingAutoConfiguration.class, TransactionAutoConfiguration.class })
@SpringBootConfiguration(proxyBeanMethods = false)
public class SkewedClockApplication {

	static final String TABLE = "skewed_clock_effect";

	static final String LEDGER = "skewed_clock_";

	static final String NAME = "skewed-clock";

	static final Duration GAP = Duration.ofSeconds(2);

	private static final Duration EARLY = Duration.ofMillis(100);

	private final JdbcTemplate jdbc;

	SkewedClockApplication(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	@Scheduled(cron = "${cron:*/2 * * * * *}", zone = "UTC")
	@SingleRunner(key = NAME, once = Once.PER_TICK)
	void work() {
		long token = LockContext.current().orElseThrow().fencingToken().orElseThrow();
		this.jdbc.update("INSERT INTO " + TABLE + " VALUES (?, ?, ?)", tickByOwnClock(), token,
				ProcessHandle.current().pid());
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
	}

	@EventListener
	void say(SingleRunnerSkippedEvent event) {
		System.out.println("Skipped: " + event.outcome());
	}

	/**
	 * What the job itself takes for its tick, without the ledger.
	 */
	private static long tickByOwnClock() {
		return Instant.now().plus(EARLY).getEpochSecond() / GAP.toSeconds() * GAP.toSeconds();
	}

	/**
	 * How far this clock is ahead of the database's, by the answer that took the shortest
	 * time. Not private, for the proxy.
	 */
	Duration skew() {
		Duration skew = Duration.ZERO;
		Duration shortest = Duration.ofDays(1);
		for (int i = 0; i < 10; i++) {
			Instant before = Instant.now();
			OffsetDateTime there = this.jdbc.queryForObject("SELECT clock_timestamp()", OffsetDateTime.class);
			Duration flight = Duration.between(before, Instant.now());
			if (flight.compareTo(shortest) < 0) {
				shortest = flight;
				skew = Duration.between(Objects.requireNonNull(there).toInstant(), before.plus(flight.dividedBy(2)));
			}
		}
		return skew;
	}

	public static void main(String[] args) throws IOException {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(SkewedClockApplication.class)
			.web(WebApplicationType.NONE)
			.properties("spring.application.name=" + NAME, "advisory-lock.ledger.initialize-schema=always",
					"advisory-lock.ledger.table-prefix=" + LEDGER, "advisory-lock.ledger.keep-runs.count=1000000")
			.run(args)) {
			SkewedClockApplication application = context.getBean(SkewedClockApplication.class);
			System.out.println("Ahead by " + application.skew().toMillis() + " ms");
			while (System.in.read() >= 0) {
				// says nothing to listen to
			}
		}
	}

}
