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

package io.github.advisorylock.actuate;

import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.annotation.SingleRunnerMethod;
import io.github.advisorylock.jdbc.Run;
import io.github.advisorylock.jdbc.thread.LockScheduler;

import org.springframework.scheduling.config.ScheduledTask;

/**
 * What this instance guards, and how.
 *
 * @param namespace its namespace
 * @param keyFactory makes its keys
 * @param methods its guarded methods; asked for each time
 * @param roles the roles it may lead, each once; asked for each time
 * @param tasks what its schedulers do; asked for each time
 * @param placeholders resolves placeholders in annotations
 * @param stacks what it does under a key; asked for each time
 * @param session whether there is a lock session, which remembers ticks; asked for each
 * time
 * @param threads makes the threads of what an operator has it do
 * @since 0.1.0
 */
record GuardedApplication(String namespace, AdvisoryLockKeyFactory keyFactory,
		Supplier<? extends Collection<SingleRunnerMethod>> methods, Supplier<? extends Collection<String>> roles,
		Supplier<Stream<ScheduledTask>> tasks, UnaryOperator<String> placeholders,
		Function<AdvisoryLockKey, List<Run.Stack>> stacks, BooleanSupplier session, LockScheduler.Threads threads) {

}
