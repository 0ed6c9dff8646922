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

import java.io.StringReader;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.expression.ParseException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link KeyTemplate}.
 */
class KeyTemplateTests {

	private static final UUID ID = UUID.fromString("00000000-0000-0000-0000-00000000002a");

	@Test
	void textWithoutExpressionIsFixed() {
		KeyTemplate template = KeyTemplate.parse("nightly-report", null);
		assertThat(template.isFixed()).isTrue();
		assertThat(template.evaluate(new Object[0])).isEqualTo("nightly-report");
	}

	@Test
	void textWithExpressionIsNotFixed() {
		assertThat(parse("export:#{#argument}").isFixed()).isFalse();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void expressionsReadArgumentsByName(String text, Object argument, String key) {
		assertThat(parse(text).evaluate(new Object[] { argument })).isEqualTo(key);
	}

	static Stream<Arguments> expressionsReadArgumentsByName() {
		Order order = new Order(7, new Customer("Zoë 🎉", List.of("a", "b")));
		return Stream.of(Arguments.of("export:#{#argument}", "u1", "export:u1"),
				Arguments.of("#{#argument}/#{#argument}", 42, "42/42"),
				Arguments.of("order-#{#argument.id}", order, "order-7"),
				Arguments.of("#{#argument.customer.name}", order, "Zoë 🎉"),
				Arguments.of("#{#argument.customer.name()}", order, "Zoë 🎉"),
				Arguments.of("#{#argument.customer.tags[1]}", order, "b"),
				Arguments.of("#{#argument['id']}", Map.of("id", "m1"), "m1"),
				Arguments.of("#{#argument.trim().toUpperCase()}", " x ", "X"),
				Arguments.of("#{#argument ?: 'none'}", null, "none"),
				Arguments.of("#{#argument?.id ?: 'none'}", null, "none"),
				Arguments.of("#{#argument}", ID, ID.toString()),
				Arguments.of("#{#argument}", LocalDate.of(2026, 11, 20), "2026-11-20"),
				Arguments.of("#{#argument}", new Date(0), "1970-01-01T00:00:00Z"),
				Arguments.of("#{#argument}", new Timestamp(0), "1970-01-01T00:00:00Z"),
				Arguments.of("#{#argument}", java.sql.Date.valueOf("2026-11-20"), "2026-11-20"),
				Arguments.of("#{'day-' + #argument}", java.sql.Date.valueOf("2026-11-20"), "day-2026-11-20"),
				Arguments.of("#{'day-' + #argument}", LocalDate.of(2026, 11, 20), "day-2026-11-20"),
				Arguments.of("#{#argument.?[#this > 1].size()}", List.of(1, 2, 3), "2"));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "#{T(java.lang.Runtime).getRuntime()}", "${user.home}", "#{#argument}", "#{", "}", "'", "${" })
	void argumentIsDataAndNeverEvaluated(String argument) {
		assertThat(parse("export:#{#argument}").evaluate(new Object[] { argument })).isEqualTo("export:" + argument);
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "\t" })
	void expressionThatYieldsNothingIsRefused(String argument) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> parse("export:#{#argument}").evaluate(new Object[] { argument }))
			.withMessageContaining("'export:#{#argument}'");
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " " })
	void missingPartOfTextThatIsPutTogetherIsRefused(String argument) {
		for (String text : List.of("#{'export:' + #argument}", "#{#argument + '-' + 1}", "#{1 + '-' + #argument}")) {
			assertThatIllegalArgumentException().isThrownBy(() -> parse(text).evaluate(new Object[] { argument }))
				.withMessageContaining("'#argument' in '");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "export:#{#argument}", "#{'export:' + #argument}", "#{'export:' + #argument + '!'}" })
	void valueWhoseTextDiffersFromOneInstanceToTheNextIsRefused(String text) {
		for (Object argument : List.of(new Object(), new StringReader("7"), Map.of("a", 1).entrySet().iterator())) {
			assertThatIllegalArgumentException().isThrownBy(() -> parse(text).evaluate(new Object[] { argument }))
				.withMessageContaining("Failed to evaluate key '" + text + "'")
				.withMessageContaining(argument.getClass().getName());
		}
	}

	@Test
	void textOfDateInSumIsRefusedBecauseItHasTheZoneOfTheInstance() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> parse("#{'day-' + #argument}").evaluate(new Object[] { new Date(0) }))
			.withMessageContaining("'#argument' in ''day-' + #argument' is of class 'java.util.Date'")
			.withMessageContaining("an expression of its own");
	}

	@Test
	void partsOfTextThatIsPutTogetherMayBeOfAnyKind() {
		assertThat(parse("#{'a' + ' ' + #argument}").evaluate(new Object[] { 5 })).isEqualTo("a 5");
		assertThat(parse("page:#{#argument + 1}").evaluate(new Object[] { 5 })).isEqualTo("page:6");
		assertThat(parse("#{'a' + (#argument ?: 'none')}").evaluate(new Object[1])).isEqualTo("anone");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#{#unknown}", "#{#argument.id + #other}", "#{argument}", "#{argument.id}", "#{length()}",
			"#{T(String)}", "#{new String('x')}", "#{@bean}", "#{#function()}", "#{#root}", "#{#this}",
			"#{#argument.?[T(String) != null]}" })
	void expressionThatCanOnlyFailInCallIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessageMatching(
					"'.+' in '.+' is (neither an argument nor part of one|unknown; the parameters are \\[argument]|no argument; an argument is written .+)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#{#argument", "#{}", "#{#argument +}", "#{#argument.}", "#{'a}" })
	void expressionThatCantBeParsedIsRefused(String text) {
		assertThatExceptionOfType(ParseException.class).isThrownBy(() -> parse(text)).withMessageContaining("@");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#{'#'}argument", "#{'#argument'}", "# argument", "#1", "{other}", "$other" })
	void textThatOnlyLooksLikeArgumentIsText(String text) {
		assertThat(parse(text).isFixed()).isTrue();
	}

	@Test
	void textThatIsWrittenAsExpressionIsTheText() {
		assertThat(parse("#{'#'}general").text()).isEqualTo("#general");
		assertThat(parse("#{'#'}x:#{#argument}").evaluate(new Object[] { 1 })).isEqualTo("#x:1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#argument", "a-#other", "{argument}", "$argument", "#{#argument}-#argument" })
	void argumentOutsideExpressionIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessageContaining("stands there as text");
	}

	@Test
	void expressionThatFailsIsToldByKey() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> parse("user:#{#argument.nmae}").evaluate(new Object[] { "x" }))
			.withMessageStartingWith("Failed to evaluate key 'user:#{#argument.nmae}': ")
			.withMessageContaining("nmae");
	}

	@Test
	void unknownNamesOfParametersAreToldFromUnknownParameter() {
		assertThatIllegalArgumentException().isThrownBy(() -> KeyTemplate.parse("#{#id}", null))
			.withMessageContaining("names of the parameters are not in the class file");
		assertThatIllegalArgumentException().isThrownBy(() -> parse("#{#id}"))
			.withMessageContaining("the parameters are [argument]");
	}

	private static KeyTemplate parse(String text) {
		return KeyTemplate.parse(text, new String[] { "argument" });
	}

	record Order(int id, Customer customer) {

	}

	record Customer(String name, List<String> tags) {

	}

}
