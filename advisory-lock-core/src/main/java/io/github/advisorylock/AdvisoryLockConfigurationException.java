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

package io.github.advisorylock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown at start-up when the application has not got what its locks need, and says what
 * to do about it.
 *
 * @since 0.1.0
 */
public class AdvisoryLockConfigurationException extends IllegalStateException {

	private final String action;

	/**
	 * Create an exception.
	 * @param problem what is wrong, without a full stop
	 * @param action what to change, as full sentences
	 */
	public AdvisoryLockConfigurationException(String problem, String action) {
		this(problem, action, null);
	}

	/**
	 * Create an exception.
	 * @param problem what is wrong, without a full stop
	 * @param action what to change, as full sentences
	 * @param cause what was wrong underneath, if anything
	 */
	public AdvisoryLockConfigurationException(String problem, String action, @Nullable Throwable cause) {
		super(problem, cause);
		this.action = action;
	}

	/**
	 * Return what is wrong.
	 * @return the problem, as full sentences
	 */
	public String getProblem() {
		return getMessage() + ".";
	}

	/**
	 * Return what to change.
	 * @return the action, as full sentences
	 */
	public String getAction() {
		return this.action;
	}

}
