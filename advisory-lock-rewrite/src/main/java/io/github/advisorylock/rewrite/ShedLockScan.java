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

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.java.AnnotationMatcher;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;

/**
 * Notes what a source file has of ShedLock.
 */
final class ShedLockScan extends JavaIsoVisitor<ExecutionContext> {

	private static final AnnotationMatcher TRANSACTIONAL = new AnnotationMatcher(
			"@org.springframework.transaction.annotation.Transactional");

	/**
	 * What may stand in it without moving the transaction, or its snapshot, away from the
	 * lock.
	 */
	private static final Set<String> HARMLESS = Set.of("timeout", "timeoutString", "rollbackFor",
			"rollbackForClassName", "noRollbackFor", "noRollbackForClassName", "label");

	private static final Set<String> PROPAGATIONS = Set.of("REQUIRED", "REQUIRES_NEW", "MANDATORY");

	private static final Set<String> LATER = Set.of("java.util.concurrent.Future",
			"java.util.concurrent.CompletionStage", "java.util.concurrent.Flow$Publisher",
			"org.reactivestreams.Publisher");

	private final ShedLockProject project;

	ShedLockScan(ShedLockProject project) {
		this.project = project;
	}

	@Override
	public J.CompilationUnit visitCompilationUnit(J.CompilationUnit unit, ExecutionContext context) {
		for (JavaType type : unit.getTypesInUse().getTypesInUse()) {
			JavaType.FullyQualified named = TypeUtils.asFullyQualified(type);
			if (named != null) {
				this.project.typesInUse.computeIfAbsent(named.getFullyQualifiedName(), (name) -> new HashSet<>())
					.add(unit.getSourcePath().toString());
			}
		}
		this.project.otherUse |= RemainingUses.in(unit);
		if (!RemainingUses.isTest(unit)) {
			this.project.providers.visit(unit, context);
		}
		return super.visitCompilationUnit(unit, context);
	}

	@Override
	public J.VariableDeclarations.NamedVariable visitVariable(J.VariableDeclarations.NamedVariable variable,
			ExecutionContext context) {
		JavaType.Variable type = variable.getVariableType();
		if (variable.getInitializer() instanceof J.Literal literal && literal.getValue() != null && type != null) {
			this.project.constants.put(constant(type), literal.getValue().toString());
		}
		return super.visitVariable(variable, context);
	}

