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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.advisorylock.AdvisoryLockKey;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParserContext;
import org.springframework.expression.TypedValue;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
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
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.util.StringUtils;

/**
 * The text of a key with expressions over the arguments of a method. Parsed and checked
 * once; the value of an expression becomes part of the key and is never looked at again.
 */
record KeyTemplate(String text, List<Expression> parts, Map<String, Integer> parameters) {

	/**
	 * Ways to write an argument elsewhere: {@code #id}, <code>{id}</code>, {@code $id}.
	 */
	private static final Pattern BARE_ARGUMENT = Pattern.compile("#([\\p{L}_][\\p{L}\\p{N}_]*)|\\{(\\w+)}|\\$(\\w+)");

	/**
	 * Parse a template.
	 * @param text the text, with its placeholders resolved
	 * @param parameterNames the names of the method's parameters, {@code null} if they
	 * are not known
	 * @throws org.springframework.expression.ParseException if the text can't be parsed
	 * @throws IllegalArgumentException if an expression uses what it can't have
	 */
	static KeyTemplate parse(String text, @Nullable String @Nullable [] parameterNames) {
		List<Expression> parts = split(text);
		Map<String, Integer> parameters = new HashMap<>();
		for (int i = 0; parameterNames != null && i < parameterNames.length; i++) {
			String name = parameterNames[i];
			if (name != null) {
				parameters.put(name, i);
			}
		}
		for (Expression part : parts) {
			if (part instanceof SpelExpression spel) {
				check(spel.getAST(), spel.getExpressionString(), parameters.keySet(), parameterNames != null, true);
			}
		}
		checkLiterals(parts, parameters.keySet());
		boolean fixed = true;
		StringBuilder key = new StringBuilder();
		for (int i = 0; i < parts.size(); i++) {
			parts.set(i, literal(parts.get(i)));
			fixed &= parts.get(i) instanceof LiteralExpression;
			key.append(parts.get(i).getExpressionString());
		}
		return fixed ? new KeyTemplate(key.toString(), List.of(new LiteralExpression(key.toString())), Map.of())
				: new KeyTemplate(text, parts, parameters);
	}

	/**
	 * Return whether every call has the same key. That is text without expressions then.
	 */
	boolean isFixed() {
		return this.parts.size() == 1 && this.parts.get(0) instanceof LiteralExpression;
	}

	/**
	 * Return whether arguments decide the whole text of every key.
	 */
	static boolean isBare(String text) {
		return split(text).stream()
			.map(KeyTemplate::literal)
			.noneMatch((part) -> part instanceof LiteralExpression && StringUtils.hasText(part.getExpressionString()));
	}

	/**
	 * Evaluate the template for the arguments of one call.
	 * @throws IllegalArgumentException if the result would not identify anything
	 */
	String evaluate(@Nullable Object[] arguments) {
		EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().withInstanceMethods().build();
		this.parameters.forEach((name, index) -> context.setVariable(name, arguments[index]));
		StringBuilder key = new StringBuilder();
		for (Expression part : this.parts) {
			String value = value(part, context);
			if (!StringUtils.hasText(value) && part instanceof SpelExpression) {
				throw failed("'#{" + part.getExpressionString() + "}' is " + ((value != null) ? "empty" : "null"),
						null);
			}
			key.append(value);
		}
		return key.toString();
	}

	private @Nullable String value(Expression part, EvaluationContext context) {
		try {
			return text(part, context);
		}
		catch (RuntimeException ex) {
			throw failed(String.valueOf(ex.getMessage()), ex);
		}
	}

	private IllegalArgumentException failed(String reason, @Nullable Throwable cause) {
		return new IllegalArgumentException(
				AdvisoryLockKey.printable("Failed to evaluate key '" + this.text + "': " + reason), cause);
	}

	private static @Nullable String text(Expression part, EvaluationContext context) {
		if (part instanceof SpelExpression spel && spel.getAST() instanceof OpPlus sum) {
			return KeyText.of(sum(sum, spel.getExpressionString(), new ExpressionState(context)).getValue(), context);
		}
		return KeyText.of(part.getValue(context), context);
	}

