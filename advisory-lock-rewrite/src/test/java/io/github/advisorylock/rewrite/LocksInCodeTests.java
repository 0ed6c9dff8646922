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

import java.nio.file.Path;
import java.sql.Connection;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.advisorylock.testsupport.TestPostgres;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that in an application whose code takes the locks of its jobs from a
 * {@code LockProvider}, code and jobs exclude each other after the recipe, too.
 */
@Tag("gate")
class LocksInCodeTests {

	private static final Path BEFORE = Path.of("src/test/resources/desk");

	private static final String LOCK = """
			SELECT pg_advisory_lock(('x' || left(encode(sha256(convert_to('%s', 'UTF8')), 'hex'), 16))::bit(64)::bigint)""";

	@Test
	void codeAndJobsStillExcludeEachOther(@TempDir Path desk) throws Exception {
		MovedApplication moved = new MovedApplication(BEFORE, desk, true);
		Assertions.assertThat(MovedApplication.read(desk.resolve("pom.xml")))
			.contains("advisory-lock-starter", "advisory-lock-shedlock", "shedlock-spring")
			.doesNotContain("shedlock-provider");
		Assertions.assertThat(MovedApplication.read(desk.resolve("src/main/java/desk/StockJob.java")))
			.contains("@SingleRunner(key = \"stock\", scope = LockScope.SESSION)", "@SchedulerLock(name = \"prices\"");
		Assertions.assertThat(MovedApplication.read(desk.resolve("src/main/java/desk/RunNow.java")))
			.containsOnlyOnce("~~>");
		moved.run("desk.Desk", (classes, application) -> {
			Object jobs = bean(application, classes.loadClass("desk.StockJob"));
			Object now = bean(application, classes.loadClass("desk.RunNow"));
			check(now, "stock", () -> jobs.getClass().getMethod("count").invoke(jobs), counter(jobs, "runs"));
			check(now, "prices", () -> jobs.getClass().getMethod("prices").invoke(jobs), counter(jobs, "others"));
		});
	}

	/**
	 * Check a job against code that has its lock, and both against a connection that has
	 * it.
	 */
	private static void check(Object now, String name, Callable<?> job, AtomicInteger runs) throws Exception {
		Assertions.assertThat(underLock(now, name, () -> call(job))).isTrue();
		Assertions.assertThat(runs).hasValue(0);
		try (Connection other = TestPostgres.open()) {
			other.createStatement().execute(LOCK.formatted("desk/" + name));
			call(job);
			Assertions.assertThat(underLock(now, name, runs::incrementAndGet)).isFalse();
			Assertions.assertThat(runs).hasValue(0);
			other.createStatement().execute("SELECT pg_advisory_unlock_all()");
		}
		call(job);
		Assertions.assertThat(runs).hasValue(1);
		Assertions.assertThat(underLock(now, name, runs::incrementAndGet)).isTrue();
		Assertions.assertThat(runs).hasValue(2);
	}

	private static void call(Callable<?> job) {
		Assertions.assertThatCode(job::call).doesNotThrowAnyException();
	}

	private static boolean underLock(Object now, String name, Runnable work) throws Exception {
		return (boolean) now.getClass().getMethod("underLock", String.class, Runnable.class).invoke(now, name, work);
	}

	private static Object bean(Object application, Class<?> type) throws Exception {
		return application.getClass().getMethod("getBean", Class.class).invoke(application, type);
	}

	private static AtomicInteger counter(Object bean, String name) throws Exception {
		return (AtomicInteger) bean.getClass().getMethod(name).invoke(bean);
	}

}
