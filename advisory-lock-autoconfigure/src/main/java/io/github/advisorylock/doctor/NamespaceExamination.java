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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Looks at what keys are made of: whether they are kept apart from those of other
 * applications, and not apart from those of other instances of this one.
 *
 * @param chosen whether the configuration names a namespace, be it the empty one
 * @param text the text of that, or of the name of the application which stands for it
 */
record NamespaceExamination(boolean chosen, String text) {

	/**
	 * Placeholders for what is different on each instance.
	 */
	private static final Pattern OF_INSTANCE = Pattern
		.compile(
				"\\$\\{\\s*(random\\.[^}:]*|(?:HOSTNAME|COMPUTERNAME|POD_NAME|POD_IP|PID|(?:local\\.)?server\\.port"
						+ "|[^}:]*[._-](?:instance[._-]?id|host-?name|ip-address))(?![^}:]))",
				Pattern.CASE_INSENSITIVE);

	void examine(List<SingleRunnerMethod> methods, BooleanSupplier usedInCode, Findings findings) {
		SingleRunnerMethod without = null;
		for (SingleRunnerMethod method : methods) {
			without = (without == null && method.namespace().isEmpty()) ? method : without;
		}
		if (!this.chosen && without != null) {
			foundMissing("The key '" + AdvisoryLockKey.display(without.operation().keyTemplate()) + "' of " + without
					+ " has no namespace", "a job", findings);
		}
		else if (!this.chosen && this.text.isEmpty() && usedInCode.getAsBoolean()) {
			foundMissing("The roles and locks that code asks for have no namespace", "a role or lock", findings);
		}
		for (SingleRunnerMethod method : methods) {
			examine(method, findings);
		}
	}

	private static void foundMissing(String problem, String what, Findings findings) {
		findings.found(DoctorCheck.NAMESPACE,
				problem + ", so that another application in the same database that has " + what
						+ " of that name keeps this one from running",
				"set 'spring.application.name', or 'advisory-lock.namespace', to nothing if that is meant");
	}

	private void examine(SingleRunnerMethod method, Findings findings) {
		SingleRunner annotation = AnnotatedElementUtils.findMergedAnnotation(method.method(), SingleRunner.class);
		if (annotation == null) {
			return;
		}
		String own = find(annotation.key() + " " + annotation.namespace());
		String common = annotation.namespace().isEmpty() ? find(this.text) : null;
		if (own != null) {
			found("The key of " + method + " has '" + own + "' in it", own, findings);
		}
		else if (common != null) {
			found("The namespace of all keys, '" + this.text + "' of '"
					+ (this.chosen ? "advisory-lock.namespace" : "spring.application.name") + "', has '" + common
					+ "' in it", common, findings);
		}
	}

	private static @Nullable String find(String text) {
		Matcher matcher = OF_INSTANCE.matcher(text);
		return matcher.find() ? "${" + matcher.group(1).strip() + "}" : null;
	}

	private static void found(String problem, String placeholder, Findings findings) {
		findings.found(DoctorCheck.KEY_OF_INSTANCE, problem
				+ ", which is different on each instance, so that each has a lock of its own and all of them run",
				"remove '" + placeholder + "' from it");
	}

}
