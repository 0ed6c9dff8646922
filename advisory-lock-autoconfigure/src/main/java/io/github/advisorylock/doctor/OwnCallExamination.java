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

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.advisorylock.annotation.SingleRunnerMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Looks in the class files of beans for calls of their own annotated methods, as
 * {@code this.run()}: such a call goes past the proxy, and the method runs without its
 * lock. Where there is no class file, nothing is found.
 */
record OwnCallExamination(ConfigurableListableBeanFactory beans, Findings findings) {

	static void examine(ConfigurableListableBeanFactory beans, List<SingleRunnerMethod> methods, Findings findings) {
		OwnCallExamination examination = new OwnCallExamination(beans, findings);
		Map<String, List<SingleRunnerMethod>> beanMethods = new LinkedHashMap<>();
		for (SingleRunnerMethod method : methods) {
			beanMethods.computeIfAbsent(method.beanName(), (none) -> new ArrayList<>()).add(method);
		}
		beanMethods.forEach(examination::examine);
	}

	private void examine(String beanName, List<SingleRunnerMethod> own) {
		Class<?> type = this.beans.containsBean(beanName) ? this.beans.getType(beanName, false) : null;
		Set<Class<?>> hierarchy = new LinkedHashSet<>();
		Map<String, SingleRunnerMethod> annotated = new HashMap<>();
		for (SingleRunnerMethod each : own) {
			addHierarchy(each.method().getDeclaringClass(), hierarchy);
			annotated.putIfAbsent(each.method().getName() + Type.getMethodDescriptor(each.method()), each);
		}
		addHierarchy(type, hierarchy);
		Set<String> names = new LinkedHashSet<>();
		for (Class<?> each : hierarchy) {
			names.add(Type.getInternalName(each));
		}
		for (Class<?> each : hierarchy) {
			read(each, new ClassCalls(names, annotated));
		}
	}

	private static void addHierarchy(@Nullable Class<?> type, Set<Class<?>> hierarchy) {
		Class<?> each = (type != null) ? ClassUtils.getUserClass(type) : null;
		while (each != null && each != Object.class && !each.isInterface()) {
			hierarchy.add(each);
			each = each.getSuperclass();
		}
	}

	private static void read(Class<?> type, ClassVisitor visitor) {
		try (InputStream file = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
			if (file != null) {
				new ClassReader(file).accept(visitor, ClassReader.SKIP_DEBUG);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (IllegalArgumentException ex) {
			// a class file of a version that is not known yet
		}
	}

	private void found(String caller, SingleRunnerMethod called) {
		this.findings.found(DoctorCheck.SELF_INVOCATION,
				"Method '" + caller + "' calls " + called
						+ " on the bean itself, past its proxy, so that it runs there " + "without the lock '"
						+ called.operation().keyTemplate() + "'",
				"move one of the two to another bean, or call it on the bean that a lazy reference to itself gives "
						+ "(ObjectProvider, @Lazy)");
	}

	/**
	 * Reads the methods of a class.
	 */
	private final class ClassCalls extends ClassVisitor {

		private final Set<String> hierarchy;

		/**
		 * By name and descriptor.
		 */
		private final Map<String, SingleRunnerMethod> annotated;

		private ClassCalls(Set<String> hierarchy, Map<String, SingleRunnerMethod> annotated) {
			super(SpringAsmInfo.ASM_VERSION);
			this.hierarchy = hierarchy;
			this.annotated = annotated;
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			boolean read = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE | Opcodes.ACC_ABSTRACT)) == 0;
			return read ? new OwnCallVisitor() {

				@Override
				void called(String owner, String callee, String calleeDescriptor) {
					if (ClassCalls.this.hierarchy.contains(owner)) {
						ClassCalls.this.called(name, descriptor, callee, calleeDescriptor);
					}
				}

			} : null;
		}

		/**
		 * A call from a run of the same key is part of that run.
		 */
		private void called(String caller, String callerDescriptor, String callee, String calleeDescriptor) {
			SingleRunnerMethod called = find(callee, calleeDescriptor);
			SingleRunnerMethod calling = find(caller, callerDescriptor);
			if (called != null && (calling == null
					|| !calling.operation().keyTemplate().equals(called.operation().keyTemplate()))) {
				found(nameInSource(caller), called);
			}
		}

		/**
		 * The body of a lambda is a method of its own, {@code lambda$run$0} in run().
		 */
		private static String nameInSource(String name) {
			return name.startsWith("lambda$") ? name.substring("lambda$".length(), name.lastIndexOf('$')) : name;
		}

		private @Nullable SingleRunnerMethod find(String name, String descriptor) {
			return this.annotated.get(name + descriptor);
		}

	}

}
