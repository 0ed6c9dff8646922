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
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Translates the name of a lock, which ShedLock evaluates with all that SpEL can do, to a
 * key, whose expressions know the arguments of the call by name and nothing else.
 */
final class LockName {

	private static final Pattern EXPRESSION = Pattern.compile("#\\{([^}]*)}");

	private static final Pattern QUOTED = Pattern.compile("'[^']*'");

	private static final Pattern VARIABLE = Pattern.compile("#(\\w+)");

	private static final Pattern POSITION = Pattern.compile("[ap](\\d+)");

	/** A word that is neither an argument nor a part of one. */
	private static final Pattern WORD = Pattern.compile("(?<![\\w#.$])[A-Za-z_]\\w*");

	private static final Set<String> LITERALS = Set.of("null", "true", "false");

	private LockName() {
	}

	/**
	 * Translate a name.
	 * @param name the text of the name
	 * @param parameters the names of the method's parameters
	 * @return the key, {@code null} if there is none that means the same
	 */
	static @Nullable String translate(String name, List<String> parameters) {
		StringBuilder key = new StringBuilder();
		Matcher expressions = EXPRESSION.matcher(name);
		int position = 0;
		while (expressions.find()) {
			String expression = translateExpression(expressions.group(1), parameters);
			if (expression == null) {
				return null;
			}
			key.append(name.substring(position, expressions.start())).append("#{").append(expression).append('}');
			position = expressions.end();
		}
		String rest = name.substring(position);
		return rest.contains("#{") ? null : key.append(rest).toString();
	}

	private static @Nullable String translateExpression(String expression, List<String> parameters) {
		String code = QUOTED.matcher(expression).replaceAll("''");
		boolean beyond = WORD.matcher(code).results().anyMatch((word) -> !LITERALS.contains(word.group()));
		if (beyond || code.contains("@") || code.contains("${") || code.contains("{") || !code.contains("#")) {
			return null;
		}
		StringBuilder translated = new StringBuilder();
		Matcher variables = VARIABLE.matcher(expression);
		while (variables.find()) {
			String parameter = parameter(variables.group(1), parameters);
			if (parameter == null) {
				return null;
			}
			variables.appendReplacement(translated, Matcher.quoteReplacement("#" + parameter));
		}
		return variables.appendTail(translated).toString();
	}

	/**
	 * Return the parameter that a variable stands for: by its name, or by its position,
	 * as in {@code #a0} and {@code #p0}.
	 */
	private static @Nullable String parameter(String variable, List<String> parameters) {
		if (parameters.contains(variable)) {
			return variable;
		}
		Matcher position = POSITION.matcher(variable);
		if (!position.matches() || position.group(1).length() > 2) {
			return null;
		}
		int index = Integer.parseInt(position.group(1));
		return (index < parameters.size()) ? parameters.get(index) : null;
	}

}
