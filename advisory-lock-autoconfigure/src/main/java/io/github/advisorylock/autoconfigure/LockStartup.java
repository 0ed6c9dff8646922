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

package io.github.advisorylock.autoconfigure;

import java.util.function.BiConsumer;

import io.github.advisorylock.database.LockDatabases;

import org.springframework.context.SmartLifecycle;

/**
 * What a feature does once an application uses locks. It is asked for by then only, so
 * that an application without locks has no more of it than its definition.
 */
interface LockStartup {

	/**
	 * Begin what looks after the locks of all databases.
	 * @param lifecycles has the context start and stop what is given to it by a name that
	 * no other bean has
	 */
	default void begin(LockDatabases databases, BiConsumer<String, SmartLifecycle> lifecycles) {
	}

	/**
	 * Look at the application, once all its beans are there and everything has begun.
	 */
	default void check(LockDatabases databases) {
	}

}