	@Override
	public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext context) {
		if (ShedLock.LOCKED.matches(annotation)) {
			noteLock(annotation);
		}
		else if (ShedLock.ENABLED.matches(annotation)) {
			this.project.woven |= String.valueOf(ShedLock.attribute(annotation, "mode")).endsWith("ASPECTJ");
			this.project.defaults.add(text(ShedLock.attribute(annotation, "defaultLockAtLeastFor")));
		}
		else if (ShedLock.isComposed(annotation)) {
			noteComposed(annotation);
		}
		return super.visitAnnotation(annotation, context);
	}

	private void noteLock(J.Annotation annotation) {
		Object annotated = getCursor().getParentTreeCursor().getValue();
		String name = text(ShedLock.attribute(annotation, "name"));
		Expression least = ShedLock.attribute(annotation, "lockAtLeastFor");
		String leastText = (least != null) ? text(least) : null;
		J.ClassDeclaration type = getCursor().firstEnclosing(J.ClassDeclaration.class);
		if (annotated instanceof J.MethodDeclaration method && type != null) {
			this.project.uses.add(new SchedulerLockUse(annotation.getId(), name, leastText,
					Schedule.of(method.getLeadingAnnotations()), isTransactional(method, type), null, null, Set.of(),
					obstacle(annotation, name, method, type)));
		}
		else if (annotated instanceof J.ClassDeclaration composed && composed.getType() != null) {
			this.project.uses.add(composed(annotation, name, leastText, composed));
		}
	}

	private SchedulerLockUse composed(J.Annotation annotation, String name, @Nullable String least,
			J.ClassDeclaration composed) {
		Map<String, String> aliases = aliases(composed);
		String nameAlias = aliases.get("name");
		String obstacle = (name.isEmpty() && nameAlias == null) ? "it has no name" : null;
		if (aliases.containsKey("lockAtLeastFor")) {
			obstacle = "attribute '" + aliases.get("lockAtLeastFor") + "' sets its lockAtLeastFor";
		}
		else if (LockName.translate(this.project.resolve(name), List.of()) == null) {
			obstacle = "its name has an expression that no key can have";
		}
		Set<String> times = aliases.containsKey("lockAtMostFor") ? Set.of(aliases.get("lockAtMostFor")) : Set.of();
		return new SchedulerLockUse(annotation.getId(), name, least, Schedule.of(composed.getLeadingAnnotations()),
				false, String.valueOf(TypeUtils.asFullyQualified(composed.getType())), nameAlias, times, obstacle);
	}

	/**
	 * Return which attributes of a composed annotation stand for which of ShedLock's.
	 */
	static Map<String, String> aliases(J.ClassDeclaration composed) {
		Map<String, String> aliases = new HashMap<>();
		for (Statement statement : composed.getBody().getStatements()) {
			if (statement instanceof J.MethodDeclaration attribute) {
				String alias = alias(attribute);
				if (alias != null) {
					aliases.put(alias, attribute.getSimpleName());
				}
			}
		}
		return aliases;
	}

	/**
	 * Return which attribute of ShedLock's an attribute of a composed annotation stands
	 * for.
	 */
	static @Nullable String alias(J.MethodDeclaration attribute) {
		for (J.Annotation annotation : attribute.getLeadingAnnotations()) {
			if (ShedLock.ALIAS.matches(annotation)
					&& ShedLock.attribute(annotation, "annotation") instanceof J.FieldAccess literal
					&& ShedLock.isType(literal.getTarget().getType(), ShedLock.SCHEDULER_LOCK)) {
				Expression named = ShedLock.attribute(annotation, "attribute");
				Expression other = (named != null) ? named : ShedLock.attribute(annotation, "value");
				return (other != null) ? text(other) : attribute.getSimpleName();
			}
		}
		return null;
	}

	private void noteComposed(J.Annotation annotation) {
		Object annotated = getCursor().getParentTreeCursor().getValue();
		if (!(annotated instanceof J.MethodDeclaration method)) {
			return;
		}
		Map<String, String> arguments = new HashMap<>();
		if (annotation.getArguments() != null) {
			for (Expression argument : annotation.getArguments()) {
				String name = ShedLock.attributeName(argument);
				if (name != null) {
					arguments.put(name, text(((J.Assignment) argument).getAssignment()));
				}
				else {
					arguments.put("value", text(argument));
				}
			}
		}
		this.project.composedUses.add(new ComposedUse(String.valueOf(TypeUtils.asFullyQualified(annotation.getType())),
				arguments, Schedule.of(method.getLeadingAnnotations())));
	}

	private @Nullable String obstacle(J.Annotation annotation, String name, J.MethodDeclaration method,
			J.ClassDeclaration type) {
		JavaType returned = (method.getMethodType() != null) ? method.getMethodType().getReturnType() : null;
		if (name.isEmpty()) {
			return "it has no name";
		}
		if (returned instanceof JavaType.Primitive && returned != JavaType.Primitive.Void
				&& returned != JavaType.Primitive.String) {
			return "the method returns a primitive, and there is none to return when it is skipped";
		}
		if (LATER.stream().anyMatch((later) -> TypeUtils.isAssignableTo(later, returned))) {
			return "the lock would be released before the work is done: the method returns a "
					+ String.valueOf(method.getReturnTypeExpression());
		}
		for (J.Modifier.Type modifier : List.of(J.Modifier.Type.Private, J.Modifier.Type.Static,
				J.Modifier.Type.Final)) {
			if (method.hasModifier(modifier)) {
				return "no proxy can guard a method that is " + modifier.name().toLowerCase(Locale.ROOT);
			}
		}
		if (matches(ShedLock.PROVIDER_TO_USE, method.getLeadingAnnotations(), type.getLeadingAnnotations())) {
			return "it names the lock provider to use";
		}
		String key = LockName.translate(this.project.resolve(name), Trees.parameterNames(method));
		boolean literal = ShedLock.attribute(annotation, "name") instanceof J.Literal;
		return (key == null || (!literal && !key.equals(this.project.resolve(name))))
				? "its name has an expression that no key can have" : null;
	}

	@SafeVarargs
	private static boolean matches(AnnotationMatcher matcher, List<J.Annotation>... annotations) {
		for (List<J.Annotation> list : annotations) {
			if (list.stream().anyMatch(matcher::matches)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isTransactional(J.MethodDeclaration method, J.ClassDeclaration type) {
		for (List<J.Annotation> annotations : List.of(method.getLeadingAnnotations(), type.getLeadingAnnotations())) {
			for (J.Annotation annotation : annotations) {
				if (TRANSACTIONAL.matches(annotation)) {
					return isPlain(annotation);
				}
			}
		}
		return false;
	}

	private static boolean isPlain(J.Annotation transactional) {
		List<Expression> arguments = transactional.getArguments();
		return arguments == null || arguments.stream().allMatch((argument) -> {
			String name = ShedLock.attributeName(argument);
			if ("propagation".equals(name)) {
				String value = ((J.Assignment) argument).getAssignment().toString();
				return PROPAGATIONS.contains(value.substring(value.lastIndexOf('.') + 1));
			}
			return argument instanceof J.Empty || (name != null && HARMLESS.contains(name));
		});
	}

	/**
	 * Return the text of an expression, or what identifies it where only the compiler
	 * knows its text.
	 */
	static String text(@Nullable Expression expression) {
		if (expression == null) {
			return "";
		}
		if (expression instanceof J.Literal literal && literal.getValue() != null) {
			return literal.getValue().toString();
		}
		if (expression instanceof J.Binary product && product.getOperator() == J.Binary.Type.Multiplication) {
			return text(product.getLeft()) + " * " + text(product.getRight());
		}
		JavaType.Variable field = (expression instanceof J.Identifier identifier) ? identifier.getFieldType()
				: (expression instanceof J.FieldAccess access) ? access.getName().getFieldType() : null;
		return (field != null) ? constant(field) : expression.toString();
	}

	private static String constant(JavaType.Variable field) {
		return field.getOwner() + "#" + field.getName();
	}

}
