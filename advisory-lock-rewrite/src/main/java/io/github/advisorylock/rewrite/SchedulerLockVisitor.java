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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.openrewrite.ExecutionContext;
import org.openrewrite.internal.ListUtils;
import org.openrewrite.java.JavaIsoVisitor;
import org.openrewrite.java.JavaParser;
import org.openrewrite.java.JavaTemplate;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Space;
import org.openrewrite.java.tree.Statement;
import org.openrewrite.java.tree.TypeUtils;
import org.openrewrite.marker.SearchResult;

/**
 * Writes what was decided about each {@code @SchedulerLock}.
 */
final class SchedulerLockVisitor extends JavaIsoVisitor<ExecutionContext> {

	private static final Set<String> TIMES = Set.of("lockAtMostFor", "lockAtLeastFor");

	private static final String CONTEXT_STUB = """
			package io.github.advisorylock;
			public interface LockContext {
				void checkHeld();
				static java.util.Optional<LockContext> current() {
					return java.util.Optional.empty();
				}
			}
			""";

	private final ShedLockProject project;

	SchedulerLockVisitor(ShedLockProject project) {
		this.project = project;
	}

	@Override
	public J.ClassDeclaration visitClassDeclaration(J.ClassDeclaration type, ExecutionContext context) {
		Translation translation = translation(type.getLeadingAnnotations());
		J.ClassDeclaration visited = super.visitClassDeclaration(type, context);
		if (translation == null || translation.obstacle() != null) {
			return visited;
		}
		return visited
			.withBody(visited.getBody().withStatements(ListUtils.map(visited.getBody().getStatements(), this::alias)));
	}

	/**
	 * Change what an attribute of a composed annotation stands for.
	 * @return the attribute, {@code null} if it stood for a time that is gone
	 */
	private @Nullable Statement alias(Statement statement) {
		if (!(statement instanceof J.MethodDeclaration attribute) || ShedLockScan.alias(attribute) == null) {
			return statement;
		}
		if (TIMES.contains(ShedLockScan.alias(attribute))) {
			maybeRemoveImport("org.springframework.core.annotation.AliasFor");
			return null;
		}
		return attribute.withLeadingAnnotations(ListUtils.map(attribute.getLeadingAnnotations(),
				(annotation) -> ShedLock.ALIAS.matches(annotation) ? aliasForKey(annotation) : annotation));
	}

	private static J.Annotation aliasForKey(J.Annotation annotation) {
		List<Expression> arguments = new ArrayList<>();
		for (Expression argument : Objects.requireNonNull(annotation.getArguments())) {
			J.Assignment assignment = (J.Assignment) argument;
			if ("annotation".equals(ShedLock.attributeName(argument))) {
				J.FieldAccess literal = (J.FieldAccess) assignment.getAssignment();
				arguments.add(assignment.withAssignment(literal
					.withTarget(Trees.type(ShedLock.SINGLE_RUNNER).withPrefix(literal.getTarget().getPrefix()))));
			}
		}
		arguments.add(Trees.attribute("attribute", Trees.text("key"), Space.SINGLE_SPACE));
		return annotation.withArguments(arguments);
	}

	@Override
	public J.Annotation visitAnnotation(J.Annotation annotation, ExecutionContext context) {
		J.Annotation visited = super.visitAnnotation(annotation, context);
		Translation translation = this.project.translations().get(annotation.getId());
		if (translation != null) {
			return (translation.obstacle() != null)
					? SearchResult.found(visited, "Stays under ShedLock: " + translation.obstacle())
					: replace(visited, translation);
		}
		return ShedLock.isComposed(annotation) ? withoutTimes(visited) : visited;
	}

	private J.Annotation replace(J.Annotation annotation, Translation translation) {
		List<Expression> before = Objects.requireNonNullElse(annotation.getArguments(), List.of());
		Space space = (before.size() > 1) ? before.get(1).getPrefix() : Space.SINGLE_SPACE;
		List<Expression> arguments = new ArrayList<>();
		Expression name = ShedLock.attribute(annotation, "name");
		if (name != null) {
			arguments.add(Trees.attribute("key", key(name), before.get(0).getPrefix()));
		}
		if (translation.session()) {
			arguments.add(Trees.attribute("scope", Trees.constant(ShedLock.LOCK_SCOPE, "SESSION"), space));
			maybeAddImport(ShedLock.LOCK_SCOPE);
		}
		if (translation.minInterval() != null) {
			arguments.add(Trees.attribute("minInterval", Trees.text(translation.minInterval()), space));
		}
		if (translation.shared()) {
			arguments.add(Trees.attribute("allowSharedKey", Trees.yes(), space));
		}
		if (name == null && !arguments.isEmpty()) {
			arguments.set(0, arguments.get(0).withPrefix(Space.EMPTY));
		}
		before.forEach(this::forget);
		maybeAddImport(ShedLock.SINGLE_RUNNER);
		maybeRemoveImport(ShedLock.SCHEDULER_LOCK);
		return annotation
			.withAnnotationType(
					Trees.type(ShedLock.SINGLE_RUNNER).withPrefix(annotation.getAnnotationType().getPrefix()))
			.withArguments(arguments.isEmpty() ? null : arguments);
	}

