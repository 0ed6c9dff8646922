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

package io.github.advisorylock.sample.export;

import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.OutsideLock;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ExportController}.
 */
@Tag("gate")
@SampleTest
class ExportControllerTests {

	@Autowired
	private Instance instance;

	private HttpCalls calls;

	@BeforeEach
	void setUp() {
		this.calls = new HttpCalls(this.instance.port());
	}

	@Test
	void exportAnswersWithCsv() {
		HttpResponse<String> answer = this.calls.post("/exports/csv-user", "");
		assertThat(answer.statusCode()).isEqualTo(200);
		assertThat(answer.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
		assertThat(answer.body().lines()).hasSize(91).first().isEqualTo("day,orders,amount");
	}

	@Test
	void secondExportOfUserIsTooManyWhileOtherUserGoesOn() throws Exception {
		CompletableFuture<HttpResponse<String>> first = this.calls.postAsync("/exports/ada", "");
		OutsideLock.awaitHolder("export:ada");
		CompletableFuture<HttpResponse<String>> other = this.calls.postAsync("/exports/grace", "");
		HttpResponse<String> second = this.calls.post("/exports/ada", "");
		assertThat(first).isNotDone();
		assertThat(second.statusCode()).isEqualTo(429);
		assertThat(second.headers().firstValue("Retry-After")).contains("2");
		assertThat(second.headers().firstValue("Content-Type")).contains("application/problem+json");
		assertThat(first.join().statusCode()).isEqualTo(200);
		assertThat(other.join().statusCode()).isEqualTo(200);
	}

}
