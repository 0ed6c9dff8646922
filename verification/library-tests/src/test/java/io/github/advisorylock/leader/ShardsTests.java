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

package io.github.advisorylock.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockInstance;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.database.LockDatabases;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.testsupport.ForeignSession;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.Pause;
import io.github.advisorylock.testsupport.TestPostgres;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for roles that are led in shards.
 */
@Tag("gate")
class ShardsTests {

	private static final Log logger = LogFactory.getLog(ShardsTests.class);

	private static final int SHARDS = 8;

	private final List<LeaderElection> instances = new CopyOnWriteArrayList<>();

	private final Map<String, LeaderElection> leaders = new ConcurrentHashMap<>();

	private final List<String> violations = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner application = LockContextRunner.create()
		.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=600ms")
		.withBean("jobs", Jobs.class);

	@AfterEach
	void checkThatNoLockIsLeft() {
		Awaitility.await().untilAsserted(() -> assertThat(TestPostgres.holders()).isEmpty());
	}

	@Test
	void instancesShareTheShardsAndMoveNoMoreThanTheyMust() throws InterruptedException {
		Thread sampler = new Thread(this::sample, "sampler");
		sampler.start();
		this.application.run((first) -> {
			awaitShares(first);
			this.application.run((second) -> {
				Set<Integer> before = shards(first);
				awaitShares(first, second);
				assertThat(before).containsAll(shards(first));
				this.application.run((third) -> {
					Set<Integer> ofFirst = shards(first);
					Set<Integer> ofSecond = shards(second);
					awaitShares(first, second, third);
					assertThat(ofFirst).containsAll(shards(first));
					assertThat(ofSecond).containsAll(shards(second));
				});
				awaitShares(first, second);
				TestPostgres.terminate("test");
				Awaitility.await().until(() -> shards(first).size() + shards(second).size() < SHARDS);
				awaitShares(first, second);
			});
			awaitShares(first);
		});
		sampler.interrupt();
		sampler.join();
		assertThat(this.violations).isEmpty();
		assertThat(this.leaders).hasSizeGreaterThan(2 * SHARDS);
	}

	@Test
	void methodIsCalledForEachShardInOrderAndAFailingOneDoesNotKeepOthersFromTheirs() {
		this.application.run((context) -> {
			awaitShares(context);
			Jobs jobs = context.getBean(Jobs.class);
			LeaderElection election = context.getBean(LeaderElection.class);
			List<Integer> called = new ArrayList<>();
			jobs.relay((shard) -> {
				called.add(shard);
				LockContext current = LockContext.current().orElseThrow();
				current.checkHeld();
				assertThat(current.key()).isEqualTo(AdvisoryLockKey.of("test", "leader:outbox#" + shard));
				assertThat(current.fencingToken()).isEqualTo(election.term("outbox#" + shard)).isPresent();
			});
			assertThat(called).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
			called.clear();
			assertThatThrownBy(() -> jobs.relay((shard) -> {
				called.add(shard);
				if (shard == 2 || shard == 5) {
					throw new IllegalStateException("shard " + shard);
				}
			})).hasMessage("shard 2").satisfies((failure) -> assertThat(failure.getSuppressed()).hasSize(1));
			assertThat(called).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
			called.clear();
			jobs.relay((shard) -> {
				if (shard == 3) {
					jobs.relay(called::add);
				}
			});
			assertThat(called).as("a call from inside").containsExactly(3);
			assertThatIllegalStateException().isThrownBy(LockContext::currentShard).withMessageContaining("'shards'");
		});
	}

	/**
	 * A relay may call another one, whose shards are its own.
	 */
	@Test
	void shardIsTheOuterOneAgainAfterACallOfAnotherRole() {
		this.application.withBean(Mails.class).run((context) -> {
			awaitShares(context);
			Mails mails = context.getBean(Mails.class);
			Awaitility.await().until(() -> context.getBean(LeaderElection.class).shards("mails", 2).size() == 2);
			List<String> called = new ArrayList<>();
			context.getBean(Jobs.class).relay((shard) -> {
				mails.send((mail) -> called.add("mail " + mail));
				called.add(shard + " is " + LockContext.currentShard());
			});
			assertThat(called).hasSize(3 * SHARDS)
				.startsWith("mail 0", "mail 1", "0 is 0", "mail 0", "mail 1", "1 is 1")
				.endsWith("7 is 7");
		});
	}

