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

import java.util.List;
import java.util.Set;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.StringUtils;

/**
 * Finds, before anything is called, the expressions of a key that could only fail in a
 * call.
 */
final class KeyExpressions {

	private KeyExpressions() {
	}

	static void split(Expression expression, List<Expression> parts) {
		if (expression instanceof CompositeStringExpression composite) {
			for (Expression part : composite.getExpressions()) {
				split(part, parts);
			}
		}
		else {
			parts.add(expression);
		}
	}

	/**
	 * Check an expression against the parameters of its method.
	 * @throws IllegalArgumentException if it uses what it can't have
	 */
	static void check(SpelExpression expression, Set<String> parameters, boolean namesKnown) {
		check(expression.getAST(), expression.getExpressionString(), parameters, namesKnown, true);
	}

	/**
	 * Check that no part of a text that an expression puts together is missing: it would
	 * stand there as "null", or as nothing, and make equal keys of different arguments.
	 * An expression that chooses, by {@code ?:} or {@code ? :}, knows what it does.
	 * @throws IllegalArgumentException if an operand of a sum is {@code null} or empty
	 */
	static void checkParts(SpelExpression expression, EvaluationContext context) {
		if (expression.getAST() instanceof OpPlus sum) {
			checkParts(sum, expression.getExpressionString(), new ExpressionState(context));
		}
	}

	private static void checkParts(OpPlus sum, String expression, ExpressionState state) {
		for (int i = 0; i < sum.getChildCount(); i++) {
			SpelNode operand = sum.getChild(i);
			if (operand instanceof OpPlus inner) {
				checkParts(inner, expression, state);
			}
			else if (!(operand instanceof Literal || operand instanceof Elvis || operand instanceof Ternary)) {
				Object value = operand.getValue(state);
				if (value == null || (value instanceof String text && !StringUtils.hasText(text))) {
					throw new IllegalArgumentException("'" + operand.toStringAST() + "' in '" + expression + "' is "
							+ ((value != null) ? "empty" : "null"));
				}
			}
		}
	}

	private static void check(SpelNode node, String expression, Set<String> parameters, boolean namesKnown,
			boolean root) {
		if (node instanceof VariableReference) {
			checkVariable(node.toStringAST(), expression, parameters, namesKnown, root);
		}
		else if (node instanceof TypeReference || node instanceof ConstructorReference || node instanceof BeanReference
				|| node instanceof FunctionReference) {
			throw new IllegalArgumentException(
					"'" + node.toStringAST() + "' in '" + expression + "' is neither an argument nor part of one");
		}
		else if (root && (node instanceof PropertyOrFieldReference || node instanceof MethodReference)) {
			throw new IllegalArgumentException("'" + node.toStringAST() + "' in '" + expression
					+ "' is no argument; an argument is written '#" + node.toStringAST() + "'");
		}
		boolean newRoot = node instanceof Projection || node instanceof Selection || node instanceof Indexer;
		for (int i = 0; i < node.getChildCount(); i++) {
			boolean chained = node instanceof CompoundExpression && i > 0;
			check(node.getChild(i), expression, parameters, namesKnown, root && !newRoot && !chained);
		}
	}

	private static void checkVariable(String variable, String expression, Set<String> parameters, boolean namesKnown,
			boolean root) {
		String name = variable.substring(1);
		if (parameters.contains(name) || (!root && (name.equals("this") || name.equals("root")))) {
			return;
		}
		throw new IllegalArgumentException("'" + variable + "' in '" + expression + "' is unknown; "
				+ (namesKnown ? "the parameters are " + parameters.stream().sorted().toList()
						: "the names of the parameters are not in the class file"));
	}

}
