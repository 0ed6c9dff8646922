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

package io.github.advisorylock.shedlock;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.security.CodeSource;
import java.time.Duration;
import java.time.Instant;

import io.github.advisorylock.AdvisoryLockConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Tells a ShedLock that has what is called here from an older one, by what it has: its
 * jars do not say their version.
 */
abstract class ShedLockVersionCondition extends SpringBootCondition {

	private static final String PACKAGE = "net.javacrumbs.shedlock.";

	private final boolean current;

	ShedLockVersionCondition(boolean current) {
		this.current = current;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		boolean found = isCurrent(context.getClassLoader());
		return new ConditionOutcome(found == this.current, found ? "ShedLock is new enough" : "ShedLock is too old");
	}

	private static boolean isCurrent(@Nullable ClassLoader classes) {
		Class<?> configuration = find("core.LockConfiguration", classes);
		if (configuration == null || find("core.ExtensibleLockProvider", classes) == null || !ClassUtils
			.hasConstructor(configuration, Instant.class, String.class, Duration.class, Duration.class)) {
			return false;
		}
		Class<?> times = find("spring.ExtendedLockConfigurationExtractor", classes);
		return (times != null)
				? ClassUtils.hasMethod(times, "getLockConfiguration", Object.class, Method.class, Object[].class)
				: find("spring.annotation.SchedulerLock", classes) == null;
	}

	private static @Nullable Class<?> find(String name, @Nullable ClassLoader classes) {
		return ClassUtils.isPresent(PACKAGE + name, classes) ? ClassUtils.resolveClassName(PACKAGE + name, classes)
				: null;
	}

	static AdvisoryLockConfigurationException tooOld() {
		return new AdvisoryLockConfigurationException("ShedLock of '" + jar()
				+ "' is too old to take its locks here: the LockProvider of advisory-lock needs " + "ShedLock 7",
				"Set the version of all artifacts of 'net.javacrumbs.shedlock' to 7.0.0 or newer. To stay with this one, "
						+ "keep a LockProvider bean of your own without 'advisory-lock.shedlock.both-locks', or set "
						+ "'advisory-lock.shedlock.enabled' to 'false'.");
	}

	/**
	 * Return the name of the jar that ShedLock is from, also where it is in another one.
	 */
	private static String jar() {
		ClassLoader classes = ShedLockVersionCondition.class.getClassLoader();
		Class<?> configuration = ClassUtils.resolveClassName(PACKAGE + "core.LockConfiguration", classes);
		CodeSource source = configuration.getProtectionDomain().getCodeSource();
		String location = (source != null) ? String.valueOf(source.getLocation()) : PACKAGE + "core";
		return location.replaceAll("[!/]+$", "").replaceAll(".*/", "");
	}

	/**
	 * Matches a ShedLock that has what is called here.
	 */
	static final class Current extends ShedLockVersionCondition {

		Current() {
			super(true);
		}

	}

	/**
	 * Matches a ShedLock that does not have it.
	 */
	static final class Old extends ShedLockVersionCondition {

		Old() {
			super(false);
		}

	}

	/**
	 * Matches one that does not have it, where beans have its annotation. Javadoc can't
	 * read that of a class constant.
	 */
	static final class OldAnnotated extends ShedLockVersionCondition implements ConfigurationCondition {

		OldAnnotated() {
			super(false);
		}

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionOutcome outcome = super.getMatchOutcome(context, metadata);
			return (outcome.isMatch() && !isAnnotated(context))
					? ConditionOutcome.noMatch("no bean has an annotation of ShedLock") : outcome;
		}

		private static boolean isAnnotated(ConditionContext context) {
			Class<?> annotation = find("spring.annotation.EnableSchedulerLock", context.getClassLoader());
			ListableBeanFactory beans = context.getBeanFactory();
			return annotation != null && beans != null
					&& beans.getBeanNamesForAnnotation(annotation.asSubclass(Annotation.class)).length > 0;
		}

	}

}
