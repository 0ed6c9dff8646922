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

package io.github.advisorylock.annotation;

import java.lang.reflect.Method;

import io.github.advisorylock.interceptor.SkippedValue;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.SimpleReflectiveProcessor;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * Has guarded methods called by reflection, and what they return written and read where
 * it is kept.
 */
final class SingleRunnerReflectiveProcessor extends SimpleReflectiveProcessor {

	/**
	 * The annotation knows this class, and not the other way round.
	 */
	private static final String ANNOTATION = "io.github.advisorylock.annotation.SingleRunner";

	private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

	@Override
	protected void registerMethodHint(ReflectionHints hints, Method method) {
		super.registerMethodHint(hints, method);
		if (MergedAnnotations.from(method).get(ANNOTATION).getValue("keepResult", Boolean.class).orElse(false)) {
			this.bindings.registerReflectionHints(hints,
					SkippedValue.contentType(method, method.getDeclaringClass()).getType());
		}
	}

}
