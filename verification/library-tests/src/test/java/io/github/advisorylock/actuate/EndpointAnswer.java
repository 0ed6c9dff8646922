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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;

/**
 * What the endpoint answers, as who asks sees it.
 *
 * @param status the status
 * @param body the body, as JSON
 */
record EndpointAnswer(int status, String body) {

	static final String ALL = "actuator/advisorylocks";

	static EndpointAnswer of(HttpResponse<String> response) {
		return new EndpointAnswer(response.statusCode(), response.body());
	}

	/**
	 * Ask for all jobs and locks.
	 */
	static EndpointAnswer all(OperatedApplication application) {
		return of(application.get(ALL));
	}

	/**
	 * Ask for one job of all.
	 */
	static Map<String, Object> job(OperatedApplication application, String key) {
		String namespace = String.valueOf(all(application).job(key).get("namespace"));
		return withEmpty(of(application.get(ALL + "/" + new JobId(namespace, key).text())).read("$.job"));
	}

	/**
	 * Add the lists that are left out where they are empty.
	 */
	private static Map<String, Object> withEmpty(Map<String, Object> job) {
		Map<String, Object> result = new LinkedHashMap<>(job);
		List.of("schedules", "holders", "waiters", "problems", "actions")
			.forEach((name) -> result.putIfAbsent(name, List.of()));
		return result;
	}

	<T> T read(String path) {
		return JsonPath.read(this.body, path);
	}

	Map<String, Object> job(String key) {
		return jobs(key).get(0);
	}

	List<Map<String, Object>> jobs(String key) {
		return named("$.jobs", key);
	}

	private List<Map<String, Object>> named(String path, String key) {
		List<Map<String, Object>> rows = read(path);
		return rows.stream().filter((row) -> key.equals(row.get("key"))).toList();
	}

}
