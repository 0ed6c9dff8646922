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

package io.github.advisorylock.jdbc;

import io.github.advisorylock.testsupport.UntoldConnections;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * Tests for how runs and transactions end together where the driver does not tell how a
 * transaction is doing.
 */
@Tag("gate")
class UntoldTransactionEndTests {

	@Nested
	class ForeignDriver extends TransactionEndTests {

		@BeforeEach
		void useUntoldConnections() {
			usePool(UntoldConnections.FOREIGN_DRIVER.pool(4));
		}

	}

	@Nested
	class WrapperOfNothing extends TransactionEndTests {

		@BeforeEach
		void useUntoldConnections() {
			usePool(UntoldConnections.WRAPPER_OF_NOTHING.pool(4));
		}

	}

	@Nested
	class WrapperThatKeeps extends TransactionEndTests {

		@BeforeEach
		void useUntoldConnections() {
			usePool(UntoldConnections.WRAPPER_THAT_KEEPS.pool(4));
		}

	}

	@Nested
	class WrapperThatThrows extends TransactionEndTests {

		@BeforeEach
		void useUntoldConnections() {
			usePool(UntoldConnections.WRAPPER_THAT_THROWS.pool(4));
		}

	}

	@Nested
	class WrapperThatRefuses extends TransactionEndTests {

		@BeforeEach
		void useUntoldConnections() {
			usePool(UntoldConnections.WRAPPER_THAT_REFUSES.pool(4));
		}

	}

}
