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

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.advisorylock.LockLostException;
import io.github.advisorylock.testsupport.Patience;
import org.assertj.core.api.ThrowableAssertAlternative;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A run that lasts until a test has looked at it.
 */
final class Gate implements AutoCloseable {

	private final CountDownLatch entered = new CountDownLatch(1);

	private final CountDownLatch open = new CountDownLatch(1);

	private CompletableFuture<Void> run = CompletableFuture.completedFuture(null);

	/**
	 * Call a method that passes this gate, on a thread of its own, and wait until it is
	 * there.
	 */
	static Gate enteredBy(Consumer<Gate> call) {
		Gate gate = new Gate();
		gate.run = runAsync(() -> call.accept(gate));
		gate.awaitEntered();
		return gate;
	}

	/**
	 * Return one that lets everybody pass.
	 */
	static Gate opened() {
		Gate gate = new Gate();
		gate.close();
		return gate;
	}

	static CompletableFuture<Void> runAsync(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> new Thread(task).start());
	}

	/**
	 * Wait for the end of a run that goes on until it is interrupted.
	 * @return the interrupt, which nothing but the loss of its lock can mean
	 */
	static ThrowableAssertAlternative<?> assertThatInterruptEnds(CompletableFuture<Void> run) {
		return assertThat(run).failsWithin(Patience.TIME)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(InterruptedException.class);
	}

	static void assertThatCancellationEnds(CompletableFuture<Void> run) {
		assertThatInterruptEnds(run).satisfies((interrupt) -> assertThat(interrupt.getSuppressed()).singleElement()
			.isInstanceOf(LockLostException.class)
			.asString()
			.contains("it was cancelled by unauthenticated"));
	}

	void awaitEntered() {
		await(this.entered);
	}

	void pass() {
		this.entered.countDown();
		await(this.open);
	}

	@Override
	public void close() {
		this.open.countDown();
		this.run.join();
	}

	private static void await(CountDownLatch latch) {
		try {
			if (!latch.await(Patience.SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Nobody came");
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
