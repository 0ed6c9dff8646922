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

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

import org.openrewrite.SourceFile;
import org.openrewrite.Tree;
import org.openrewrite.java.tree.J;
import org.openrewrite.marker.SearchResult;
import org.openrewrite.quark.Quark;
import org.openrewrite.text.PlainText;
import org.openrewrite.tree.ParseError;

/**
 * What can be told of a source file that uses ShedLock and is not seen by the recipes: in
 * another language than Java, in a Java that the parser does not know, or without the
 * types of ShedLock. Which locks are taken there is not known, and neither is what else
 * depends on them.
 */
final class UnreadUse {

	static final String MESSAGE = "Nothing was changed: this file uses ShedLock and can't be read. Translate it by hand, or "
			+ "have it read by a newer plug-in, and run the recipe again; see " + ShedLock.GUIDE;

	private static final List<String> LANGUAGES = List.of(".java", ".kt", ".groovy", ".scala");

	private UnreadUse() {
	}

	static boolean is(SourceFile source) {
		if (source instanceof J.CompilationUnit unit) {
			return unit.getImports().stream().anyMatch((named) -> named.getTypeName().startsWith(ShedLock.PACKAGE))
					&& unit.getTypesInUse().getTypesInUse().stream().noneMatch(ShedLock::owns);
		}
		String file = source.getSourcePath().toString();
		return LANGUAGES.stream().anyMatch(file::endsWith) && text(source).contains(ShedLock.PACKAGE);
	}

	/**
	 * Return the text of a file; where there is none, take it to use ShedLock.
	 */
	private static String text(SourceFile source) {
		try {
			return (source instanceof Quark) ? Files.readString(source.getSourcePath()) : source.printAll();
		}
		catch (IOException ex) {
			return ShedLock.PACKAGE;
		}
	}

	/**
	 * Mark a file at its beginning, by a comment, which all of the languages have.
	 */
	static Tree mark(SourceFile source) {
		if (source instanceof Quark || source.printAll().contains(MESSAGE)) {
			return source;
		}
		String text = "/*~~(" + MESSAGE + ")~~>*/" + source.printAll();
		if (source instanceof PlainText plain) {
			return plain.withText(text);
		}
		return (source instanceof ParseError error) ? error.withText(text) : SearchResult.found(source, MESSAGE);
	}

}
