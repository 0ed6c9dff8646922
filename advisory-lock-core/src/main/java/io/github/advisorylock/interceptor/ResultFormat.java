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

package io.github.advisorylock.interceptor;

import org.jspecify.annotations.Nullable;

/**
 * The text as which the results of one method are kept.
 *
 * @since 0.1.0
 */
public interface ResultFormat {

	/**
	 * Return what is kept of a result.
	 * @param result what the method returned, without the {@code Optional} or
	 * {@code LockResult} around it
	 * @return its text
	 * @throws RuntimeException if the result can't be written, or is too large
	 */
	String write(@Nullable Object result);

	/**
	 * Return a result that was kept.
	 * @param text its text
	 * @return the result, in the type of the method
	 * @throws RuntimeException if it can't be read any more
	 */
	@Nullable Object read(String text);

}
