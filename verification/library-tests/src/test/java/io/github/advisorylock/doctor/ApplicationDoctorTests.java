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

package io.github.advisorylock.doctor;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.annotation.EveryInstance;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.LockContextRunner;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.RandomValuePropertySource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ApplicationDoctor}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ApplicationDoctorTests {

	private static final String FAIL = "advisory-lock.doctor.unguarded-scheduled=fail";

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, Composed.class, Repeated.class, SwitchedOff.class })
	void scheduledMethodThatSaysNothingOfFleetIsFound(Class<?> type) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(create().withBean("jobs", type).withPropertyValues(FAIL));
		assertThat(analysis.getDescription()).contains("Method 'run'", type.getName(), "on bean 'jobs'",
				"every instance runs it");
		assertThat(analysis.getAction()).contains("@SingleRunner, @LeaderOnly or @EveryInstance",
				"'advisory-lock.doctor.unguarded-scheduled'");
	}

	@Test
	void lazyBeanIsLookedAtToo() {
		assertThat(LockContextRunner
			.analyzeFailure(
					create().withBean("jobs", Plain.class, Plain::new, (definition) -> definition.setLazyInit(true))
						.withPropertyValues(FAIL))
			.getDescription()).contains("on bean 'jobs'");
	}

	@Test
	void scheduledMethodThatSaysNothingOfFleetIsWarnedOf(CapturedOutput output) {
		create().withBean("jobs", Plain.class)
			.withPropertyValues("advisory-lock.doctor.unguarded-scheduled=warn")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("WARN", "on bean 'jobs' is @Scheduled and does not say");
			});
	}

	@Test
	void scheduledMethodMayBeSilentByDefault(CapturedOutput output) {
		create().withBean("jobs", Plain.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("on bean 'jobs'");
		});
	}

	@Test
	void scheduledMethodsThatSayHowTheyRunAreFine() {
		create().withBean(Declared.class)
			.withBean(ComposedDeclared.class)
			.withPropertyValues(FAIL)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "io.github.advisorylock.doctor", "io.github.advisorylock.doctor.ApplicationDoctorTests",
			"io.github.advisorylock.doctor.ApplicationDoctorTests$Plain",
			"io.github.advisorylock.doctor.ApplicationDoctorTests$Plain.run" })
	void methodOfOthersCanBeNamed(String name) {
		create().withBean(Plain.class)
			.withPropertyValues(FAIL, "advisory-lock.doctor.every-instance=org.acme," + name)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void nameMeansWholeWords() {
		assertThat(LockContextRunner
			.analyzeFailure(create().withBean("jobs", Plain.class)
				.withPropertyValues(FAIL,
						"advisory-lock.doctor.every-instance=io.github.advisorylock.doctor.ApplicationDoctorTests$Pl"))
			.getDescription()).contains("on bean 'jobs'");
	}

	@ParameterizedTest
	@ValueSource(classes = { SingleAndEvery.class, LeaderAndEvery.class })
	void methodCannotRunOnOneInstanceAndOnEvery(Class<?> type) {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(create().withBean("jobs", type));
		assertThat(analysis.getDescription()).contains("method 'run'", "on bean 'jobs'",
				"must not be @EveryInstance, too");
	}

	@ParameterizedTest
	@ValueSource(classes = { Single.class, Leader.class, Every.class })
	void missingEnableSchedulingIsWarnedOf(Class<?> type, CapturedOutput output) {
		LockContextRunner.create().withBean("jobs", type).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output)
				.contains("Method 'run'", "on bean 'jobs' is @Scheduled, and nothing calls it", "@EnableScheduling",
						"advisory-lock.doctor.scheduling")
				.doesNotContain(": once per");
		});
	}

	@Test
	void enabledSchedulingIsNotWarnedOf(CapturedOutput output) {
		create().withBean(Single.class)
			.run(LockContextRunner
				.started(() -> assertThat(output).contains("; single: once per").doesNotContain("nothing calls it")));
	}

	@Test
	void missingNamespaceIsWarnedOf(CapturedOutput output) {
		create().withPropertyValues("spring.application.name=").withBean("jobs", Single.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("The key 'single' of method 'run'", "on bean 'jobs' has no namespace",
					"'spring.application.name'", "advisory-lock.doctor.namespace");
		});
	}

	@Test
	void missingNamespaceOfRolesIsWarnedOf(CapturedOutput output) {
		create().withPropertyValues("spring.application.name=").withBean("leading", Leading.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("The roles and locks that code asks for have no namespace",
					"advisory-lock.doctor.namespace");
		});
	}

	@Test
	void missingNamespaceOfLocksOfCodeIsWarnedOf(CapturedOutput output) {
		create().withPropertyValues("spring.application.name=")
			.withBean("locking", Locking.class)
			.run(LockContextRunner.started(
					() -> assertThat(output).contains("The roles and locks that code asks for have no namespace")));
	}

	@Test
	void missingNamespaceOfNoLocksIsNoMatter(CapturedOutput output) {
		create().withPropertyValues("spring.application.name=")
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("no namespace")));
	}

	@Test
	void emptyNamespaceMayBeChosen(CapturedOutput output) {
		create().withPropertyValues("spring.application.name=", "advisory-lock.namespace=")
			.withBean(Single.class)
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("no namespace")));
	}

	@Test
	void namespaceIsNotMissedWhereThereIsNoKey(CapturedOutput output) {
		create().withPropertyValues("spring.application.name=")
			.withBean(OwnNamespace.class)
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("no namespace")));
	}

	@ParameterizedTest
	@ValueSource(classes = { RandomKey.class, HostKey.class, HostNamespace.class })
	void keyThatIsDifferentOnEachInstanceIsWarnedOf(Class<?> type, CapturedOutput output) {
		create().withInitializer((context) -> RandomValuePropertySource.addToEnvironment(context.getEnvironment()))
			.withBean("jobs", type)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).contains("The key of method 'run'", "on bean 'jobs' has '${",
						"different on each instance", "advisory-lock.doctor.key-of-instance");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "${random.int[0,59]} 0 2 * * *", "0 #{T(Math).round(59 * T(Math).random())} 2 * * *",
			"#{T(java.util.concurrent.ThreadLocalRandom).current().nextInt(60)} ${minute:0} 2 * * *" })
	void cronWithARandomPartIsWarnedOf(String cron, CapturedOutput output) {
		withSchedule("cron=" + cron).run(LockContextRunner
			.started(() -> assertThat(output).contains("The cron expression '${cron}' of method 'run'",
					"has a random part, so that each instance plans other ticks", "write one expression",
					"advisory-lock.doctor.random-cron")));
	}

	@Test
	void sameScheduleOnAllInstancesAndRandomIntervalsAreNotWarnedOf(CapturedOutput output) {
		withSchedule("cron=${minute:0} #{1 + 1} 2 * * *")
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("has a random part")));
		withSchedule("cron=-", "delay=${random.int[60000,70000]}")
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("has a random part")));
	}

	private static ApplicationContextRunner withSchedule(String... properties) {
		return create()
			.withInitializer((context) -> RandomValuePropertySource.addToEnvironment(context.getEnvironment()))
			.withPropertyValues(properties)
			.withBean("jobs", Configured.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "advisory-lock.namespace=shop-${random.uuid}", "spring.application.name=${HOSTNAME:x}",
			"spring.application.name=shop-${server.port:1}", "advisory-lock.namespace=${spring.cloud.instance-id:1}" })
	void namespaceThatIsDifferentOnEachInstanceIsWarnedOf(String property, CapturedOutput output) {
		create().withPropertyValues(property).withBean("jobs", Single.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("The namespace of all keys, '" + property.substring(property.indexOf('=') + 1),
					"of '" + property.substring(0, property.indexOf('=')), "advisory-lock.doctor.key-of-instance");
		});
	}

	@Test
	void keyAndNamespaceMayHaveWhatIsTheSameEverywhere(CapturedOutput output) {
		create()
			.withPropertyValues("region=eu", "app.hostname-suffix=x",
					"spring.application.name=shop-${region}-${app.hostname-suffix}")
			.withBean("jobs", Single.class)
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("different on each instance")));
	}

	/**
	 * Whether the application asks for it later can't be known.
	 */
	@ParameterizedTest
	@MethodSource
	void scheduledMethodOfBeanThatIsMadeLaterIsNotWarnedOf(Consumer<BeanDefinition> definition, CapturedOutput output) {
		create().withBean("jobs", Single.class, Single::new, definition::accept).run((context) -> {
			assertThat(output).doesNotContain("nothing calls it");
			context.getBean("jobs");
			assertThat(context.getBean(ScheduledAnnotationBeanPostProcessor.class).getScheduledTasks()).hasSize(1);
		});
	}

	static Stream<Consumer<BeanDefinition>> scheduledMethodOfBeanThatIsMadeLaterIsNotWarnedOf() {
		return Stream.of((definition) -> definition.setLazyInit(true),
				(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
	}

	@Test
	void lazyBeanThatSomebodyNeedsIsNotWarnedOf(CapturedOutput output) {
		create().withBean("jobs", Single.class, Single::new, (definition) -> definition.setLazyInit(true))
			.withBean(User.class)
			.run(LockContextRunner.started(() -> assertThat(output).doesNotContain("nothing calls it")));
	}

	@ParameterizedTest
	@ValueSource(classes = { CallsItself.class, CallsItselfInLambda.class, RefersToItself.class,
			CallsItselfWithArgument.class, CallsInherited.class })
	void callPastTheProxyIsWarnedOf(Class<?> type, CapturedOutput output) {
		create().withBean("jobs", type).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Method 'tick' calls method 'run'", "on bean 'jobs' on the bean itself",
					"advisory-lock.doctor.self-invocation");
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { CallsProxy.class, CallsRecursively.class, CallsOther.class })
	void callThroughTheProxyIsNotWarnedOf(Class<?> type, CapturedOutput output) {
		create().withBean("jobs", type).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("self-invocation");
		});
	}

	private static ApplicationContextRunner create() {
		return LockContextRunner.create().withUserConfiguration(SchedulingConfiguration.class);
	}

	@Retention(RetentionPolicy.RUNTIME)
	@Scheduled(cron = "0 0 3 29 2 *")
	@interface Rarely {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Rarely
	@EveryInstance
	@interface RarelyEverywhere {

	}

	static class Leading {

		@LeaderOnly("leader")
		void lead() {
		}

	}

	record Locking(AdvisoryLockOperations locks) {

	}

	@EnableScheduling
	static class SchedulingConfiguration {

	}

	static class Plain {

		@Scheduled(fixedDelay = 86_400_000, initialDelay = 86_400_000)
		void run() {
		}

	}

	static class SwitchedOff {

		@Scheduled(cron = "-")
		void run() {
		}

	}

	static class Composed {

		@Rarely
		void run() {
		}

	}

	static class Repeated {

		@Scheduled(cron = "0 0 3 29 2 *")
		@Scheduled(cron = "0 0 4 29 2 *")
		void run() {
		}

	}

	static class ComposedDeclared {

		@RarelyEverywhere
		void run() {
		}

	}

	static class Declared {

		@Rarely
		@SingleRunner("declared")
		void single() {
		}

		@Rarely
		@LeaderOnly("declared")
		void leader() {
		}

		@Rarely
		@EveryInstance
		void every() {
		}

		void unscheduled() {
		}

	}

	static class SingleAndEvery {

		@SingleRunner("job")
		@EveryInstance
		void run() {
		}

	}

	static class LeaderAndEvery {

		@LeaderOnly("job")
		@EveryInstance
		void run() {
		}

	}

	static class Single {

		@Rarely
		@SingleRunner("single")
		void run() {
		}

	}

	static class Leader {

		@Rarely
		@LeaderOnly("leader")
		void run() {
		}

	}

	static class Every {

		@Rarely
		@EveryInstance
		void run() {
		}

	}

	static class OwnNamespace {

		@SingleRunner(key = "own", namespace = "own")
		void run() {
		}

	}

	static class Configured {

		@Scheduled(cron = "${cron}")
		@Scheduled(fixedDelayString = "${delay:60000}", initialDelay = 60_000)
		@SingleRunner("configured")
		void run() {
		}

	}

	static class RandomKey {

		@SingleRunner("job-${random.uuid}")
		void run() {
		}

	}

	static class HostKey {

		@SingleRunner("job-${HOSTNAME:unknown}")
		void run() {
		}

	}

	static class HostNamespace {

		@SingleRunner(key = "job", namespace = "${pod.host-name:unknown}")
		void run() {
		}

	}

	record User(Single jobs) {

	}

	static class CallsItself {

		void tick() {
			run();
		}

		@SingleRunner("own")
		void run() {
		}

	}

	static class CallsItselfInLambda {

		void tick(Executor executor) {
			executor.execute(() -> run());
		}

		@SingleRunner("own")
		void run() {
		}

	}

	static class RefersToItself {

		void tick(Executor executor) {
			executor.execute(this::run);
		}

		@SingleRunner("own")
		void run() {
		}

	}

	static class CallsItselfWithArgument {

		private final String prefix = "order";

		int tick(List<String> orders, long time) {
			int count = 0;
			for (String order : orders) {
				count += (run(this.prefix.concat(order), time, new Object[] { order, time + 1, count }) != null) ? 1
						: 0;
			}
			return count;
		}

		@SingleRunner("order:#{#order}")
		@Nullable String run(String order, long time, Object other) {
			return order;
		}

	}

	static class CallsInherited extends CallsOther {

		void tick() {
			run();
		}

	}

	static class CallsProxy {

		private final ObjectProvider<CallsProxy> self;

		private final Executor executor = Runnable::run;

		CallsProxy(ObjectProvider<CallsProxy> self) {
			this.self = self;
		}

		void tick() {
			CallsProxy bean = this.self.getObject();
			bean.run(this);
			this.executor.execute(() -> bean.run(this));
		}

		@SingleRunner("own")
		void run(CallsProxy other) {
		}

	}

	static class CallsRecursively {

		@SingleRunner("own:#{#depth}")
		void run(int depth) {
			if (depth > 0) {
				run(depth);
			}
		}

	}

	static class CallsOther {

		void tick(CallsOther other, boolean same) {
			(same ? other : new CallsOther()).run();
		}

		@SingleRunner("own")
		void run() {
		}

	}

}
