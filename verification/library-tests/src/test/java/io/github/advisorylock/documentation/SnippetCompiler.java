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

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.github.advisorylock.architecture.PromisedPackages;

import org.springframework.util.FileSystemUtils;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * Compiles Java as documents show it: whole types, or members that stand in a type of no
 * interest, with or without the imports that a reader's editor finds.
 */
final class SnippetCompiler {

	private static final Pattern TYPE = Pattern
		.compile("(?m)^(?:(?:public|final|abstract) )*(?:class|interface|record|enum) (\\w+)");

	private static final Pattern PACKAGE = Pattern.compile("(?m)^package .+;$");

	private static final Pattern IMPORT = Pattern.compile("(?m)^import .+;$");

	private static final String USUAL_IMPORTS = """
			import java.time.*;
			import java.util.*;
			import io.github.advisorylock.*;
			import io.github.advisorylock.annotation.*;
			import org.springframework.boot.context.event.ApplicationReadyEvent;
			import org.springframework.context.annotation.*;
			import org.springframework.context.event.EventListener;
			import org.springframework.jdbc.core.*;
			import org.springframework.scheduling.annotation.*;
			import org.springframework.scheduling.config.ScheduledTaskRegistrar;
			import org.springframework.scheduling.support.CronTrigger;
			import org.springframework.security.config.Customizer;
			import org.springframework.security.config.annotation.web.builders.HttpSecurity;
			import org.springframework.security.web.SecurityFilterChain;
			import org.springframework.stereotype.*;
			import org.springframework.transaction.annotation.*;
			""";

	private static final ArchRule PROMISED = noClasses().should()
		.dependOnClassesThat(PromisedPackages.UNPROMISED)
		.allowEmptyShould(true);

	private SnippetCompiler() {
	}

	/**
	 * Compile programs, each a list of snippets that know each other. All in one go: to
	 * start a compiler takes longer than most snippets.
	 * @return the errors, what is not promised to users among them
	 */
	static List<String> compile(Collection<List<String>> programs) throws Exception {
		DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
		List<String> errors = new ArrayList<>();
		Path output = Files.createTempDirectory("snippet");
		try {
			JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
			List<String> options = List.of("-proc:none", "--release", "17", "-d", output.toString(), "-classpath",
					System.getProperty("java.class.path"));
			List<JavaFileObject> sources = new ArrayList<>();
			for (List<String> program : programs) {
				String ownPackage = "snippet" + sources.size();
				program.forEach((snippet) -> sources.add(source(ownPackage, snippet)));
			}
			compiler.getTask(null, null, diagnostics, options, null, sources).call();
			errors
				.addAll(PROMISED.evaluate(new ClassFileImporter().importPath(output)).getFailureReport().getDetails());
		}
		finally {
			FileSystemUtils.deleteRecursively(output);
		}
		diagnostics.getDiagnostics()
			.stream()
			.filter((diagnostic) -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
			.map(SnippetCompiler::describe)
			.forEach(errors::add);
		return errors;
	}

	private static String describe(Diagnostic<? extends JavaFileObject> error) {
		return error + ((error.getSource() != null) ? " in\n" + ((Source) error.getSource()).code : "");
	}

	private static JavaFileObject source(String ownPackage, String snippet) {
		String imports = IMPORT.matcher(snippet)
			.results()
			.map((line) -> line.group() + "\n")
			.collect(Collectors.joining());
		String body = PACKAGE.matcher(IMPORT.matcher(snippet).replaceAll("")).replaceAll("");
		Matcher type = TYPE.matcher(body);
		boolean whole = type.find();
		String name = whole ? type.group(1) : "Snippet";
		String code = "package " + ownPackage + ";\n" + USUAL_IMPORTS + imports
				+ (whole ? body : "class Snippet {\n" + body + "\n}");
		return new Source(ownPackage + "/" + name, code);
	}

	/**
	 * A compilation unit in memory.
	 */
	private static final class Source extends SimpleJavaFileObject {

		private final String code;

		private Source(String path, String code) {
			super(URI.create("string:///" + path + ".java"), Kind.SOURCE);
			this.code = code;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.code;
		}

	}

}
