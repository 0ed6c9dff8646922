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

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.openrewrite.Tree;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JLeftPadded;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.Space;
import org.openrewrite.marker.Markers;

/**
 * Builds the small trees that stand in an annotation. A template would have to be parsed
 * with the library on the class path, where a project does not have it yet.
 */
final class Trees {

	private Trees() {
	}

	/**
	 * Create a type by its simple name, which has to be imported.
	 */
	static J.Identifier type(String name) {
		return identifier(name.substring(name.lastIndexOf('.') + 1), JavaType.ShallowClass.build(name));
	}

	/**
	 * Create a constant of an enum, which has to be imported.
	 */
	static Expression constant(String type, String name) {
		JavaType.ShallowClass owner = JavaType.ShallowClass.build(type);
		JavaType.Variable field = new JavaType.Variable(null, 0, name, owner, owner, List.of());
		return new J.FieldAccess(Tree.randomId(), Space.EMPTY, Markers.EMPTY, type(type),
				new JLeftPadded<>(Space.EMPTY, identifier(name, owner).withFieldType(field), Markers.EMPTY), owner);
	}

	/**
	 * Create a text.
	 */
	static Expression text(String text) {
		String source = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
		return new J.Literal(Tree.randomId(), Space.EMPTY, Markers.EMPTY, text, source, null,
				JavaType.Primitive.String);
	}

	static Expression yes() {
		return new J.Literal(Tree.randomId(), Space.EMPTY, Markers.EMPTY, true, "true", null,
				JavaType.Primitive.Boolean);
	}

	/**
	 * Create an argument of an annotation.
	 */
	static Expression attribute(String name, Expression value, Space prefix) {
		return new J.Assignment(Tree.randomId(), prefix, Markers.EMPTY, identifier(name, value.getType()),
				new JLeftPadded<>(Space.SINGLE_SPACE, value.withPrefix(Space.SINGLE_SPACE), Markers.EMPTY),
				value.getType());
	}

	static List<String> parameterNames(J.MethodDeclaration method) {
		return method.getParameters()
			.stream()
			.filter(J.VariableDeclarations.class::isInstance)
			.map((parameter) -> ((J.VariableDeclarations) parameter).getVariables().get(0).getSimpleName())
			.toList();
	}

	private static J.Identifier identifier(String name, @Nullable JavaType type) {
		return new J.Identifier(Tree.randomId(), Space.EMPTY, Markers.EMPTY, List.of(), name, type, null);
	}

}
