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
import java.util.concurrent.CompletableFuture;

/**
 * Calls an instance over HTTP.
 */
public class HttpCalls {

	private final HttpClient client = HttpClient.newHttpClient();

	private final int port;

	public HttpCalls(int port) {
		this.port = port;
	}

	public HttpResponse<String> get(String path) {
		return send(request(path).build()).join();
	}

	public HttpResponse<String> post(String path, String json) {
		return postAsync(path, json).join();
	}

	public CompletableFuture<HttpResponse<String>> postAsync(String path, String json) {
		return send(request(path).header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString(json))
			.build());
	}

	/**
	 * Post as a button of the home page does.
	 */
	public HttpResponse<String> press(String path) {
		return send(request(path).header("X-Requested-With", "test").POST(HttpRequest.BodyPublishers.noBody()).build())
			.join();
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path));
	}

	private CompletableFuture<HttpResponse<String>> send(HttpRequest request) {
		return this.client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
	}

}
