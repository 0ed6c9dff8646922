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

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.TypeUtils;

/**
 * Notes where the lock providers of a project come from and whether code takes locks from
 * them. The provider of {@code advisory-lock-shedlock} takes their place where code
 * depends on their type alone: it gives way to any other bean of that type.
 */
final class LockProviders extends JavaIsoVisitor<ExecutionContext> {

	private static final Set<String> GIVERS = Set.of(ShedLock.LOCK_PROVIDER,
			ShedLock.PACKAGE + "core.ExtensibleLockProvider", ShedLock.PACKAGE + "core.LockingTaskExecutor",
			ShedLock.PACKAGE + "core.DefaultLockingTaskExecutor", ShedLock.PACKAGE + "core.LockManager",
			ShedLock.PACKAGE + "core.DefaultLockManager");

	private static final List<AnnotationMatcher> NAMES = List.of(ShedLock.PROVIDER_TO_USE,
			new AnnotationMatcher("@org.springframework.beans.factory.annotation.Qualifier"),
			new AnnotationMatcher("@jakarta.inject.Named"), new AnnotationMatcher("@jakarta.annotation.Resource"));

	private final Set<String> beans = new HashSet<>();

	private final Set<String> calls = new HashSet<>();

	private @Nullable String other;

	private boolean taken;

	private boolean bridged;

	/**
	 * Note that a build file names the provider of this library.
	 */
	void bridge(String buildFile) {
		this.bridged |= buildFile.contains(ShedLock.BRIDGE);
	}

	/**
	 * Return whether code takes locks, or could.
	 */
	boolean isTaken() {
		return this.taken;
	}

	/**
	 * Return why this library can't provide the locks that code takes.
	 * @return the reason, {@code null} if it can
	 */
	@Nullable String obstacle() {
		if (this.other != null) {
			return this.other;
		}
		if (this.beans.size() > 1) {
			return "there are several lock providers";
		}
		if (this.beans.isEmpty() && !this.bridged) {
			return "no lock provider on JDBC is declared here";
		}
		return this.calls.stream().anyMatch(this.beans::contains) ? "code calls the method of the lock provider's bean"
				: null;
	}

	@Override
	public J.Import visitImport(J.Import imported, ExecutionContext context) {
		return imported;
	}

	@Override
	public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
		if (TypeUtils.isAssignableTo(ShedLock.LOCK_PROVIDER, type.getType())) {
			this.other = "class " + type.getSimpleName() + " is a lock provider";
		}
		return super.visitClassDeclaration(type, context);
	}

	@Override
	public J.MethodDeclaration visitMethodDeclaration(J.MethodDeclaration method, ExecutionContext context) {
		JavaType.Method type = method.getMethodType();
		if (type == null || !TypeUtils.isAssignableTo(ShedLock.LOCK_PROVIDER, type.getReturnType())
				|| method.getLeadingAnnotations().stream().noneMatch(ShedLock.BEAN::matches)) {
			return super.visitMethodDeclaration(method, context);
		}
		if (RemainingUses.isProvider(method)) {
			this.beans.add(name(type));
		}
		else {
			this.other = "the lock provider of " + method.getSimpleName() + "() is not on JDBC";
		}
		return method;
	}

	@Override
	public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, ExecutionContext context) {
		JavaType.Method type = call.getMethodType();
		if (type != null) {
			note(type.getDeclaringType());
			this.calls.add(name(type));
		}
		return super.visitMethodInvocation(call, context);
	}

	@Override
	public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext context) {
		if (NAMES.stream().anyMatch((name) -> name.matches(annotation)) && isOfProvider(annotation)) {
			this.other = "code takes a lock provider by its name";
		}
		return super.visitAnnotation(annotation, context);
	}

	private boolean isOfProvider(J.Annotation annotation) {
		return ShedLock.PROVIDER_TO_USE.matches(annotation)
				|| (getCursor().getParentTreeCursor().getValue() instanceof J.VariableDeclarations variable
						&& ShedLock.owns(variable.getType()));
	}

	@Override
	public J.Identifier visitIdentifier(J.Identifier identifier, ExecutionContext context) {
		if (identifier.getFieldType() == null) {
			note(identifier.getType());
		}
		return identifier;
	}

	private void note(@Nullable JavaType type) {
		String name = ShedLock.nameOf(type);
		this.taken |= GIVERS.contains(name);
		if (name.startsWith(ShedLock.PROVIDERS)) {
			this.taken = true;
			this.other = "code depends on " + name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
		}
	}

	private static String name(JavaType.Method method) {
		return method.getDeclaringType().getFullyQualifiedName() + "#" + method.getName();
	}

}