	/**
	 * Who calls it first has it run for its role, as a role that is not divided.
	 */
	@ParameterizedTest
	@ValueSource(strings = { ConfigurableBeanFactory.SCOPE_SINGLETON, ConfigurableBeanFactory.SCOPE_PROTOTYPE })
	void beanThatIsMadeLateRunsForItsShardsWithItsFirstCall(String scope) {
		LockContextRunner.create()
			.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=2s")
			.withBean("late", Jobs.class, Jobs::new, (definition) -> {
				definition.setLazyInit(true);
				definition.setScope(scope);
			})
			.run((context) -> {
				List<Integer> called = new CopyOnWriteArrayList<>();
				Awaitility.await().until(() -> {
					called.clear();
					context.getBean(Jobs.class).relay(called::add);
					return called.size() == SHARDS;
				});
				assertThat(called).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
				assertThat(keys()).hasSize(SHARDS).allMatch(ForeignSession::isHeld);
			});
	}

	/**
	 * Trusts the server for 2 s, not for 300 ms, for which a busy machine may stand
	 * still: the call would lose its shard.
	 */
	@Test
	void shardIsNotGivenUpWhileItsCallIsRunning() {
		ApplicationContextRunner steady = this.application
			.withPropertyValues("advisory-lock.session.dead-client-timeout=4s");
		steady.run((first) -> {
			awaitShares(first);
			CountDownLatch begun = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			List<Boolean> held = new CopyOnWriteArrayList<>();
			Thread call = new Thread(() -> first.getBean(Jobs.class).relay((shard) -> {
				if (shard == 0) {
					begun.countDown();
					await(end);
				}
				held.add(LockContext.current().orElseThrow().isHeld());
			}));
			call.start();
			await(begun);
			steady.run((second) -> {
				Awaitility.await().until(() -> shards(second).size() >= 3);
				end.countDown();
				awaitShares(first, second);
				call.join();
			});
			assertThat(held).isNotEmpty().doesNotContain(false);
		});
	}

	/**
	 * Nobody relies on those: who has taken the shards of a member that has vanished
	 * waits before it leads them.
	 */
	@Test
	void shardsWhoseTermHasNotBegunAreGivenUpFirst() {
		String patience = "advisory-lock.session.dead-client-timeout=6s";
		ApplicationContextRunner steady = this.application.withPropertyValues(patience);
		ApplicationContextRunner idle = LockContextRunner.create()
			.withPropertyValues("advisory-lock.session.heartbeat=100ms", patience);
		steady.run((first) -> steady.run((second) -> idle.run((third) -> {
			awaitShares(first, second);
			Set<Integer> before = shards(first);
			LockSession vanished = second.getBean(LockDatabases.class).of(null).session().get();
			assertThat(vanished).isNotNull();
			vanished.close();
			Awaitility.await().untilAsserted(() -> assertThat(locksOfInstances()).containsExactly("8"));
			assertThat(shards(third)).isEmpty();
			Awaitility.await().untilAsserted(() -> assertThat(locksOfInstances()).containsExactly("4", "4"));
			assertThat(shards(first)).isEqualTo(before);
		})));
	}

