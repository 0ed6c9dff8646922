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

import io.github.advisorylock.testsupport.ServerKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link AdvisoryLockKeyFactory}.
 */
class AdvisoryLockKeyFactoryTests {

	@Test
	void sha256CreatesTheKeyOfNamespaceAndName() {
		assertThat(AdvisoryLockKeyFactory.sha256().createKey("shop", "job"))
			.isEqualTo(AdvisoryLockKey.of("shop", "job"));
	}

	@ParameterizedTest
	@CsvSource({ "shop, job", "'', job", "shop, 日本語 🎉", "'', a/b" })
	void pairIsHashOfNamespaceAndHashOfName(String namespace, String name) {
		AdvisoryLockKey key = AdvisoryLockKeyFactory.pair().createKey(namespace, name);
		assertThat(key.isPair()).isTrue();
		assertThat(key.classId()).isEqualTo(ServerKeys.firstFourBytes(namespace));
		assertThat(key.objectId()).isEqualTo(ServerKeys.firstFourBytes(name));
	}

	@Test
	void pairKeepsNameAndText() {
		AdvisoryLockKey key = AdvisoryLockKeyFactory.pair().createKey("shop", "job");
		assertThat(key.name()).isEqualTo("job");
		assertThat(key).hasToString("shop/job");
	}

	@Test
	void pairRefusesSlashInNamespaceAndEmptyName() {
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKeyFactory.pair().createKey("a/b", "job"))
			.withMessageStartingWith("'namespace'");
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKeyFactory.pair().createKey("shop", ""))
			.withMessageStartingWith("'name'");
	}

}
