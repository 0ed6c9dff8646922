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

package io.github.advisorylock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import org.springframework.util.Assert;

/**
 * An application of many beans, written and compiled for the measurement.
 *
 * @param beans how many there are, each of a class of its own
 * @param methods how many each has
 * @param annotation what each of them is annotated with; of {@code %s} becomes a name of
 * its own
 */
record GeneratedBeans(int beans, int methods, String annotation) {

	static final String PLAIN = "";

	static final String TRANSACTIONAL = "@org.springframework.transaction.annotation.Transactional ";

	static final String GUARDED = "@io.github.advisorylock.annotation.SingleRunner(\"%s\") ";

	/**
	 * The class that imports all others.
	 */
	static final String CONFIGURATION = "AllBeans";

	/**
	 * Write the classes and compile them.
	 * @param directory where, a directory that becomes part of a class path
	 * @param classPath what they are compiled against
	 */
	void compile(Path directory, String classPath) throws IOException {
		Path source = Files.writeString(directory.resolve(CONFIGURATION + ".java"), source());
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		Assert.state(compiler != null, "The part 'methods' must be run on a JDK");
		int status = compiler.run(null, null, null, "-proc:none", "-nowarn", "-classpath", classPath, "-d",
				directory.toString(), source.toString());
		Assert.state(status == 0, "The generated beans must compile");
	}

	private String source() {
		String imports = IntStream.range(0, this.beans)
			.mapToObj((bean) -> "Bean" + bean + ".class")
			.collect(Collectors.joining(", "));
		return "@org.springframework.context.annotation.Import({" + imports + "}) public class " + CONFIGURATION
				+ " { }\n" + IntStream.range(0, this.beans).mapToObj(this::bean).collect(Collectors.joining("\n"));
	}

	private String bean(int bean) {
		return "class Bean" + bean + " {\n" + IntStream.range(0, this.methods)
			.mapToObj((method) -> this.annotation.formatted(bean + "-" + method) + "void method" + method + "() { }")
			.collect(Collectors.joining("\n")) + "}";
	}

}
