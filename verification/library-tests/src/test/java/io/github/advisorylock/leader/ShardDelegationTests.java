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
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.interceptor.PlannedTime;
import io.github.advisorylock.support.RequestDetail.Interval;
import io.github.advisorylock.testsupport.LockContextRunner;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for guarded methods that a scheduled method calls for each of its shards: which
 * instance leads which shard decides who runs them, and never how often.
 */
@Tag("gate")
@ExtendWith(OutputCaptureExtension.class)
class ShardDelegationTests {

	private static final int SHARDS = 4;

	private static final Instant TICK = Instant.now().truncatedTo(ChronoUnit.DAYS);

	private static final List<Consumer<Runnable>> PLANS = List.of((call) -> PlannedTime.run(TICK, call),
			(call) -> PlannedTime.run(new Interval(Duration.ofDays(1), Interval.Counted.FROM_BEGIN), call),
			(call) -> PlannedTime.run(new Interval(Duration.ofDays(1), Interval.Counted.FROM_END), call));

	private static final Runnable NOTHING = () -> {
	};

	private static final Runnable LOSS = ShardDelegationTests::loseSession;

	private final ApplicationContextRunner application = LockContextRunner.create()
		.withPropertyValues("advisory-lock.session.heartbeat=100ms", "advisory-lock.session.dead-client-timeout=4s")
		.withBean(Parts.class)
		.withBean(Relay.class);

	@AfterEach
	void awaitEndOfLocks() {
		Awaitility.await().until(() -> TestPostgres.locks().isEmpty());
	}

