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

package io.github.advisorylock.ledger;

import org.springframework.transaction.UnexpectedRollbackException;

/**
 * Why a run failed, in a form that the history has room for. The type is told to anybody,
 * the text only to who may see values: an exception can say in it whatever it likes.
 *
 * @param type the name of the exception's class
 * @param text the first line of what the exception prints
 * @since 0.1.0
 */
public record RunFailure(String type, String text) {

	private static final int LONGEST_TEXT = 1024;

	/**
	 * Describe a failure.
	 * @param failure the failure
	 * @return what is to be kept of it
	 */
	public static RunFailure of(Throwable failure) {
		return new RunFailure(bounded(failure.getClass().getName()), bounded(print(failure)));
	}

	/**
	 * Describe a run whose transaction was not committed, which nobody threw anything
	 * for.
	 */
	static RunFailure rollback(String reason) {
		return new RunFailure(UnexpectedRollbackException.class.getName(), reason);
	}

	private static String bounded(String text) {
		String line = text.replace("\0", "").lines().findFirst().orElse("");
		return (line.codePointCount(0, line.length()) <= LONGEST_TEXT) ? line
				: line.substring(0, line.offsetByCodePoints(0, LONGEST_TEXT));
	}

	/**
	 * An exception of the application may be unable to say what it is about.
	 */
	private static String print(Throwable failure) {
		try {
			return "" + failure;
		}
		catch (RuntimeException | Error ex) {
			return failure.getClass().getName();
		}
	}

}
