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

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.testsupport.LockContextRunner;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SingleRunnerMethodValidator} and {@link SingleRunnerOperationParser}:
 * what a developer reads when an annotated method can't do what it says.
 */
@Tag("gate")
class SingleRunnerStartupFailureTests {

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void failureNamesBeanMethodAttributeAndWhatToChange(Class<?> type, String problem, String action) {
		FailureAnalysis analysis = analyze(type);
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'", type.getName())
			.contains(problem)
			.endsWith(".");
		assertThat(analysis.getAction()).contains(action).endsWith(".");
		assertThat(analysis.getCause()).isInstanceOf(InvalidSingleRunnerException.class);
	}

	static Stream<Arguments> failureNamesBeanMethodAttributeAndWhatToChange() {
		return Stream.of(Arguments.of(EmptyKey.class, "attribute 'key' is empty", "name that identifies the job"),
				Arguments.of(BlankKey.class, "attribute 'key' is empty", "name that identifies the job"),
				Arguments.of(LeaderKey.class, "attribute 'key' starts with 'leader:'", "kept for the locks of leaders"),
				Arguments.of(PrivateMethod.class, "must not be private", "Remove the modifier"),
				Arguments.of(FinalMethod.class, "must not be final", "Remove the modifier"),
				Arguments.of(StaticMethod.class, "must not be static", "Remove the modifier"),
				Arguments.of(FinalClass.class, "no proxy can be made of its class", "neither final nor private"),
				Arguments.of(KeyAndValue.class,
						"attribute 'key' and its alias 'value' contradict each other: 'job' and 'other'.",
						"Set one of the two"),
				Arguments.of(KeyWithBlank.class, "attribute 'key' begins or ends with a blank: 'report '", "Remove it"),
				Arguments.of(KeyWithBlankBefore.class, "attribute 'key' begins or ends with a blank: ' report'",
						"Remove it"),
				Arguments.of(NamespaceWithBlank.class, "attribute 'namespace' begins or ends with a blank: 'shop '",
						"Remove it"),
				Arguments.of(PrimitiveReturn.class, "primitive type 'int' with attribute 'whenBusy' set to SKIP",
						"set 'whenBusy' to FAIL"),
				Arguments.of(BadDuration.class, "attribute 'waitFor' is no duration of zero or more: 'soon'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(NegativeDuration.class, "attribute 'waitFor' is no duration of zero or more: '-5s'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(NoTimeToRun.class, "attribute 'maxRun' is no duration of more than zero: '0s'",
						"\"5s\" or \"PT5S\""),
				Arguments.of(NoPermit.class, "attribute 'permits' is 0: it must be from 1 to 64",
						"how many may run at a time"),
				Arguments.of(TooManyPermits.class, "attribute 'permits' is 65: it must be from 1 to 64",
						"how many may run at a time"),
				Arguments.of(MissingPlaceholder.class, "attribute 'key' can't be resolved", "Set the property"),
				Arguments.of(MissingWaitPlaceholder.class, "attribute 'waitFor' can't be resolved", "Set the property"),
				Arguments.of(NamespaceWithSlash.class,
						"attribute 'namespace' is unusable: 'namespace' must not contain", "'advisory-lock.namespace'"),
				Arguments.of(BadExpression.class, "attribute 'key' can't be parsed", "'#{#name}'"),
				Arguments.of(UnclosedExpression.class, "attribute 'key' can't be parsed", "'#{#name}'"),
				Arguments.of(UnknownVariable.class, "'#user' in '#user' is unknown; the parameters are [userId]",
						"'#{#name}'"),
				Arguments.of(MissingHash.class, "'userId' in 'userId' is no argument; an argument is written '#userId'",
						"'#{#name}'"),
				Arguments.of(TypeInKey.class, "T(java.lang.System)", "'#{#name}'"),
				Arguments.of(BeanInKey.class, "@systemProperties", "'#{#name}'"),
				Arguments.of(ConstructorInKey.class, "new java.util.Date", "'#{#name}'"),
				Arguments.of(BareArgument.class, "'#id' stands there as text", "'#{#name}'"),
				Arguments.of(BareArgument.class, "is written '#{#id}'", "'#{#name}'"),
				Arguments.of(BareSum.class, "is written '#{#id}'", "'#{#name}'"),
				Arguments.of(BracedArgument.class, "'{id}' stands there as text", "'#{#name}'"),
				Arguments.of(DollarArgument.class, "'$id' stands there as text", "'#{#name}'"),
				Arguments.of(PlaceholderArgument.class, "can't be resolved", "written '#{#name}'"),
				Arguments.of(MisspeltProperty.class,
						"'nmae' in '#user.nmae' is unknown; the properties of class '" + User.class.getName()
								+ "' are [address, name]",
						"'#{#name}'"),
				Arguments.of(MisspeltNestedProperty.class, "'ctiy' in '#user.address.ctiy' is unknown", "'#{#name}'"),
				Arguments.of(MisspeltCondition.class, "'nmae' in '#user.nmae == null ? 'a' : 'b'' is unknown",
						"'#{#name}'"),
				Arguments.of(MisspeltMethod.class, "'getNmae' in '#user.getNmae()' is unknown", "'#{#name}'"),
				Arguments.of(ArgumentWithoutText.class,
						"'#user' in '#user' is of class '" + Person.class.getName() + "', which has no text",
						"'#{#name}'"),
				Arguments.of(SumWithoutText.class, "'#user.friend' in ''user:' + #user.friend' is of class",
						"'#{#name}'"),
				Arguments.of(WaitWithoutUnit.class, "attribute 'waitFor' has no unit: '10'", "\"10s\" for seconds"),
				Arguments.of(IntervalWithoutUnit.class, "attribute 'minInterval' has no unit: '10'", "\"10s\""),
				Arguments.of(MaxRunWithoutUnit.class, "attribute 'maxRun' has no unit: '10'", "\"10ms\""));
	}

	@ParameterizedTest
	@ValueSource(classes = { StageReturn.class, CompletableFutureReturn.class, FutureReturn.class, MonoReturn.class,
			FluxReturn.class, PublisherReturn.class, SuspendFunction.class })
	void asynchronousMethodIsRefused(Class<?> type) {
		FailureAnalysis analysis = analyze(type);
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'")
			.contains("must not be asynchronous: the lock would be released before the work is done");
		assertThat(analysis.getAction()).contains("annotate the method that does the work");
	}

	@ParameterizedTest
	@ValueSource(classes = { PropagationNever.class, PropagationNotSupported.class, PropagationSupports.class })
	void propagationWithoutTransactionIsRefusedForTransactionScope(Class<?> type) {
		FailureAnalysis analysis = analyze(type);
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'", "attribute 'scope'")
			.contains("propagation " + type.getAnnotation(Transactional.class).propagation());
		assertThat(analysis.getAction()).contains("Set the propagation", "'scope' to SESSION");
	}

	@ParameterizedTest
	@ValueSource(classes = { RepeatableReadWaits.class, SerializableWaits.class })
	void waitingUnderSnapshotIsRefusedForTransactionScope(Class<?> type) {
		FailureAnalysis analysis = analyze(type);
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'", "attribute 'waitFor'")
			.contains("snapshot");
		assertThat(analysis.getAction()).contains("Remove 'waitFor'", "'scope' to SESSION");
	}

	@Test
	void waitingUnderSnapshotIsRefusedWhenPropertySaysSo() {
		FailureAnalysis analysis = LockContextRunner.analyzeFailure(LockContextRunner.create()
			.withBean("jobs", SerializableDoesNotWait.class)
			.withPropertyValues("advisory-lock.wait-for=5s"));
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "snapshot");
	}

