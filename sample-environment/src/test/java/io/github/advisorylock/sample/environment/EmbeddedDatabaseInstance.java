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

package io.github.advisorylock.sample.environment;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Joins the database in a JVM of its own and stays until it is stopped.
 */
public final class EmbeddedDatabaseInstance {

	private EmbeddedDatabaseInstance() {
	}

	public static void main(String[] arguments) throws InterruptedException {
		EmbeddedDatabase database = EmbeddedDatabase.join(Path.of(arguments[0]));
		Runtime.getRuntime().addShutdownHook(new Thread(database::close));
		System.out.println("url=" + database.url() + "?user=" + database.user() + "&password=" + database.password());
		new CountDownLatch(1).await();
	}

}
