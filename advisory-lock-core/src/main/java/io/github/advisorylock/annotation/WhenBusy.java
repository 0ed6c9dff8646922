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

/**
 * What a caller gets when another holder has the lock.
 *
 * @since 0.1.0
 */
public enum WhenBusy {

	/**
	 * The method does not run, which is normal: {@code void} returns, an object is
	 * {@code null}, an {@code Optional} is empty, a
	 * {@link io.github.advisorylock.LockResult} tells the outcome.
	 */
	SKIP,

	/**
	 * The method does not run, and its caller gets a
	 * {@link io.github.advisorylock.LockBusyException}.
	 */
	FAIL

}
