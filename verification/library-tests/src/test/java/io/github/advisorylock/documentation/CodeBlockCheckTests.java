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

package io.github.advisorylock.documentation;

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for {@link CodeBlockCheck}.
 */
@Tag("gate")
class CodeBlockCheckTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					java  | @SingleRunner(key = "a", until = "b") void run() { } | until
					java  | class Job { Missing field; } | Missing
					java  | class Job { io.github.advisorylock.jdbc.LockSession session; } | has type <io.github.advisorylock.jdbc.LockSession>
					yaml  | advisory-lock.wait-form: 5s | wait-form
					yaml  | advisory-lock.wait-for: soon | soon
					yaml  | advisory-lock.jobs.report.scopes: session | scopes
					sql   | SELECT pid FROM pg_lock | pg_lock
					xml   | <dependency><groupId>io.github.advisorylock</groupId><artifactId>gone</artifactId><version>0.1.0-SNAPSHOT</version></dependency> | gone
					xml   | <dependency><groupId>org.example</groupId><artifactId>advisory-lock-starter</artifactId><version>0.1.0-SNAPSHOT</version></dependency> | org.example
					diff  | +class A { Missing field; } | Missing
					groovy | implementation 'io.github.advisorylock:advisory-lock-starter:9.9.9' | 9.9.9
					groovy | implementation 'org.example:other:1.0' | something of ours
					json  | { "a": 1 | wrong.md:1 (json)
					shell | mvn verify -Dunknown | -Dunknown
					shell | format c: | format
					shell | curl localhost:8080/typed-by-nobody | requests of wrong.md
					text  | unknown language | No check for the language
					''    | no language | No check for the language
					""")
	void checkOfWrongBlockFails(String language, String text, String why) {
		CodeBlock block = new CodeBlock("wrong.md:1", language, text);
		assertThatThrownBy(() -> CodeBlockCheck.check(block)).hasStackTraceContaining(why.replace("\"", ""));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			java  | @SingleRunner(key = "a") void run() { }
			java  | class Job { JdbcTemplate jdbc; }
			diff  | -class A { Missing field; }
			groovy | implementation 'io.github.advisorylock:advisory-lock-starter:0.1.0-SNAPSHOT'
			yaml  | advisory-lock.jobs.report.scope: session
			sql   | SELECT pid FROM pg_locks
			json  | { "a": 1 }
			shell | mvn verify
			""")
	void checkOfRightBlockPasses(String language, String text) throws Exception {
		CodeBlockCheck.check(new CodeBlock("right.md:1", language, text));
	}

	@Test
	void parseFindsBlocksWithTheirPlaceAndLanguage() {
		assertThat(CodeBlock.parse("a.md", "# A\n\n```java\nclass A {\n}\n```\ntext\n\n  ```\nnone\n  ```\n"))
			.isEqualTo(List.of(new CodeBlock("a.md:3", "java", "class A {\n}"), new CodeBlock("a.md:9", "", "none")));
		assertThat(CodeBlock.parse("a.md", "```sql session=one\nBEGIN;\n```\n"))
			.isEqualTo(List.of(new CodeBlock("a.md:1", "sql", "session=one", "BEGIN;")));
	}

}
