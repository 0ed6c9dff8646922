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

import java.beans.PropertyDescriptor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Follows what expressions read of arguments, as far as the declared types tell: a
 * property that a type has not got, or one that has no text, would fail in each call.
 * <p>
 * Of an interface, an abstract class or a map it is not known what the argument will have
 * got, so nothing is said of those.
 */
record ArgumentProperties(Map<String, ResolvableType> parameters) {

	/**
	 * Check an expression.
	 * @throws IllegalArgumentException if it reads what an argument has not got, or
	 * yields what has no text
	 */
	void check(SpelNode root, String expression) {
		checkReads(root, expression);
		checkText(root, expression);
	}

	private void checkReads(SpelNode node, String expression) {
		typeOf(node, expression);
		for (int i = 0; i < node.getChildCount(); i++) {
			checkReads(node.getChild(i), expression);
		}
	}

	/**
	 * Check what becomes part of the key: the whole of an expression, or the operands of
	 * a sum.
	 */
	private void checkText(SpelNode node, String expression) {
		if (node instanceof OpPlus) {
			for (int i = 0; i < node.getChildCount(); i++) {
				checkText(node.getChild(i), expression);
			}
		}
		else {
			ResolvableType type = typeOf(node, expression);
			if (type != null && isKnown(type) && !KeyText.hasText(type.toClass())) {
				throw new IllegalArgumentException(
						"'" + node.toStringAST() + "' in '" + expression + "' " + KeyText.problem(type.toClass()));
			}
		}
	}

	private @Nullable ResolvableType typeOf(SpelNode node, String expression) {
		if (node instanceof VariableReference) {
			return this.parameters.get(node.toStringAST().substring(1));
		}
		return (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference variable)
				? follow(node, typeOf(variable, expression), expression) : null;
	}

	private static @Nullable ResolvableType follow(SpelNode path, @Nullable ResolvableType start, String expression) {
		ResolvableType type = start;
		for (int i = 1; i < path.getChildCount(); i++) {
			type = isKnown(type) ? next(path.getChild(i), type, expression) : null;
		}
		return type;
	}

	private static boolean isKnown(@Nullable ResolvableType type) {
		Class<?> resolved = (type != null) ? type.resolve() : null;
		return resolved != null && resolved != Object.class && resolved != Optional.class && !resolved.isInterface()
				&& !resolved.isArray() && !Modifier.isAbstract(resolved.getModifiers())
				&& !Map.class.isAssignableFrom(resolved);
	}

	private static @Nullable ResolvableType next(SpelNode step, @Nullable ResolvableType type, String expression) {
		Class<?> owner = ClassUtils.resolvePrimitiveIfNecessary((type != null) ? type.toClass() : Object.class);
		if (step instanceof PropertyOrFieldReference property) {
			return read(owner, property.getName(), expression);
		}
		if (step instanceof MethodReference call
				&& Stream.of(owner.getMethods()).noneMatch((method) -> method.getName().equals(call.getName()))) {
			throw new IllegalArgumentException("'" + call.getName() + "' in '" + expression + "' is unknown; class '"
					+ owner.getName() + "' has no such method");
		}
		return null;
	}

	private static @Nullable ResolvableType read(Class<?> owner, String name, String expression) {
		String suffix = StringUtils.capitalize(name);
		Method getter = Stream.of("get" + suffix, "is" + suffix, "get" + name, name)
			.map((candidate) -> ReflectionUtils.findMethod(owner, candidate))
			.filter((method) -> method != null)
			.findFirst()
			.orElse(null);
		if (getter != null) {
			return ResolvableType.forMethodReturnType(getter, owner);
		}
		if (ReflectionUtils.findField(owner, name) != null) {
			return null;
		}
		throw new IllegalArgumentException("'" + name + "' in '" + expression
				+ "' is unknown; the properties of class '" + owner.getName() + "' are " + names(owner));
	}

	private static Set<String> names(Class<?> owner) {
		Set<String> names = new TreeSet<>();
		Arrays.stream(BeanUtils.getPropertyDescriptors(owner)).map(PropertyDescriptor::getName).forEach(names::add);
		names.remove("class");
		return names;
	}

}