	@Test
	void waitingLongerThanTheTransactionMayLastIsRefused() {
		FailureAnalysis analysis = analyze(WaitsTooLong.class);
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'", "attribute 'timeout'",
				"waits for its lock for PT30S inside its transaction, which times out after PT10S");
		assertThat(analysis.getAction()).contains("'waitFor' to less", "'scope' to SESSION");
	}

	@ParameterizedTest
	@ValueSource(classes = { SerializableDoesNotWait.class, TimeoutByPlaceholder.class })
	void propertyThatSetsTheTimeToWaitIsNamed(Class<?> type) {
		for (String property : List.of("advisory-lock.wait-for", "advisory-lock.jobs.job.wait-for")) {
			FailureAnalysis analysis = LockContextRunner.analyzeFailure(
					LockContextRunner.create().withBean("jobs", type).withPropertyValues(property + "=30s"));
			assertThat(analysis.getDescription()).contains("on bean 'jobs'", "'advisory-lock.wait-for'",
					"'advisory-lock.jobs.<key>.wait-for'");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { SessionWithoutTransaction.class, TimeoutByPlaceholder.class, WaitsLongEnough.class,
			SessionWaitsSerializable.class, SerializableDoesNotWait.class, PrimitiveThatFails.class })
	void whatOnlyLooksWrongStarts(Class<?> type) {
		LockContextRunner.create().withBean("jobs", type).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void methodOfArgumentIsNoMistake() {
		LockContextRunner.create()
			.withBean("jobs", MethodOfArgument.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@MethodSource
	void mistakeOfABeanThatIsMadeLaterIsFoundAtTheStart(Class<?> type, BeanDefinitionCustomizer later, String problem) {
		FailureAnalysis analysis = LockContextRunner
			.analyzeFailure(with(LockContextRunner.create(), "jobs", type, later));
		assertThat(analysis.getDescription()).contains("on bean 'jobs'", "method 'run'", problem);
	}

	static Stream<Arguments> mistakeOfABeanThatIsMadeLaterIsFoundAtTheStart() {
		BeanDefinitionCustomizer lazy = (definition) -> definition.setLazyInit(true);
		BeanDefinitionCustomizer prototype = (definition) -> definition.setScope("prototype");
		return Stream.of(lazy, prototype)
			.flatMap((later) -> Stream.of(Arguments.of(EmptyKey.class, later, "attribute 'key' is empty"),
					Arguments.of(PrivateMethod.class, later, "must not be private"),
					Arguments.of(FinalClass.class, later, "no proxy can be made of its class"),
					Arguments.of(BadExpression.class, later, "attribute 'key' can't be parsed"),
					Arguments.of(FluxReturn.class, later, "must not be asynchronous"),
					Arguments.of(PrimitiveReturn.class, later, "primitive type 'int'")));
	}

	private static ApplicationContextRunner with(ApplicationContextRunner runner, String name, Class<?> type,
			BeanDefinitionCustomizer definition) {
		return runner
			.withInitializer((context) -> ((GenericApplicationContext) context).registerBean(name, type, definition));
	}

	@Test
	void keyOfTwoBeansThatAreMadeLaterIsFoundAtTheStart() {
		BeanDefinitionCustomizer lazy = (definition) -> definition.setLazyInit(true);
		assertThat(LockContextRunner
			.analyzeFailure(
					with(with(LockContextRunner.create(), "jobs", Guarded.class, lazy), "others", Guarded.class, lazy))
			.getDescription()).contains("has the same 'key' as");
	}

	@Test
	void beanThatIsMadeLaterIsGuarded() {
		with(LockContextRunner.create(), "jobs", Guarded.class, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				SingleRunnerAnnotationBeanPostProcessor methods = context
					.getBean(SingleRunnerAnnotationBeanPostProcessor.class);
				assertThat(methods.getMethods()).isEmpty();
				context.getBean(Guarded.class).run();
				assertThat(methods.getMethods()).hasSize(1);
			});
	}

	@Test
	void methodOfAnonymousClassHasAName() {
		Object jobs = new Object() {

			@SingleRunner("anonymous")
			void run() {
			}

		};
		LockContextRunner.create()
			.withInitializer(
					(context) -> ((GenericApplicationContext) context).registerBean("jobs", Object.class, () -> jobs))
			.run((context) -> assertThat(context.getBean(SingleRunnerAnnotationBeanPostProcessor.class)
				.getMethods()
				.get(0)
				.operation()
				.method()).isEqualTo("SingleRunnerStartupFailureTests$1.run"));
	}

	@Test
	void keysCanNotFakeLinesOfTheLog() {
		for (Class<?> type : List.of(HostileBlank.class, HostileExpression.class)) {
			FailureAnalysis analysis = analyze(type);
			assertThat(analysis.getDescription()).contains("a?ERROR fake?[31m?b");
			assertThat(analysis.getDescription() + analysis.getAction()).doesNotContain("\u001b", "\u202e", "\n");
		}
	}

	private static FailureAnalysis analyze(Class<?> type) {
		return LockContextRunner.analyzeFailure(LockContextRunner.create().withBean("jobs", type));
	}

	static class HostileBlank {

		@SingleRunner("a\nERROR fake\u001b[31m\u202eb ")
		void run() {
		}

	}

	static class HostileExpression {

		@SingleRunner("a\nERROR fake\u001b[31m\u202eb#{")
		void run() {
		}

	}

	static class EmptyKey {

		@SingleRunner
		void run() {
		}

	}

	static class Guarded {

		@SingleRunner("guarded")
		void run() {
		}

	}

	static class KeyWithBlank {

		@SingleRunner("report ")
		void run() {
		}

	}

	static class KeyWithBlankBefore {

		@SingleRunner(" report")
		void run() {
		}

	}

	static class NamespaceWithBlank {

		@SingleRunner(key = "report", namespace = "shop ")
		void run() {
		}

	}

	static class BlankKey {

		@SingleRunner("${blank: }")
		void run() {
		}

	}

	static class LeaderKey {

		@SingleRunner("leader:reports")
		void run() {
		}

	}

	static class PrivateMethod {

		@SingleRunner("job")
		private void run() {
		}

	}

	static class FinalMethod {

		@SingleRunner("job")
		final void run() {
		}

	}

	static final class FinalClass {

		@SingleRunner("job")
		void run() {
		}

	}

	static class KeyAndValue {

		@SingleRunner(key = "job", value = "other")
		void run() {
		}

	}

	static class StaticMethod {

		@SingleRunner("job")
		static void run() {
		}

	}

	static class PrimitiveReturn {

		@SingleRunner("job")
		int run() {
			return 1;
		}

	}

	static class PrimitiveThatFails {

		@SingleRunner(key = "job", whenBusy = WhenBusy.FAIL)
		int run() {
			return 1;
		}

	}

	static class BadDuration {

		@SingleRunner(key = "job", waitFor = "soon")
		void run() {
		}

	}

	static class NegativeDuration {

		@SingleRunner(key = "job", waitFor = "-5s")
		void run() {
		}

	}

	static class NoTimeToRun {

		@SingleRunner(key = "job", maxRun = "0s")
		void run() {
		}

	}

	static class MissingPlaceholder {

		@SingleRunner("job-${missing}")
		void run() {
		}

	}

	static class MissingWaitPlaceholder {

		@SingleRunner(key = "job", waitFor = "${missing}")
		void run() {
		}

	}

	static class NamespaceWithSlash {

		@SingleRunner(key = "job", namespace = "a/b")
		void run() {
		}

	}

	static class BadExpression {

		@SingleRunner("job:#{#userId +}")
		void run(String userId) {
		}

	}

	static class UnclosedExpression {

		@SingleRunner("job:#{#userId")
		void run(String userId) {
		}

	}

	static class UnknownVariable {

		@SingleRunner("job:#{#user}")
		void run(String userId) {
		}

	}

	static class MissingHash {

		@SingleRunner("job:#{userId}")
		void run(String userId) {
		}

	}

	static class TypeInKey {

		@SingleRunner("job:#{T(java.lang.System).getProperty('user.home')}")
		void run() {
		}

	}

	static class BeanInKey {

		@SingleRunner("job:#{@systemProperties['user.home']}")
		void run() {
		}

	}

	static class ConstructorInKey {

		@SingleRunner("job:#{new java.util.Date()}")
		void run() {
		}

	}

	static class BareArgument {

		@SingleRunner("#id")
		void run(String id) {
		}

	}

	static class BareSum {

		@SingleRunner("'order-' + #id")
		void run(String id) {
		}

	}

	static class BracedArgument {

		@SingleRunner("order:{id}")
		void run(String id) {
		}

	}

	static class DollarArgument {

		@SingleRunner("order:$id")
		void run(String id) {
		}

	}

	static class PlaceholderArgument {

		@SingleRunner("order:${id}")
		void run(String id) {
		}

	}

	record Address(String city) {

	}

	record User(String name, Address address) {

	}

	static class MisspeltProperty {

		@SingleRunner("user:#{#user.nmae}")
		void run(User user) {
		}

	}

	static class MisspeltNestedProperty {

		@SingleRunner("user:#{#user.address.ctiy}")
		void run(User user) {
		}

	}

	static class MisspeltCondition {

		@SingleRunner("user:#{#user.nmae == null ? 'a' : 'b'}")
		void run(User user) {
		}

	}

	static class MethodOfArgument {

		@SingleRunner("user:#{#user.name().strip()}")
		void run(User user) {
		}

	}

	static class MisspeltMethod {

		@SingleRunner("user:#{#user.getNmae()}")
		void run(User user) {
		}

	}

	static class Person {

		private final Person friend = this;

		Person getFriend() {
			return this.friend;
		}

	}

	static class ArgumentWithoutText {

		@SingleRunner("user:#{#user}")
		void run(Person user) {
		}

	}

	static class SumWithoutText {

		@SingleRunner("#{'user:' + #user.friend}")
		void run(Person user) {
		}

	}

	static class WaitWithoutUnit {

		@SingleRunner(key = "job", waitFor = "10")
		void run() {
		}

	}

	static class IntervalWithoutUnit {

		@SingleRunner(key = "job", minInterval = "10")
		void run() {
		}

	}

	static class MaxRunWithoutUnit {

		@SingleRunner(key = "job", maxRun = "10")
		void run() {
		}

	}

	static class NoPermit {

		@SingleRunner(key = "job", permits = 0)
		void run() {
		}

	}

	static class TooManyPermits {

		@SingleRunner(key = "job", permits = 65)
		void run() {
		}

	}

	static class StageReturn {

		@SingleRunner("job")
		CompletionStage<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class CompletableFutureReturn {

		@SingleRunner("job")
		CompletableFuture<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class FutureReturn {

		@SingleRunner("job")
		Future<String> run() {
			return new CompletableFuture<>();
		}

	}

	static class MonoReturn {

		@SingleRunner("job")
		Mono<String> run() {
			return Mono.empty();
		}

	}

	static class FluxReturn {

		@SingleRunner("job")
		Flux<String> run() {
			return Flux.empty();
		}

	}

	static class PublisherReturn {

		@SingleRunner("job")
		Flow.Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	static class SuspendFunction {

		@SingleRunner("job")
		Object run(String argument, Continuation<String> continuation) {
			return argument;
		}

	}

	@Transactional(propagation = Propagation.NEVER)
	static class PropagationNever {

		@SingleRunner("job")
		void run() {
		}

	}

	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	static class PropagationNotSupported {

		@SingleRunner("job")
		void run() {
		}

	}

	@Transactional(propagation = Propagation.SUPPORTS)
	static class PropagationSupports {

		@SingleRunner("job")
		void run() {
		}

	}

	static class RepeatableReadWaits {

		@Transactional(isolation = Isolation.REPEATABLE_READ)
		@SingleRunner(key = "job", waitFor = "5s")
		void run() {
		}

	}

	static class SerializableWaits {

		@Transactional(isolation = Isolation.SERIALIZABLE)
		@SingleRunner(key = "job", waitFor = "5s")
		void run() {
		}

	}

	static class SerializableDoesNotWait {

		@Transactional(isolation = Isolation.SERIALIZABLE)
		@SingleRunner("job")
		void run() {
		}

	}

	static class WaitsTooLong {

		@Transactional(timeout = 10)
		@SingleRunner(key = "job", waitFor = "30s")
		void run() {
		}

	}

	static class WaitsLongEnough {

		@Transactional(timeout = 10)
		@SingleRunner(key = "job", waitFor = "9s")
		void run() {
		}

	}

	static class TimeoutByPlaceholder {

		@Transactional(timeoutString = "${job.timeout:10}")
		@SingleRunner("job")
		void run() {
		}

	}

	static class SessionWaitsSerializable {

		@Transactional(isolation = Isolation.SERIALIZABLE)
		@SingleRunner(key = "job", scope = LockScope.SESSION, waitFor = "5s")
		void run() {
		}

	}

	@Transactional(propagation = Propagation.NEVER)
	static class SessionWithoutTransaction {

		@SingleRunner(key = "job", scope = LockScope.SESSION)
		void run() {
		}

	}

}
