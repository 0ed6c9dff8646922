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

package io.github.advisorylock.sample.report;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.sample.Instance;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * Makes the orders to report about, once: an instance that starts at the same time waits
 * for them. They are there before the scheduler starts.
 */
@Component
class OrderDataSet implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(OrderDataSet.class);

	private static final int BATCH = 5000;

	private static final int CUSTOMERS = 400;

	private static final int DAYS = 90;

	private final AdvisoryLockOperations locks;

	private final JdbcTemplate jdbc;

	private final Instance instance;

	private final int orders;

	private final Random random = new Random(42);

	OrderDataSet(AdvisoryLockOperations locks, JdbcTemplate jdbc, Instance instance,
			@Value("${sample.report.orders}") int orders) {
		this.locks = locks;
		this.jdbc = jdbc;
		this.instance = instance;
		this.orders = orders;
	}

	@Override
	public void afterSingletonsInstantiated() {
		LockRequest request = LockRequest.of("order-data-set").waitFor(Duration.ofMinutes(2));
		boolean created = this.locks.execute(request, (lock) -> isEmpty() && create()).orElseThrow();
		logger.info("Instance " + this.instance + (created ? " created the orders" : " found the orders there"));
	}

	private boolean isEmpty() {
		return Boolean.FALSE
			.equals(this.jdbc.queryForObject("SELECT EXISTS (SELECT FROM customer_order)", boolean.class));
	}

	private boolean create() {
		for (int created = 0; created < this.orders; created += BATCH) {
			List<Object[]> batch = new ArrayList<>();
			for (int i = created; i < Math.min(created + BATCH, this.orders); i++) {
				batch.add(new Object[] { customer(), day(), amount() });
			}
			this.jdbc.batchUpdate("INSERT INTO customer_order (customer, ordered_on, amount) VALUES (?, ?, ?)", batch);
			logger.info("Created " + (created + batch.size()) + " of " + this.orders + " orders");
		}
		return true;
	}

	/**
	 * A few customers order much, many order little.
	 */
	private String customer() {
		double share = this.random.nextDouble();
		return String.format(Locale.ROOT, "customer-%03d", (int) (CUSTOMERS * share * share) + 1);
	}

	/**
	 * Weekends are quieter.
	 */
	private LocalDate day() {
		LocalDate day = LocalDate.now(ZoneOffset.UTC).minusDays(1 + this.random.nextInt(DAYS));
		boolean again = day.getDayOfWeek().compareTo(DayOfWeek.SATURDAY) >= 0 && this.random.nextBoolean();
		return again ? day() : day;
	}

	private BigDecimal amount() {
		return BigDecimal.valueOf(Math.exp(3.5 + this.random.nextGaussian() * 0.8)).setScale(2, RoundingMode.HALF_UP);
	}

}