	/**
	 * It is there each time, and has its share.
	 */
	@Test
	@Tag("slow")
	void othersLeadTheirShardsWhileTheSessionOfOneEndsAgainAndAgainUntilItIsDrained() {
		ApplicationContextRunner steady = this.application
			.withPropertyValues("advisory-lock.session.dead-client-timeout=4s");
		steady.run((first) -> steady
			.run((second) -> steady.withPropertyValues("advisory-lock.instance=restless").run((third) -> {
				awaitShares(first, second, third);
				for (int i = 0; i < 20; i++) {
					TestPostgres.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
							+ "WHERE application_name LIKE 'al:test@restless%'");
					Pause.of(Duration.ofMillis(400));
					assertThat(shards(first)).as("of the first").doesNotContainAnyElementsOf(shards(second));
					assertThat(shards(first).size() + shards(second).size()).isGreaterThanOrEqualTo(5);
				}
				LockInstance instance = third.getBean(LockInstance.class);
				instance.drain(this, true);
				Awaitility.await().until(() -> shards(third).isEmpty());
				awaitShares(first, second);
				instance.drain(this, false);
			})));
	}

	private static List<String> locksOfInstances() {
		String values = keys().stream().map((key) -> String.valueOf(key.value())).collect(Collectors.joining(", "));
		return TestPostgres.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
				+ "AND (classid::bigint << 32 | objid::bigint) IN (" + values + ") GROUP BY pid");
	}

	@Test
	void shardThatIsResignedMeanwhileIsNotCalled() {
		this.application.run((context) -> {
			awaitShares(context);
			List<Integer> ended = new CopyOnWriteArrayList<>();
			LeaderElection election = context.getBean(LeaderElection.class);
			context.getBean(Jobs.class).relay((shard) -> {
				if (shard == 0) {
					election.resign("outbox#5");
				}
				ended.add(shard);
			});
			assertThat(ended).containsExactly(0, 1, 2, 3, 4, 6, 7);
			assertThat(shards(context)).doesNotContain(5);
			election.resign("outbox");
			assertThat(shards(context)).isEmpty();
		});
	}

	/**
	 * With the default settings, and within the bound of a role that is not divided.
	 */
	@Test
	@Tag("slow")
	void shardsOfAVanishedMemberAreLedAgainWithinTheBoundOfLeaders() {
		inFleet(new ArrayList<>(), 3, (contexts) -> {
			awaitFleet(contexts);
			ApplicationContext gone = contexts.remove(0);
			LockSession session = gone.getBean(LockDatabases.class).of(null).session().get();
			assertThat(session).isNotNull();
			long begun = System.nanoTime();
			session.close();
			awaitFleet(contexts);
			Duration time = Duration.ofNanos(System.nanoTime() - begun);
			logger.info("The shards of a member that has vanished are led again after " + time.toMillis() + " ms");
			assertThat(time).isBetween(Duration.ofSeconds(5), Duration.ofMillis(9_800));
		});
	}

	/**
	 * With the default settings: 40 instances x 64 shards.
	 */
	@Test
	@Tag("slow")
	void fleetSharesTheShards() {
		inFleet(new ArrayList<>(), 40, (contexts) -> {
			long begun = System.nanoTime();
			awaitFleet(contexts);
			Duration time = Duration.ofNanos(System.nanoTime() - begun);
			logger.info("40 instances share 64 shards after " + time.toMillis() + " ms");
			assertThat(time).isLessThan(Duration.ofSeconds(25));
		});
	}

	private static void awaitFleet(List<ApplicationContext> contexts) {
		int share = (64 + contexts.size() - 1) / contexts.size();
		Awaitility.await().pollInterval(Duration.ofMillis(50)).untilAsserted(() -> {
			List<Set<Integer>> shares = contexts.stream()
				.map((context) -> context.getBean(LeaderElection.class).shards("fleet", 64))
				.toList();
			assertThat(shares).hasSize(contexts.size()).allMatch((shards) -> shards.size() <= share);
			assertThat(shares.stream().flatMap(Collection::stream).toList())
				.containsExactlyInAnyOrderElementsOf(IntStream.range(0, 64).boxed().toList());
		});
	}

	private static void inFleet(List<ApplicationContext> contexts, int size, Consumer<List<ApplicationContext>> fleet) {
		if (contexts.size() == size) {
			contexts.forEach((context) -> context.getBean(LeaderElection.class).shards("fleet", 64));
			fleet.accept(contexts);
			return;
		}
		LockContextRunner.create().run((context) -> {
			contexts.add(context);
			inFleet(contexts, size, fleet);
		});
	}

	/**
	 * An older version does not know the role.
	 */
	@Test
	void memberThatDoesNotRunForTheRoleHasNoShareInIt() {
		LockContextRunner.create().run((other) -> {
			LockSession session = other.getBean(LockDatabases.class).of(null).session().get();
			assertThat(session).isNotNull();
			session.countMembers(null);
			other.getBean(LeaderElection.class).isLeader("other");
			Awaitility.await().until(() -> session.members().isPresent());
			this.application.run((context) -> {
				Awaitility.await().until(() -> !shards(context).isEmpty());
				assertThat(keys()).hasSize(SHARDS).allMatch(ForeignSession::isHeld);
			});
		});
	}

	/**
	 * Its session goes on, for other work.
	 */
	@Test
	void instanceThatResignsOrEndsItsElectionsHasItsShardsLedByOthersAtOnce() {
		this.application.run((first) -> this.application.run((second) -> {
			awaitShares(first, second);
			int resigned = shards(first).iterator().next();
			long begun = System.nanoTime();
			first.getBean(LeaderElection.class).resign("outbox#" + resigned);
			Awaitility.await().until(() -> shards(second).size() == SHARDS / 2 + 1);
			assertThat(shards(second)).contains(resigned);
			assertThat(shards(first)).hasSize(SHARDS / 2 - 1);
			second.getBean(PostgresLeaderElection.class).stop();
			Awaitility.await().until(() -> shards(first).size() == SHARDS - 1);
			assertThat(shards(first)).hasSize(SHARDS - 1).doesNotContain(resigned);
			logger.info("Shards were handed over twice in " + Duration.ofNanos(System.nanoTime() - begun).toMillis()
					+ " ms");
		}));
	}

	@Test
	void rolesInAnotherNumberOfShardsAreRefused() {
		this.application.run((context) -> {
			LeaderElection election = context.getBean(LeaderElection.class);
			election.isLeader("other");
			assertThatIllegalStateException().isThrownBy(() -> election.shards("outbox", 4))
				.withMessageContaining("in 4 shards: this instance runs for it in 8");
			assertThatIllegalStateException().isThrownBy(() -> election.isLeader("outbox"))
				.withMessageContaining("in shards");
			assertThatIllegalStateException().isThrownBy(() -> election.shards("other", 4))
				.withMessageContaining("undivided");
			assertThatIllegalArgumentException().isThrownBy(() -> election.isLeader("other#1"))
				.withMessageContaining("other#1");
			assertThatIllegalArgumentException().isThrownBy(() -> election.shards("many", 65))
				.withMessageContaining("1 to 64");
		});
	}

	@Test
	void everyInstanceLeadsAllShardsWhereLocksAreOff() {
		this.application.withPropertyValues("advisory-lock.enabled=false").run((context) -> {
			List<Integer> called = new ArrayList<>();
			context.getBean(Jobs.class).relay(called::add);
			assertThat(called).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
			assertThat(shards(context)).containsExactlyElementsOf(called);
		});
	}

	@ParameterizedTest
	@MethodSource
	void wrongUseFailsAtStart(Class<?> type, String problem) {
		LockContextRunner.create()
			.withBean("jobs", type)
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining(problem));
	}

	@Test
	void numbersOfBeansThatAreMadeLateAreCompared() {
		LockContextRunner.create()
			.withBean("jobs", Jobs.class, Jobs::new, (definition) -> definition.setLazyInit(true))
			.withBean("two", Undivided.class, Undivided::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("role 'outbox' is 0, and " + SHARDS + " on method 'relay' of bean 'jobs'"));
	}

	static Stream<Arguments> wrongUseFailsAtStart() {
		return Stream.of(Arguments.of(TooMany.class, "attribute 'shards' is 65"),
				Arguments.of(Result.class, "must return nothing"), Arguments.of(Two.class, "of role 'outbox' is "),
				Arguments.of(Guarded.class, "must not have @SingleRunner beside 'shards'"));
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await(1, TimeUnit.MINUTES);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Two have led a shard at once if one did before and after the other did, or in one
	 * term.
	 */
	private void sample() {
		while (!Thread.currentThread().isInterrupted()) {
			for (int i = 0; i < SHARDS; i++) {
				String shard = "outbox#" + i;
				LeaderElection found = null;
				for (LeaderElection election : this.instances) {
					OptionalLong term = election.term(shard);
					if (term.isPresent() && this.leaders.computeIfAbsent(shard + " " + term.getAsLong(),
							(key) -> election) != election) {
						this.violations.add("term " + term.getAsLong() + " of " + shard);
					}
					if (election.isLeader(shard)) {
						if (found != null && found.isLeader(shard)) {
							this.violations.add("two lead " + shard);
						}
						found = election;
					}
				}
			}
			Thread.yield();
		}
	}

	private void awaitShares(ApplicationContext... contexts) {
		Stream.of(contexts)
			.map((context) -> context.getBean(LeaderElection.class))
			.filter((election) -> !this.instances.contains(election))
			.forEach(this.instances::add);
		int share = (SHARDS + contexts.length - 1) / contexts.length;
		Awaitility.await().untilAsserted(() -> {
			List<Set<Integer>> shares = Stream.of(contexts).map(ShardsTests::shards).toList();
			assertThat(shares).hasSize(contexts.length)
				.allMatch((shards) -> shards.size() <= share && shards.size() >= SHARDS / contexts.length);
			assertThat(shares.stream().flatMap(Collection::stream).toList())
				.containsExactlyInAnyOrderElementsOf(IntStream.range(0, SHARDS).boxed().toList());
		});
		assertThat(keys()).hasSize(SHARDS).allMatch(ForeignSession::isHeld);
	}

	private static List<AdvisoryLockKey> keys() {
		return IntStream.range(0, SHARDS)
			.mapToObj((shard) -> AdvisoryLockKey.of("test", "leader:outbox#" + shard))
			.toList();
	}

	private static Set<Integer> shards(ApplicationContext context) {
		return context.getBean(LeaderElection.class).shards("outbox", SHARDS);
	}

	static class Jobs {

		@LeaderOnly(value = "outbox", shards = SHARDS)
		void relay(IntConsumer part) {
			part.accept(LockContext.currentShard());
		}

	}

	static class Mails {

		@LeaderOnly(value = "mails", shards = 2)
		void send(IntConsumer part) {
			part.accept(LockContext.currentShard());
		}

	}

	static class TooMany {

		@LeaderOnly(value = "outbox", shards = 65)
		void run() {
		}

	}

	static class Guarded {

		@LeaderOnly(value = "outbox", shards = 2)
		@SingleRunner("relay")
		void run() {
		}

	}

	static class Result {

		@LeaderOnly(value = "outbox", shards = 2)
		String run() {
			return "done";
		}

	}

	static class Undivided {

		@LeaderOnly("outbox")
		void run() {
		}

	}

	static class Two {

		@LeaderOnly(value = "outbox", shards = 2)
		void run() {
		}

		@LeaderOnly("outbox")
		void other() {
		}

	}

}