	private static List<Expression> split(String text) {
		List<Expression> parts = new ArrayList<>();
		if (!text.contains(ParserContext.TEMPLATE_EXPRESSION.getExpressionPrefix())) {
			parts.add(new LiteralExpression(text));
			return parts;
		}
		split(new SpelExpressionParser().parseExpression(text, ParserContext.TEMPLATE_EXPRESSION), parts);
		return parts;
	}

	/**
	 * Text that is written as an expression, because it would be taken for one, is text.
	 */
	private static Expression literal(Expression part) {
		boolean text = part instanceof SpelExpression spel && spel.getAST() instanceof StringLiteral;
		return text ? new LiteralExpression(String.valueOf(part.getValue())) : part;
	}

	/**
	 * Refuse what is written as an argument and stands where it is text: every call would
	 * lock the same key, and calls for different arguments be skipped.
	 * @throws IllegalArgumentException if there is such a thing
	 */
	private static void checkLiterals(List<Expression> parts, Set<String> parameters) {
		for (Expression part : parts) {
			Matcher bare = BARE_ARGUMENT.matcher((part instanceof LiteralExpression) ? part.getExpressionString() : "");
			while (bare.find()) {
				String name = bare.group().replaceAll("[#{}$]", "");
				if (bare.group(1) != null || parameters.contains(name)) {
					throw new IllegalArgumentException("'" + bare.group() + "' stands there as text, and every call "
							+ "would have the same key; the argument is written '#{#" + name
							+ "}', and text that is meant as it is '#{'" + bare.group().charAt(0) + "'}"
							+ bare.group().substring(1) + "'");
				}
			}
		}
	}

	/**
	 * Check that the expressions read only what arguments have got.
	 * @param type knows the types of the parameters
	 * @throws IllegalArgumentException if an argument can't have it
	 */
	void checkProperties(IntFunction<ResolvableType> type) {
		Map<String, ResolvableType> types = new HashMap<>();
		this.parameters.forEach((name, index) -> types.put(name, type.apply(index)));
		ArgumentProperties properties = new ArgumentProperties(types);
		for (Expression part : this.parts) {
			if (part instanceof SpelExpression spel) {
				properties.check(spel.getAST(), spel.getExpressionString());
			}
		}
	}

	private static void split(Expression expression, List<Expression> parts) {
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
	 * Evaluate a sum from its operands, each of which is read once, and check that none
	 * is missing: it would stand there as "null", or as nothing, and make equal keys of
	 * different arguments. SpEL would take whatever {@code toString()} says of the
	 * others. An expression that chooses, by {@code ?:} or {@code ? :}, knows what it
	 * does.
	 * @throws IllegalArgumentException if an operand is {@code null} or empty, or has no
	 * text
	 */
	private static TypedValue sum(OpPlus sum, String expression, ExpressionState state) {
		SpelNodeImpl[] operands = new SpelNodeImpl[sum.getChildCount()];
		for (int i = 0; i < operands.length; i++) {
			SpelNode operand = sum.getChild(i);
			TypedValue value = (operand instanceof OpPlus inner) ? sum(inner, expression, state)
					: operand.getTypedValue(state);
			if (!(operand instanceof OpPlus || operand instanceof Literal || operand instanceof Elvis
					|| operand instanceof Ternary)) {
				checkOperand(value.getValue(), "'" + operand.toStringAST() + "' in '" + expression + "' ");
			}
			operands[i] = new Value(value);
		}
		return new OpPlus(sum.getStartPosition(), sum.getEndPosition(), operands).getTypedValue(state);
	}

	private static void checkOperand(@Nullable Object value, String operand) {
		if (value == null || (value instanceof String text && !StringUtils.hasText(text))) {
			throw new IllegalArgumentException(operand + "is " + ((value != null) ? "empty" : "null"));
		}
		if (!KeyText.hasTextInSum(value)) {
			throw new IllegalArgumentException(operand + KeyText.problem(value.getClass()));
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

	/**
	 * An operand that is evaluated already.
	 */
	private static final class Value extends Literal {

		private final TypedValue value;

		private Value(TypedValue value) {
			super(null, 0, 0);
			this.value = value;
		}

		@Override
		public TypedValue getLiteralValue() {
			return this.value;
		}

	}

}