	@Test
	void keyOfAShardHasOneRunWhicheverInstanceLeadsIt() {
		inTwoInstances("advisory-lock.ledger.enabled=false", (first, second) -> {
			for (int i = 0; i < PLANS.size(); i++) {
				String name = "plan" + i;
				for (Instance instance : List.of(first, second, first)) {
					PLANS.get(i).accept(() -> instance.relay((shard) -> {
						instance.parts.part(name, shard, NOTHING);
						instance.parts.partInSession(name, shard);
					}));
				}
				assertThat(first.parts.runs()).as(name).hasSize(SHARDS);
				assertThat(runs(first, second)).as(name)
					.containsExactlyInAnyOrderElementsOf(IntStream.range(0, SHARDS)
						.boxed()
						.flatMap((shard) -> Stream.of("part:" + name + ":" + shard, "session:" + name + ":" + shard))
						.toList());
				first.parts.runs().clear();
				second.parts.runs().clear();
			}
			int moved = first.shards().iterator().next();
			first.election.resign("outbox#" + moved);
			Awaitility.await().until(() -> second.shards().contains(moved));
			PlannedTime.run(TICK, () -> second.relay((shard) -> second.parts.part("plan0", shard, NOTHING)));
			assertThat(runs(first, second)).as("of the tick of before").isEmpty();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.ledger.enabled=false", "advisory-lock.ledger.enabled=true" })
	void keyOfAllShardsHasOneRunWhicheverInstanceLeadsThem(String ledger, CapturedOutput output) {
		inTwoInstances(ledger, (first, second) -> {
			for (int i = 0; i < PLANS.size() - 1; i++) {
				for (Instance instance : List.of(first, second, first)) {
					PLANS.get(i).accept(() -> instance.relay((shard) -> {
						instance.parts.whole();
						instance.parts.wholeInSession();
					}));
				}
				assertThat(first.parts.runs()).containsExactlyInAnyOrder("whole", "session");
				assertThat(second.parts.runs()).isEmpty();
				first.parts.runs().clear();
			}
		});
		assertThat(StringUtils.countOccurrencesOf(output.getOut(), "for several shards")).isEqualTo(2);
		assertThat(output).contains("method 'Parts.whole' (key 'whole') for several shards");
	}

	private static List<String> runs(Instance... instances) {
		return Stream.of(instances).flatMap((instance) -> instance.parts.runs().stream()).toList();
	}

	@Test
	void runThatFailsInOneShardKeepsNoOtherFromItsRun() {
		this.application.run((context) -> {
			Instance instance = new Instance(context);
			instance.awaitShards(SHARDS);
			assertThatIllegalStateException().isThrownBy(() -> PlannedTime.run(TICK, () -> instance.relay((shard) -> {
				instance.parts.fail(shard == 0);
				try {
					instance.parts.part("x", shard, NOTHING);
				}
				finally {
					instance.parts.whole();
				}
			}))).withMessage("whole");
			assertThat(instance.parts.runs()).containsExactly("part:x:0", "whole", "part:x:1", "whole", "part:x:2",
					"part:x:3");
			instance.parts.runs().clear();
			PlannedTime.run(TICK, () -> instance.relay((shard) -> {
				instance.parts.part("x", shard, NOTHING);
				instance.parts.whole();
			}));
			assertThat(instance.parts.runs()).as("what has failed").containsExactly("part:x:0");
		});
	}

	@Test
	void callAgainForTheSameShardHasNoPlan(CapturedOutput output) {
		this.application.run((context) -> {
			Instance instance = new Instance(context);
			instance.awaitShards(SHARDS);
			PlannedTime.run(TICK, () -> instance.relay((shard) -> {
				instance.parts.part("x", shard, NOTHING);
				instance.parts.part("x", shard, NOTHING);
			}));
			assertThat(instance.parts.runs()).hasSize(2 * SHARDS);
		});
		assertThat(output).contains("again after a run that came to a good end").doesNotContain("for several shards");
	}

	/**
	 * Inside, the lock is that of the run; before and after, that of the shard.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void contextInsideARunIsThatOfItsLockAndTheShardStays(boolean recorded) {
		this.application
			.withPropertyValues("advisory-lock.ledger.enabled=" + recorded, "advisory-lock.namespace=inside",
					"advisory-lock.ledger.initialize-schema=always")
			.run((context) -> {
				Instance instance = new Instance(context);
				instance.awaitShards(SHARDS);
				instance.relay((shard) -> {
					LockContext around = LockContext.current().orElseThrow();
					for (Runnable call : List.<Runnable>of(instance.parts::whole, instance.parts::wholeInSession)) {
						PlannedTime.run(TICK.plusSeconds(shard), call);
						LockContext inside = instance.parts.context();
						assertThat(inside.key().name()).isIn("whole", "session");
						assertThat(inside.fencingToken()).isNotEqualTo(around.fencingToken());
						assertThat(inside.fencingToken().isPresent()).isEqualTo(recorded);
						assertThat(inside.tick()).contains(TICK.plusSeconds(shard));
						assertThat(instance.parts.shard()).isEqualTo(shard).isEqualTo(LockContext.currentShard());
						assertThat(LockContext.current()).containsSame(around);
						assertThat(around.fencingToken()).isEqualTo(instance.election.term("outbox#" + shard))
							.isPresent();
					}
					around.checkHeld();
				});
				assertThat(instance.parts.runs()).hasSize(2 * SHARDS);
			});
	}

	/**
	 * The run that the loss of the shard interrupts gives its tick back.
	 */
	@Test
	void runWhoseShardIsLostIsInterruptedAndRunsAgainWhereTheShardIsLedNext() {
		this.application.run((context) -> {
			Instance instance = new Instance(context);
			instance.awaitShards(SHARDS);
			IntConsumer part = (shard) -> instance.parts.part("x", shard, (shard != 1) ? NOTHING : LOSS);
			assertThatIllegalStateException().isThrownBy(() -> PlannedTime.run(TICK, () -> instance.relay(part)))
				.withMessage("interrupted in shard 1");
			assertThat(Thread.interrupted()).as("interrupted still").isFalse();
			assertThat(instance.parts.runs()).startsWith("part:x:0", "part:x:1");
			instance.awaitShards(SHARDS);
			PlannedTime.run(TICK, () -> instance.relay((shard) -> instance.parts.part("x", shard, NOTHING)));
			assertThat(instance.parts.runs()).filteredOn("part:x:1"::equals).hasSize(2);
			assertThat(instance.parts.runs()).contains("part:x:2", "part:x:3");
		});
	}

	private static void loseSession() {
		int shard = LockContext.currentShard();
		TestPostgres.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = "
				+ Integer.toUnsignedString(AdvisoryLockKey.of("test", "leader:outbox#" + shard).objectId()));
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("interrupted in shard " + shard, ex);
		}
	}

	private void inTwoInstances(String ledger, BiConsumer<Instance, Instance> instances) {
		ApplicationContextRunner runner = this.application.withPropertyValues(ledger,
				"advisory-lock.namespace=together", "advisory-lock.ledger.initialize-schema=always");
		runner.run((one) -> runner.run((two) -> {
			Instance first = new Instance(one);
			Instance second = new Instance(two);
			first.awaitShards(SHARDS / 2);
			second.awaitShards(SHARDS / 2);
			instances.accept(first, second);
		}));
	}

	/**
	 * An application and its beans.
	 */
	private static final class Instance {

		private final LeaderElection election;

		private final Parts parts;

		private final Relay relay;

		Instance(ApplicationContext context) {
			this.election = context.getBean(LeaderElection.class);
			this.parts = context.getBean(Parts.class);
			this.relay = context.getBean(Relay.class);
		}

		Set<Integer> shards() {
			return this.election.shards("outbox", SHARDS);
		}

		void awaitShards(int number) {
			Awaitility.await().until(() -> shards().size() == number);
		}

		void relay(IntConsumer part) {
			this.relay.relay(part);
		}

	}

	static class Relay {

		@LeaderOnly(value = "outbox", shards = SHARDS)
		void relay(IntConsumer part) {
			part.accept(LockContext.currentShard());
		}

	}

	static class Parts {

		private final List<String> runs = new CopyOnWriteArrayList<>();

		private boolean failing;

		private @Nullable LockContext context;

		private int shard;

		List<String> runs() {
			return this.runs;
		}

		@Nullable LockContext context() {
			return this.context;
		}

		int shard() {
			return this.shard;
		}

		void fail(boolean failing) {
			this.failing = failing;
		}

		@SingleRunner("part:#{#name}:#{#shard}")
		void part(String name, int shard, Runnable work) {
			run("part:" + name + ":" + shard);
			work.run();
		}

		@SingleRunner(key = "session:#{#name}:#{#shard}", scope = LockScope.SESSION)
		void partInSession(String name, int shard) {
			run("session:" + name + ":" + shard);
		}

		@SingleRunner("whole")
		void whole() {
			run("whole");
		}

		@SingleRunner(key = "session", scope = LockScope.SESSION)
		void wholeInSession() {
			run("session");
		}

		private void run(String name) {
			this.runs.add(name);
			this.context = LockContext.current().orElseThrow();
			this.shard = LockContext.currentShard();
			if (this.failing) {
				throw new IllegalStateException(name);
			}
		}

	}

}