	private Expression key(Expression name) {
		if (!(name instanceof J.Literal literal) || !(literal.getValue() instanceof String text)) {
			return name;
		}
		J.MethodDeclaration method = getCursor().firstEnclosing(J.MethodDeclaration.class);
		String key = LockName.translate(text, (method != null) ? Trees.parameterNames(method) : List.of());
		return (key == null || key.equals(text)) ? name : Trees.text(key);
	}

	/**
	 * Remove the import of a constant that only a time was taken from.
	 */
	private void forget(Expression argument) {
		if (!TIMES.contains(ShedLock.attributeName(argument)) || !(argument instanceof J.Assignment assignment)) {
			return;
		}
		Expression value = assignment.getAssignment();
		JavaType.Variable field = (value instanceof J.Identifier identifier) ? identifier.getFieldType()
				: (value instanceof J.FieldAccess access) ? access.getName().getFieldType() : null;
		JavaType.FullyQualified owner = (field != null) ? TypeUtils.asFullyQualified(field.getOwner()) : null;
		if (field != null && owner != null) {
			maybeRemoveImport(owner.getFullyQualifiedName());
			maybeRemoveImport(owner.getFullyQualifiedName() + "." + field.getName());
		}
	}

	/**
	 * Leave out the attributes that the composed annotation no longer has.
	 */
	private J.Annotation withoutTimes(J.Annotation annotation) {
		Set<String> gone = this.project.lostAttributes(ShedLock.nameOf(annotation.getType()));
		List<Expression> arguments = annotation.getArguments();
		if (gone.isEmpty() || arguments == null) {
			return annotation;
		}
		List<Expression> rest = ListUtils.map(arguments, (argument) -> {
			String name = ShedLock.attributeName(argument);
			return (name != null && gone.contains(name)) ? null : argument;
		});
		return annotation
			.withArguments((rest == null || rest.isEmpty()) ? null : Space.formatFirstPrefix(rest, Space.EMPTY));
	}

	@Override
	public J.MethodInvocation visitMethodInvocation(J.MethodInvocation call, ExecutionContext context) {
		J.MethodInvocation visited = super.visitMethodInvocation(call, context);
		if (!RemainingUses.isTranslated(call, getCursor())) {
			return visited;
		}
		Translation translation = translationAround();
		if (translation == null && this.project.keepsShedLock()) {
			return SearchResult.found(visited, "Asks for a lock of ShedLock's, which not every caller has");
		}
		if (translation != null && translation.obstacle() != null) {
			return visited;
		}
		String check = ShedLock.EXTEND.matches(call) ? ".checkHeld()" : "";
		maybeAddImport(ShedLock.LOCK_CONTEXT);
		maybeRemoveImport(ShedLock.LOCK_ASSERT);
		maybeRemoveImport(ShedLock.LOCK_ASSERT + ".assertLocked");
		maybeRemoveImport(ShedLock.LOCK_EXTENDER);
		maybeRemoveImport(ShedLock.LOCK_EXTENDER + ".extendActiveLock");
		maybeRemoveImport("java.time.Duration");
		maybeRemoveImport("java.time.Duration.ZERO");
		J.MethodInvocation translated = JavaTemplate.builder("LockContext.current().orElseThrow()" + check)
			.imports(ShedLock.LOCK_CONTEXT)
			.javaParser(JavaParser.fromJavaVersion().dependsOn(CONTEXT_STUB))
			.build()
			.apply(getCursor(), call.getCoordinates().replace());
		return translated.withPrefix(call.getPrefix());
	}

	/**
	 * Return what becomes of the lock of the method around a call.
	 * @return the translation, {@code null} if the method has no lock of its own
	 */
	private @Nullable Translation translationAround() {
		J.MethodDeclaration method = getCursor().firstEnclosing(J.MethodDeclaration.class);
		return (method != null) ? translation(method.getLeadingAnnotations()) : null;
	}

	private @Nullable Translation translation(List<J.Annotation> annotations) {
		Map<UUID, Translation> translations = this.project.translations();
		return annotations.stream()
			.map((annotation) -> translations.get(annotation.getId()))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

}
