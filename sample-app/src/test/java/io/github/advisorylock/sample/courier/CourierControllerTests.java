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

package io.github.advisorylock.sample.courier;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.advisorylock.sample.HttpCalls;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.SampleTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CourierController}.
 */
@Tag("gate")
@SampleTest
class CourierControllerTests {

	@Autowired
	private Instance instance;

	@Test
	void twoParcelsOfFiveAreAnnouncedAtATime() {
		HttpCalls calls = new HttpCalls(this.instance.port());
		List<CompletableFuture<HttpResponse<String>>> answers = IntStream.rangeClosed(1, 5)
			.mapToObj((parcel) -> calls.postAsync("/parcels/" + parcel, ""))
			.toList();
		assertThat(answers).extracting((answer) -> answer.join().statusCode())
			.containsExactlyInAnyOrder(200, 200, 503, 503, 503);
		HttpResponse<String> later = calls.post("/parcels/6", "");
		assertThat(later.statusCode()).isEqualTo(200);
		assertThat(later.body()).isEqualTo("The courier expects parcel 6");
	}

}
