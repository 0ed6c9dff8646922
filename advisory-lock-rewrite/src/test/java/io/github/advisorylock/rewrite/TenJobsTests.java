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

package io.github.advisorylock.rewrite;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Optional;

import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that an application of ten jobs, moved by the recipe alone, compiles without
 * ShedLock, starts, and takes a lock for each of its jobs.
 */
class TenJobsTests {

	private static final Path BEFORE = Path.of("src/test/resources/shop");

	private static final String LOCK = """
			SELECT pg_advisory_lock(('x' || left(encode(sha256(convert_to(?, 'UTF8')), 'hex'), 16))::bit(64)::bigint)""";

	@Test
	@Tag("chaos")
	void applicationRunsItsJobsUnderLocksWithoutAHandEdit(@TempDir Path shop) throws Exception {
		MovedApplication moved = new MovedApplication(BEFORE, shop, false);
		Assertions
			.assertThat(MovedApplication.files(shop).stream().filter((file) -> !file.toString().endsWith(".class")))
			.noneMatch((file) -> MovedApplication.read(file).toLowerCase().contains("shedlock"));
		TestPostgres.execute("CREATE TABLE journal (job text)");
		moved.run("shop.Shop", TenJobsTests::checkJobs);
	}

	private static void checkJobs(ClassLoader classes, Object application) throws Exception {
		Jobs billing = new Jobs(application, classes.loadClass("shop.BillingJobs"));
		billing.check("invoices", "invoices", null);
		billing.check("reminders", "reminders", null);
		billing.check("closeLedger", "ledger-close", null);
		billing.check("exportLedger", "ledger-export", null);
		Jobs stock = new Jobs(application, classes.loadClass("shop.StockJobs"));
		stock.check("count", "stock-count", null);
		stock.check("prices", "stock-prices", null);
		stock.check("reorder", "stock-reorder", null);
		Jobs partners = new Jobs(application, classes.loadClass("shop.PartnerJobs"));
		partners.check("load", "partner-north-7", Optional.empty(), "north", 7);
		partners.check("publish", "partners", null);
		partners.check("withdraw", "partners", null);
		// Within five minutes of its last run
		stock.call("prices");
		Assertions.assertThat(journal("prices")).isEqualTo(1);
	}

	private static int journal(String job) {
		return TestPostgres.query("SELECT 1 FROM journal WHERE job = '" + job + "'").size();
	}

	/**
	 * The jobs of one bean of the application.
	 */
	private static final class Jobs {

		private final Object bean;

		Jobs(Object application, Class<?> type) throws Exception {
			this.bean = application.getClass().getMethod("getBean", Class.class).invoke(application, type);
		}

		/**
		 * Check that a job is skipped while somebody else has its lock, and runs when
		 * nobody has.
		 */
		void check(String job, String key, @Nullable Object skipped, Object... arguments) throws Exception {
			try (Connection other = TestPostgres.open()) {
				lock(other, "shop/" + key);
				Assertions.assertThat(call(job, arguments)).as(job).isEqualTo(skipped);
				Assertions.assertThat(journal(job)).as(job).isZero();
				other.createStatement().execute("SELECT pg_advisory_unlock_all()");
			}
			call(job, arguments);
			Assertions.assertThat(journal(job)).as(job).isEqualTo(1);
		}

		@Nullable Object call(String job, Object... arguments) throws Exception {
			Method method = Arrays.stream(this.bean.getClass().getMethods())
				.filter((candidate) -> candidate.getName().equals(job))
				.findFirst()
				.orElseThrow();
			return method.invoke(this.bean, arguments);
		}

		private static void lock(Connection connection, String key) throws SQLException {
			try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
				statement.setString(1, key);
				statement.execute();
			}
		}

	}

}
