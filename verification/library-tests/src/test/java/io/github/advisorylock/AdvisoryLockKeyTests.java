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

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.ServerKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link AdvisoryLockKey}.
 */
class AdvisoryLockKeyTests {

	@Test
	void valueEqualsFormulaOnServerForThousandsOfNames() {
		List<String> names = names();
		assertThat(names).hasSizeGreaterThan(1000);
		List<Long> values = names.stream().map(AdvisoryLockKey::of).map(AdvisoryLockKey::value).toList();
		assertThat(values).isEqualTo(ServerKeys.of(names));
		assertThat(values).anyMatch((value) -> value < 0).anyMatch((value) -> value > 0);
	}

	@Test
	void firstPermitIsTheKeyAndTheOthersFollowFromItsNumber() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "nightly-report");
		assertThat(key.permit(1)).isSameAs(key);
		assertThat(key.permit(2)).isEqualTo(AdvisoryLockKey.of("advisory-lock:permit:2:-3754912667290789894"));
		assertThat(AdvisoryLockKey.ofValue(key.value()).permit(64)).isEqualTo(key.permit(64))
			.isEqualTo(AdvisoryLockKey.of("advisory-lock:permit:64:-3754912667290789894"));
	}

	@ParameterizedTest
	@CsvSource({ "2, -4805327175493555833, -1054744662", "3, 2152136324305636501, 95909820",
			"64, 5356876802780382775, -1248381431" })
	void numbersOfPermitsNeverChange(int permit, long value, int objectId) {
		assertThat(AdvisoryLockKey.of("shop", "nightly-report").permit(permit).value()).isEqualTo(value);
		AdvisoryLockKey pair = AdvisoryLockKeyFactory.pair().createKey("shop", "nightly-report").permit(permit);
		assertThat(List.of(pair.classId(), pair.objectId())).containsExactly(-1919942189, objectId);
	}

	@Test
	void permitOfPairKeepsItsFirstNumber() {
		AdvisoryLockKey key = AdvisoryLockKeyFactory.pair().createKey("shop", "nightly-report");
		AdvisoryLockKey permit = key.permit(2);
		assertThat(permit.isPair()).isTrue();
		assertThat(permit.classId()).isEqualTo(key.classId());
		assertThat(permit.objectId()).isNotEqualTo(key.objectId())
			.isEqualTo(AdvisoryLockKey.of("advisory-lock:permit:2:" + key.classId() + "," + key.objectId()).classId());
		assertThat(AdvisoryLockKey.ofPair(key.classId(), key.objectId()).permit(2)).isEqualTo(permit);
	}

	@Test
	void permitIsDisplayedAsItsKey() {
		AdvisoryLockKey permit = AdvisoryLockKey.of("shop", "report").permit(7);
		assertThat(permit).hasToString("shop/report");
		assertThat(permit.name()).isEqualTo("report");
		assertThat(permit.namespace()).isEqualTo("shop");
	}

	@Test
	void permitsOfManyKeysAreAllDifferent() {
		Set<AdvisoryLockKey> permits = new HashSet<>();
		for (String name : names().stream().distinct().limit(500).toList()) {
			for (int permit = 1; permit <= AdvisoryLockKey.MAX_PERMITS; permit++) {
				assertThat(permits.add(AdvisoryLockKey.of(name).permit(permit))).as(name + " " + permit).isTrue();
			}
		}
		assertThat(permits).hasSizeGreaterThan(10_000);
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 65 })
	void permitThatThereIsNotIsRefused(int permit) {
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKey.of("job").permit(permit))
			.withMessage("'permit' must be from 1 to 64: " + permit);
	}

	@Test
	void valueInNamespaceEqualsFormulaOfNamespaceSlashName() {
		List<String> names = names().subList(0, 200);
		List<Long> values = names.stream().map((name) -> AdvisoryLockKey.of("büro 🏢", name).value()).toList();
		assertThat(values).isEqualTo(ServerKeys.of(names.stream().map((name) -> "büro 🏢/" + name).toList()));
	}

	@ParameterizedTest
	@CsvSource({ "nightly-report, 7440995589958059143", "shop/nightly-report, -3754912667290789894" })
	void valueOfKnownNameNeverChanges(String text, long value) {
		int slash = text.indexOf('/');
		AdvisoryLockKey key = (slash < 0) ? AdvisoryLockKey.of(text)
				: AdvisoryLockKey.of(text.substring(0, slash), text.substring(slash + 1));
		assertThat(key.value()).isEqualTo(value);
	}

	@Test
	void namesThatOnlyLookAlikeHaveDifferentValues() {
		assertThat(AdvisoryLockKey.of("caf\u00e9")).isNotEqualTo(AdvisoryLockKey.of("cafe\u0301"));
		assertThat(AdvisoryLockKey.of("job")).isNotEqualTo(AdvisoryLockKey.of("job "));
	}

	@Test
	void emptyNamespaceIsNoNamespace() {
		assertThat(AdvisoryLockKey.of("", "job")).isEqualTo(AdvisoryLockKey.of("job"));
		assertThat(AdvisoryLockKey.of("", "job")).hasToString("job");
	}

	@Test
	void nameIsWithoutAndTextWithNamespace() {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "report");
		assertThat(key.name()).isEqualTo("report");
		assertThat(key).hasToString("shop/report");
		assertThat(key.isPair()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "\n", "\r", "\u0000", "\u0085", "\u2028", "\u2029", "\u202e", "\u2067", "\u200f", "\u200b",
			"\ufeff", "\u001b" })
	void charactersThatDeceiveAreNotShownButLocked(String character) {
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", "a" + character + "b");
		assertThat(key).hasToString("shop/a?b").isNotEqualTo(AdvisoryLockKey.of("shop", "a?b"));
		assertThat(key.name()).isEqualTo("a" + character + "b");
		assertThat(LockRequest.of("a" + character + "b").toString()).contains("[a?b,");
	}

	@Test
	void whatPeopleWriteIsShownAsItIs() {
		assertThat(AdvisoryLockKey.of("büro 🏢", "caf\u00e9/\u043a\u043b\u044e\u0447/\u9375/\u05de")).asString()
			.isEqualTo("büro 🏢/caf\u00e9/\u043a\u043b\u044e\u0447/\u9375/\u05de");
	}

	@Test
	void longNameIsShownBoundedAndLockedWhole() {
		String start = "x".repeat(100_000);
		AdvisoryLockKey key = AdvisoryLockKey.of("shop", start + "1");
		AdvisoryLockKey other = AdvisoryLockKey.of("shop", start + "2");
		assertThat(key.toString()).hasSizeLessThan(250)
			.startsWith("shop/xxx")
			.contains("(100006 characters, hash ")
			.isNotEqualTo(other.toString());
		assertThat(key).isNotEqualTo(other);
		assertThat(key.name()).isEqualTo(start + "1");
		assertThat(key.namespace()).isEqualTo("shop");
		assertThat(LockRequest.of(start).toString()).hasSizeLessThan(350);
	}

	@Test
	void longNameIsNotCutInsideCharacter() {
		assertThat(AdvisoryLockKey.display("x".repeat(199) + "🏢".repeat(9))).startsWith("x".repeat(199) + "?...");
	}

	@Test
	void nameMayHoldSlashes() {
		assertThat(AdvisoryLockKey.of("shop", "a/b")).isEqualTo(AdvisoryLockKey.of("shop/a/b"));
	}

	@Test
	void namespaceWithSlashIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKey.of("a/b", "job"))
			.withMessage("'namespace' must not contain a slash: 'a/b'");
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "\t\n" })
	void nameWithoutTextIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKey.of(name))
			.withMessage("'name' must not be empty");
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x00000001_80000000L })
	void ofValueIsWhatTheServerLocks(long value) {
		AdvisoryLockKey key = AdvisoryLockKey.ofValue(value);
		assertThat(key.value()).isEqualTo(value);
		assertThat(key).hasToString(Long.toString(value));
		assertHalvesStandInServersTable(key);
	}

	@ParameterizedTest
	@CsvSource({ "0, 0", "1, 2", "-1, -2147483648", "2147483647, -1" })
	void ofPairIsWhatTheServerLocks(int classId, int objectId) {
		AdvisoryLockKey key = AdvisoryLockKey.ofPair(classId, objectId);
		assertThat(key.isPair()).isTrue();
		assertThat(key.classId()).isEqualTo(classId);
		assertThat(key.objectId()).isEqualTo(objectId);
		assertThat(key).hasToString("(" + classId + ", " + objectId + ")");
		assertHalvesStandInServersTable(key);
	}

	@Test
	void pairAndNumberWithSameBitsAreDifferentKeys() {
		AdvisoryLockKey pair = AdvisoryLockKey.ofPair(7, 9);
		AdvisoryLockKey number = AdvisoryLockKey.ofValue(pair.value());
		assertThat(pair).isNotEqualTo(number);
		try (ForeignSession lock = ForeignSession.holding(pair)) {
			assertThat(ForeignSession.isHeld(number)).isFalse();
		}
	}

	@Test
	void ofTagCanBeReadInServersTable() {
		AdvisoryLockKey key = AdvisoryLockKey.ofTag("JOBS", "Mail");
		assertThat(key).hasToString("JOBS-Mail").isEqualTo(AdvisoryLockKey.ofValue(0x4A4F4253_4D61696CL));
		try (ForeignSession lock = ForeignSession.holding(key)) {
			assertThat(ServerKeys.tagsInLockTable()).contains("JOBSMail");
		}
	}

	@Test
	void ofTagPadsShortWordsWithZeroBytes() {
		assertThat(AdvisoryLockKey.ofTag("A", "bc").value()).isEqualTo(0x41000000_62630000L);
		assertThat(AdvisoryLockKey.ofTag("A", "bc")).isNotEqualTo(AdvisoryLockKey.ofTag("Ab", "c"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "ABCDE", "A1", "a b", "Ä", "ａ", "A\n" })
	void ofTagRefusesWhatIsNoShortAsciiWord(String word) {
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKey.ofTag(word, "ok"))
			.withMessage("'high' must be one to four ASCII letters: '" + word + "'");
		assertThatIllegalArgumentException().isThrownBy(() -> AdvisoryLockKey.ofTag("ok", word))
			.withMessage("'low' must be one to four ASCII letters: '" + word + "'");
	}

	@Test
	void equalsMeansTheSameLockWhateverTheName() {
		AdvisoryLockKey key = AdvisoryLockKey.of("job");
		AdvisoryLockKey same = AdvisoryLockKey.ofValue(key.value());
		assertThat(key).isEqualTo(same).hasSameHashCodeAs(same).isEqualTo(key);
		assertThat(key).isNotEqualTo(AdvisoryLockKey.of("other")).isNotEqualTo("job").isNotEqualTo(null);
	}

	private static void assertHalvesStandInServersTable(AdvisoryLockKey key) {
		try (ForeignSession lock = ForeignSession.holding(key)) {
			assertThat(ForeignSession.isHeld(key)).isTrue();
		}
		assertThat(ForeignSession.isHeld(key)).isFalse();
	}

	private static List<String> names() {
		List<String> names = new ArrayList<>();
		Random random = new Random(42);
		for (int i = 0; i < 2000; i++) {
			int[] points = random.ints(1, 0x2FFFF)
				.filter((point) -> Character.isDefined(point) && (point < 0xD800 || point > 0xDFFF))
				.limit(random.nextInt(1, 60))
				.toArray();
			names.add("n" + new String(points, 0, points.length));
		}
		Stream
			.of("job", "report:42", "👩‍👩‍👧‍👦", "e\u0301", "日本語", "العربية", "'; DROP TABLE", "a/b/c",
					"x".repeat(100_000))
			.forEach(names::add);
		return names;
	}

}
