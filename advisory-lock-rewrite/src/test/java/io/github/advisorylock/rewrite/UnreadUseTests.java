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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openrewrite.ExecutionContext;
import org.openrewrite.InMemoryExecutionContext;
import org.openrewrite.Parser;
import org.openrewrite.Result;
import org.openrewrite.SourceFile;
import org.openrewrite.internal.InMemoryLargeSourceSet;
import org.openrewrite.java.JavaParser;
import org.openrewrite.text.PlainTextParser;
import org.openrewrite.tree.ParseError;
import org.openrewrite.xml.XmlParser;

/**
 * Tests that a project is left as it is, but for a marker in the file, where a file uses
 * ShedLock that the recipe can't read.
 */
@Tag("gate")
class UnreadUseTests {

	private static final String JAVA = """
			import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

			class %s {

				@SchedulerLock(name = "%s")
				public void run() {
				}

			}
			""";

	private static final String KOTLIN = """
			import net.javacrumbs.shedlock.spring.annotation.SchedulerLock

			open class Jobs {

			    @SchedulerLock(name = "a")
			    open fun run() {
			    }

			}
			""";

	private static final String POM = """
			<project>
				<dependencies>
					<dependency>
						<groupId>net.javacrumbs.shedlock</groupId>
						<artifactId>shedlock-spring</artifactId>
					</dependency>
				</dependencies>
			</project>
			""";

	private final ExecutionContext context = new InMemoryExecutionContext((ex) -> {
	});

	@Test
	void fileInAnotherLanguageIsMarkedAndNothingElseChanges() {
		checkLeftAlone(parse(new PlainTextParser(), "src/main/kotlin/Jobs.kt", KOTLIN));
	}

	@Test
	void fileThatCouldNotBeParsedIsMarkedAndNothingElseChanges() {
		Path path = Path.of("src/main/java/Jobs.java");
		Parser.Input input = Parser.Input.fromString(path, JAVA.formatted("Jobs", "a"));
		checkLeftAlone(ParseError.build(JavaParser.fromJavaVersion().build(), input, null, this.context,
				new IllegalArgumentException("a newer Java")));
	}

	@Test
	void fileWithoutTypesOfShedLockIsMarkedAndNothingElseChanges() {
		checkLeftAlone(
				parse(JavaParser.fromJavaVersion().build(), "src/main/java/Jobs.java", JAVA.formatted("Jobs", "a")));
	}

	@Test
	void otherFilesAreNoUse() {
		List<SourceFile> sources = readable();
		sources.add(parse(new PlainTextParser(), "NOTES.md", "Without net.javacrumbs.shedlock."));
		sources.add(parse(new PlainTextParser(), "src/main/kotlin/Other.kt", "class Other\n"));
		Assertions.assertThat(run(sources)).containsOnlyKeys("pom.xml", "src/main/java/Exports.java");
	}

	private void checkLeftAlone(SourceFile unread) {
		List<SourceFile> sources = readable();
		sources.add(unread);
		String marked = "/*~~(" + UnreadUse.MESSAGE + ")~~>*/" + unread.printAll();
		Assertions.assertThat(run(sources)).isEqualTo(Map.of(unread.getSourcePath().toString(), marked));
	}

	private List<SourceFile> readable() {
		List<SourceFile> sources = new ArrayList<>();
		sources.add(parse(new XmlParser(), "pom.xml", POM));
		sources.add(parse(JavaParser.fromJavaVersion().classpath("shedlock-core", "shedlock-spring").build(),
				"src/main/java/Exports.java", JAVA.formatted("Exports", "exports")));
		return sources;
	}

	private SourceFile parse(Parser parser, String path, String text) {
		return parser.parseInputs(List.of(Parser.Input.fromString(Path.of(path), text)), null, this.context)
			.findFirst()
			.orElseThrow();
	}

	private Map<String, String> run(List<SourceFile> sources) {
		return MigrationRecipe.load()
			.run(new InMemoryLargeSourceSet(sources), this.context)
			.getChangeset()
			.getAllResults()
			.stream()
			.map(Result::getAfter)
			.collect(Collectors.toMap((after) -> after.getSourcePath().toString(), SourceFile::printAll));
	}

}
