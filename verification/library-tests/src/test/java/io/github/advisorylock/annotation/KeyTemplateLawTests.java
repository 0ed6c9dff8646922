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

import java.util.regex.Pattern;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for what is true of every {@link KeyTemplate}.
 */
@PropertyDefaults(edgeCases = EdgeCasesMode.NONE)
class KeyTemplateLawTests {

	private static final Pattern LIKE_ARGUMENT = Pattern
		.compile("#[a-zA-Z_\u00e9]|\\{argument}|\\$argument(?![a-zA-Z0-9_])");

	@Property(seed = "11")
	void textWithoutExpressionIsTheKeyUnlessItLooksLikeAnArgument(@ForAll("texts") String text) {
		String literal = text.replaceAll("#+\\{", "{");
		if (LIKE_ARGUMENT.matcher(literal).find()) {
			assertThatIllegalArgumentException().isThrownBy(() -> parse(literal))
				.withMessageContaining("stands there as text");
		}
		else {
			KeyTemplate template = parse(literal);
			assertThat(template.isFixed()).isTrue();
			assertThat(template.text()).isEqualTo(literal);
			assertThat(template.evaluate(new Object[] { "x" })).isEqualTo(literal);
		}
	}

	@Property(seed = "11")
	void anyTextCanBeWrittenAsAnExpression(@ForAll("texts") String text) {
		String quoted = "#{'" + text.replace("'", "''") + "'}";
		KeyTemplate template = parse(quoted);
		assertThat(template.isFixed()).isTrue();
		assertThat(template.text()).isEqualTo(text);
		KeyTemplate before = parse(quoted + ":#{#argument}");
		assertThat(before.isFixed()).isFalse();
		assertThat(before.evaluate(new Object[] { 7 })).isEqualTo(text + ":7");
	}

	@Property(seed = "11")
	void argumentIsDataAndNeverEvaluated(@ForAll("texts") String argument) {
		KeyTemplate template = parse("a:#{#argument}:z");
		KeyTemplate sum = parse("#{'a:' + #argument + ':z'}");
		if (StringUtils.hasText(argument)) {
			String key = "a:" + argument + ":z";
			assertThat(template.evaluate(new Object[] { argument })).isEqualTo(key);
			assertThat(sum.evaluate(new Object[] { argument })).isEqualTo(key);
		}
		else {
			for (KeyTemplate refusing : new KeyTemplate[] { template, sum }) {
				assertThatIllegalArgumentException().isThrownBy(() -> refusing.evaluate(new Object[] { argument }))
					.withMessageContaining("#argument")
					.withMessageContaining("is empty");
			}
		}
	}

	@Provide
	Arbitrary<String> texts() {
		Arbitrary<String> parts = Arbitraries.of("argument", "#argument", "#{", "}", "{argument}", "$argument", "${",
				"T(java.lang.Runtime)", "#{#argument}", "'", "''", "\"", "\\", " ", "\t", "a", "0", ":", "#", "$", "{",
				"\u00e9", "\ud83c\udf89");
		return parts.list().ofMaxSize(8).map((list) -> String.join("", list));
	}

	private static KeyTemplate parse(String text) {
		return KeyTemplate.parse(text, new String[] { "argument" });
	}

}
