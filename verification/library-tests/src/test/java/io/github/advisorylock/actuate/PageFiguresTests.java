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
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.advisorylock.annotation.SingleRunner;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

/**
 * Measures the operators' page with 10,000 jobs of 60 runs and 50 instances, over HTTP
 * and a pool, as docs/benchmarks.md says. Sizes are tested, times are logged, and
 * {@link ManyJobsTests} counts the statements.
 */
@Tag("chaos")
class PageFiguresTests {

	private static final Log logger = LogFactory.getLog(PageFiguresTests.class);

	private static final int ROUNDS = Integer.getInteger("figures", 20);

	private static OperatedApplication application;

	@BeforeAll
	static void start() {
		OperatedApplication.dropTables();
		application = OperatedApplication.start(Jobs.class, "advisory-lock.ledger.instances=false",
				"management.endpoints.web.exposure.include=advisorylocks,advisorylockspage");
		ManyJobsTests.fill(60);
	}

	@AfterAll
	static void stop() {
		application.close();
		OperatedApplication.dropTables();
	}

	/**
	 * The kB are those that are published, which differ a little by the hour.
	 */
	@ParameterizedTest
	@CsvSource({ "overview, 36", "jobs, 222", "jobs&sort=next, 222", "jobs&sort=failures, 222",
			"jobs&state=problem, 37", "jobs&page=90, 222", "job&key=many/00017, 59", "timeline, 243",
			"timeline&range=30d, 861", "timeline&range=30d&page=100, 861", "instances, 61", "leaders, 30",
			"locks, 31" })
	void viewIsAsLargeAsIsPublished(String view, int published) {
		String path = "actuator/advisorylockspage?view=" + view;
		List<Double> times = new ArrayList<>();
		int size = 0;
		for (int round = 0; round <= ROUNDS; round++) {
			long begin = System.nanoTime();
			HttpResponse<String> answer = application.get(path);
			times.add((System.nanoTime() - begin) / 1e6);
			assertThat(answer.statusCode()).isEqualTo(200);
			size = answer.body().length();
		}
		List<Double> again = Stream.of(times.subList(1, times.size())).flatMap(List::stream).sorted().toList();
		logger.info("%-32s first %6.0f ms, again median %6.0f ms, slowest %6.0f ms, %4d kB".formatted(view,
				times.get(0), again.get(again.size() / 2), again.get(again.size() - 1), size / 1000));
		assertThat(size / 1000).isCloseTo(published, withinPercentage(15));
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		@SingleRunner("report")
		void report() {
		}

	}

}
