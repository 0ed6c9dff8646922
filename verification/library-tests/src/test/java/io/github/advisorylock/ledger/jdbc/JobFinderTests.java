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

package io.github.advisorylock.ledger.jdbc;

import java.util.ArrayList;
import java.util.List;

import io.github.advisorylock.AdvisoryLockKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link JobFinder}.
 */
class JobFinderTests {

	private final List<JobFinder.LedgerMethod> methods = new ArrayList<>();

	private final List<JobName> known = new ArrayList<>();

	private final JobFinder names = new JobFinder("shop", () -> this.methods, this.known::contains);

	@ParameterizedTest
	@CsvSource({ "job", "a/b", "/job", "job/", "/" })
	void keyThatNobodyKnowsIsInDefaultNamespace(String key) {
		assertThat(this.names.find(key)).isEqualTo(new JobName("shop", key));
		assertThat(this.names.findMethods(key)).isEmpty();
	}

	@Test
	void keyOfMethodIsInItsNamespace() {
		method("billing", "job");
		assertThat(this.names.find("job")).isEqualTo(new JobName("billing", "job"));
		assertThat(this.names.find("billing/job")).isEqualTo(new JobName("billing", "job"));
		assertThat(this.names.findMethods("billing/job")).containsExactly(this.methods.get(0));
		assertThat(this.names.find("other/job")).isEqualTo(new JobName("shop", "other/job"));
	}

	@Test
	void keyWithSlashIsFoundWithAndWithoutItsNamespace() {
		method("shop", "a/b");
		assertThat(this.names.find("a/b")).isEqualTo(new JobName("shop", "a/b"));
		assertThat(this.names.find("shop/a/b")).isEqualTo(new JobName("shop", "a/b"));
	}

	@Test
	void textThatIsKeyOfOneMethodAndFullNameOfAnotherIsRefused() {
		method("shop", "a/b");
		method("a", "b");
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.find("a/b"))
			.withMessageContaining("[shop/a/b, a/b]");
		assertThat(this.names.find("shop/a/b")).isEqualTo(new JobName("shop", "a/b"));
		assertThat(this.names.find("b")).isEqualTo(new JobName("a", "b"));
	}

	@Test
	void keyOfTwoNamespacesIsRefused() {
		method("a", "job");
		method("b", "job");
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.find("job"))
			.withMessageContaining("[a/job, b/job]");
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.findMethods("job"))
			.withMessageContaining("[a/job, b/job]");
		assertThat(this.names.findMethods("b/job")).containsExactly(this.methods.get(1));
	}

	@Test
	void methodsThatShareKeyAndNamespaceAreOneJob() {
		method("a", "job");
		method("a", "job");
		assertThat(this.names.find("job")).isEqualTo(new JobName("a", "job"));
		assertThat(this.names.findMethods("job")).hasSize(2);
	}

	@Test
	void keyWithoutNamespaceIsMeantByItsOnlyName() {
		method("a", "job");
		method("", "job");
		assertThat(this.names.find("job")).isEqualTo(new JobName("", "job"));
		assertThat(this.names.find("a/job")).isEqualTo(new JobName("a", "job"));
	}

	@Test
	void nameThatOnlyLedgerKnowsIsFound() {
		this.known.add(new JobName("other", "payment:1"));
		assertThat(this.names.find("other/payment:1")).isEqualTo(new JobName("other", "payment:1"));
		this.known.add(new JobName("shop", "other/payment:1"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.names.find("other/payment:1"))
			.withMessageContaining("[shop/other/payment:1, other/payment:1]");
		assertThat(this.names.find("shop/other/payment:1")).isEqualTo(new JobName("shop", "other/payment:1"));
	}

	@ParameterizedTest
	@CsvSource({ "shop, job", "'', job", "shop, a/b" })
	void textIsThatOfKey(String namespace, String key) {
		assertThat(new JobName(namespace, key)).hasToString(AdvisoryLockKey.of(namespace, key).toString());
	}

	private void method(String namespace, String key) {
		this.methods.add(new JobFinder.LedgerMethod(new JobName(namespace, key), null, null, null));
	}

}
