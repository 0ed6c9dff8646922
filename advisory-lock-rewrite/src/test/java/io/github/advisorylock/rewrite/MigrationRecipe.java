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
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.Properties;

import org.openrewrite.Recipe;
import org.openrewrite.config.Environment;
import org.openrewrite.config.YamlResourceLoader;

/**
 * The recipe as users name it, read without a search through the whole class path.
 */
final class MigrationRecipe {

	private static final String FILE = "/META-INF/rewrite/advisory-lock.yml";

	private MigrationRecipe() {
	}

	static Recipe load() {
		try (InputStream file = MigrationRecipe.class.getResourceAsStream(FILE)) {
			return Environment.builder()
				.load(new YamlResourceLoader(file, URI.create("classpath:" + FILE), new Properties()))
				.build()
				.activateRecipes("io.github.advisorylock.rewrite.MigrateFromShedLock");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
