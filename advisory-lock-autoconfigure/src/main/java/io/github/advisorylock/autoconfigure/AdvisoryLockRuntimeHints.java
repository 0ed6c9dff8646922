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

package io.github.advisorylock.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.scheduling.support.CronTrigger;

/**
 * What the library reads, asks for and calls by name, for those who compile ahead of
 * time. Annotated methods and operations of endpoints say so themselves.
 */
final class AdvisoryLockRuntimeHints implements RuntimeHintsRegistrar {

	/**
	 * What may be missing: the library does without.
	 */
	private static final List<String> ASKED_FOR = List.of("com.zaxxer.hikari.HikariDataSource",
			"jakarta.servlet.http.HttpServletResponse", "org.postgresql.PGConnection",
			"org.springframework.boot.micrometer.observation.autoconfigure.ObservationRegistryCustomizer",
			"org.springframework.orm.jpa.JpaTransactionManager", "org.springframework.security.web.csrf.CsrfToken");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		ASKED_FOR.forEach((type) -> hints.reflection().registerTypeIfPresent(classLoader, type));
		hints.reflection()
			.registerTypeIfPresent(classLoader, "io.github.advisorylock.jdbc.server.LockSocketFactory",
					MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS)
			.registerType(CronTrigger.class, MemberCategory.ACCESS_DECLARED_FIELDS)
			.registerType(TypeReference.of("org.springframework.scheduling.config.Task$OutcomeTrackingRunnable"),
					MemberCategory.ACCESS_DECLARED_FIELDS)
			.registerType(Thread.class, (thread) -> thread.withMethod("isVirtual", List.of(), ExecutableMode.INVOKE));
	}

}
