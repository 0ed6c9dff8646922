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

package io.github.advisorylock.doctor;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.doctor.DoctorCheck.Severity;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Looks at the beans of an application once, and asks no database: whether its scheduled
 * methods say how they run in a fleet, and are called at all, and whether its annotated
 * methods can do what they are for.
 *
 * @param beans the beans of the application
 * @param postProcessor has found the methods
 * @param unguarded returns methods with the annotation of ShedLock that nothing guards,
 * once all beans are there
 * @param usedInCode whether code asks for locks or roles
 * @param namespaceChosen whether its configuration names a namespace, be it the empty one
 * @param namespaceText the text of that, or of the name of the application which stands
 * for it, with its placeholders
 * @param everyInstance packages, classes and methods that are known to run on every
 * instance, though they have no annotation that says so
 * @param severities what a finding leads to
 * @since 0.1.0
 */
public record ApplicationDoctor(ConfigurableListableBeanFactory beans,
		SingleRunnerAnnotationBeanPostProcessor postProcessor, List<String> unguarded, BooleanSupplier usedInCode,
		boolean namespaceChosen, String namespaceText, List<String> everyInstance,
		Function<DoctorCheck, Severity> severities) {

	private static final Log logger = LogFactory.getLog(ApplicationDoctor.class);

	private static final String LIMIT = "org.springframework.resilience.annotation.ConcurrencyLimit";

	private static final List<String> RETRIES = List.of("org.springframework.resilience.annotation.Retryable",
			"org.springframework.retry.annotation.Retryable");

	/**
	 * Look, once all beans are there.
	 */
	public void examine() {
		Findings findings = new Findings(this.severities, logger::warn, "");
		List<SingleRunnerMethod> methods = this.postProcessor.getMethods();
		FleetExamination fleet = new FleetExamination(this.beans, this.everyInstance);
		fleet.examine(findings);
		new NamespaceExamination(this.namespaceChosen, this.namespaceText).examine(methods, this.usedInCode, findings);
		if (!findings.isOff(DoctorCheck.RANDOM_CRON)) {
			fleet.examineCrons(methods, findings);
		}
		if (!findings.isOff(DoctorCheck.SELF_INVOCATION)) {
			OwnCallExamination.examine(this.beans, methods, findings);
		}
		if (!findings.isOff(DoctorCheck.SPRING_BATCH)) {
			BatchExamination.examine(this.beans, methods, findings);
		}
		for (SingleRunnerMethod method : methods) {
			examineAdvice(method, findings);
		}
		if (!findings.isOff(DoctorCheck.SCHEDULER_LOCK)) {
			for (String method : this.unguarded) {
				foundUnguarded(method, findings);
			}
		}
		findings.act();
	}

	/**
	 * Look for annotations that make no sense beside a lock.
	 */
	private static void examineAdvice(SingleRunnerMethod method, Findings findings) {
		MergedAnnotations annotations = MergedAnnotations.from(method.method(), SearchStrategy.TYPE_HIERARCHY);
		if (annotations.isPresent(LIMIT)) {
			findings.found(DoctorCheck.OTHER_ADVICE, "The " + method
					+ " has @ConcurrencyLimit, which is inside its lock: a call that waits for the limit keeps others "
					+ "from the lock",
					"remove @ConcurrencyLimit, and set 'permits' if more than one may run at a time");
		}
		if (method.operation().ledger().catchUp() != null && method.operation().scope() == LockScope.TRANSACTION
				&& RETRIES.stream().anyMatch(annotations::isPresent)) {
			findings.found(DoctorCheck.OTHER_ADVICE, "The " + method
					+ " has @Retryable and 'catchUp', which lets a tick that failed rest for 30 seconds at least: what "
					+ "@Retryable tries before that is refused",
					"remove @Retryable, and set 'maxRetries' of @SingleRunner");
		}
	}

	private static void foundUnguarded(String method, Findings findings) {
		findings.found(DoctorCheck.SCHEDULER_LOCK,
				method + " has @SchedulerLock, and every instance runs it, because @EnableSchedulerLock is missing",
				"put @EnableSchedulerLock(defaultLockAtMostFor = \"10m\") on a configuration class, or @SingleRunner on "
						+ "the method instead");
	}

}
