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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.TestPostgres;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;

import static org.awaitility.Awaitility.await;

/**
 * An application with a web server, guarded methods, and its endpoints exposed.
 */
final class OperatedApplication implements AutoCloseable {

	static final String PREFIX = "operated_";

	private static final List<String> NOT_WANTED = List.of(
			"org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
			"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration");

	private static final List<String> SECURITY = List.of(
			"org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration");

	private final HttpClient client = HttpClient.newHttpClient();

	private final ConfigurableApplicationContext context;

	private final URI base;

	private OperatedApplication(ConfigurableApplicationContext context) {
		this.context = context;
		this.base = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + "/");
	}

	static OperatedApplication start(Class<?> jobs, String... properties) {
		return start(false, jobs, properties);
	}

	static OperatedApplication startSecured(Class<?> jobs, String... properties) {
		return start(true, jobs, properties);
	}

	private static OperatedApplication start(boolean secured, Class<?> jobs, String... properties) {
		List<String> excluded = new ArrayList<>(NOT_WANTED);
		if (!secured) {
			excluded.addAll(SECURITY);
		}
		SpringApplication application = new SpringApplication(Base.class, jobs);
		application.setDefaultProperties(defaults(excluded));
		return new OperatedApplication(
				application.run(Stream.of(properties).map((property) -> "--" + property).toArray(String[]::new)));
	}

	private static Map<String, Object> defaults(List<String> excluded) {
		return Map.ofEntries(Map.entry("spring.application.name", "shop"), Map.entry("server.port", "0"),
				Map.entry("server.address", "127.0.0.1"), Map.entry("spring.flyway.enabled", "false"),
				Map.entry("spring.liquibase.enabled", "false"),
				Map.entry("spring.autoconfigure.exclude", String.join(",", excluded)),
				Map.entry("spring.datasource.url", TestPostgres.url()),
				Map.entry("spring.datasource.hikari.maximum-pool-size", "4"),
				Map.entry("spring.datasource.hikari.minimum-idle", "0"), Map.entry("spring.jmx.enabled", "false"),
				Map.entry("advisory-lock.ledger.table-prefix", PREFIX),
				Map.entry("advisory-lock.ledger.initialize-schema", "always"),
				Map.entry("advisory-lock.ledger.enabled", "true"), Map.entry("spring.main.banner-mode", "off"));
	}

	/**
	 * Forget the jobs and runs of other tests.
	 */
	static void dropTables() {
		for (String table : List.of("job", "run", "completion", "instance", "pause", "question", "schedule",
				"backfill")) {
			TestPostgres.execute("DROP TABLE IF EXISTS " + PREFIX + table + " CASCADE");
		}
	}

	ConfigurableApplicationContext context() {
		return this.context;
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	HttpResponse<String> get(String path) {
		return send(request(path).GET().build());
	}

	HttpResponse<String> post(String path, String contentType, String body) {
		return send(request(path).header("Content-Type", contentType)
			.POST(HttpRequest.BodyPublishers.ofString(body))
			.build());
	}

	HttpResponse<String> setState(String key, String state) {
		return post("actuator/advisorylocks/" + key, "application/json", "{\"state\":\"" + state + "\"}");
	}

	/**
	 * Run a job now, and return the answer that says how it ended. On a busy machine the
	 * first answer may come before it has: only then it is asked for once more.
	 */
	HttpResponse<String> runNow(String key) {
		HttpResponse<String> answer = setState(key, "running");
		boolean late = answer.statusCode() == 200 && !tellsOutcome(answer);
		return late ? await().atMost(Duration.ofSeconds(60))
			.until(() -> setState(key, "running"),
					(next) -> tellsOutcome(next) && !next.body().contains("\"outcome\":\"BUSY\""))
				: answer;
	}

	private static boolean tellsOutcome(HttpResponse<String> answer) {
		return answer.body().contains("\"outcome\"");
	}

	HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(this.base.resolve(path));
	}

	HttpResponse<String> send(HttpRequest request) {
		try {
			return this.client.send(request, BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Base {

	}

}
