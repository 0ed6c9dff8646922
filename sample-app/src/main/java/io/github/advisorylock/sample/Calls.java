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

package io.github.advisorylock.sample;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * Posts to several instances at the same moment, each request to the next one, as behind
 * a load balancer.
 */
@Component
public class Calls {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Instances instances;

	Calls(Instances instances) {
		this.instances = instances;
	}

	/**
	 * Post something to each of some paths, and wait for all answers.
	 * @param paths the paths, from the slash on
	 * @param json what is posted
	 * @return the answers, in the order of the paths
	 */
	public List<Answer> post(List<String> paths, String json) {
		List<Instances.Known> alive = this.instances.all().stream().filter(Instances.Known::alive).toList();
		List<CompletableFuture<Answer>> answers = new ArrayList<>();
		for (int i = 0; i < paths.size(); i++) {
			answers.add(post(alive.get(i % alive.size()), paths.get(i), json));
		}
		return answers.stream().map(CompletableFuture::join).toList();
	}

	private CompletableFuture<Answer> post(Instances.Known instance, String path, String json) {
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + instance.port() + path))
			.header("Content-Type", "application/json")
			.timeout(TIMEOUT)
			.POST(HttpRequest.BodyPublishers.ofString(json))
			.build();
		return this.client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
			.thenApply((answer) -> new Answer(path, instance.name(), answer.statusCode(), firstLine(answer.body())))
			.exceptionally((failure) -> new Answer(path, instance.name(), null, String.valueOf(failure.getMessage())));
	}

	private static String firstLine(String text) {
		return text.lines().findFirst().orElse("");
	}

	/**
	 * What came of one request.
	 *
	 * @param path what was asked for
	 * @param instance which instance was asked
	 * @param status the status of its answer, {@code null} if it has not answered
	 * @param text the first line of it, or why there is none
	 */
	public record Answer(String path, String instance, @Nullable Integer status, String text) {

	}

}
