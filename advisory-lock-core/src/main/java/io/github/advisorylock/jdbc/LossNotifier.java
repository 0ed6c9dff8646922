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

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.log.LockLog;
import org.jspecify.annotations.Nullable;

/**
 * What happens when locks are found to be lost, in either scope. First all of them are,
 * and their runs are interrupted: whoever comes next may have begun. Only then is
 * everybody told, one after the other, by a worker, so that a listener can hold up
 * neither a run nor a heartbeat. Of the {@linkplain Hold.OfTick locks of ticks} nobody is
 * told.
 * <p>
 * Tells holders to give up locks that they have, too: after a time, or because an
 * operator wants that. A lock that was handed over to its holder is released. A run has
 * its lock until it ends, and is helped to: it does not notice an interrupt while it
 * waits for the server, so its statement is cancelled.
 */
final class LossNotifier implements AutoCloseable {

	/**
	 * A run that notices its interrupt is over by then, and what its transaction asks the
	 * server next is not the run's any more.
	 */
	private static final Duration TIME_TO_NOTICE = Duration.ofMillis(200);

	private static final Duration TIME_TO_TELL = Duration.ofSeconds(2);

	private final LockScheduler notifier;

	private final LockScheduler timer;

	private final Executor workers;

	private final WhenLost whenLost;

	private final @Nullable String database;

	private final Consumer<Object> eventPublisher;

	private final Consumer<Hold> release;

	private final Function<Hold, Runnable> cancelStatement;

	private final LockScheduler.Ticker ticker;

	private volatile Future<?> told = CompletableFuture.completedFuture(null);

	/**
	 * Create it.
	 * @param whenLost what happens to threads that run under a lost lock
	 * @param database the name of the database, where there are several
	 * @param eventPublisher is given a {@link LockLostEvent} for each lock that is lost
	 * @param release releases later what was handed over to a holder
	 * @param cancelStatement cancels later the statement that a run waits for, and
	 * returns what waits for the answer
	 * @param threads has the timer, and the workers by which everybody is told
	 */
	LossNotifier(WhenLost whenLost, @Nullable String database, Consumer<Object> eventPublisher, Consumer<Hold> release,
			Function<Hold, Runnable> cancelStatement, LockScheduler.Threads threads) {
		this.whenLost = whenLost;
		this.database = database;
		this.eventPublisher = eventPublisher;
		this.release = release;
		this.cancelStatement = cancelStatement;
		this.notifier = LockScheduler.inTurn(threads);
		this.timer = LockScheduler.onTimer(threads);
		this.workers = threads.workers();
		this.ticker = threads.ticker();
	}

	/**
	 * Mark holds as lost, interrupt who runs under them, and have everybody told. Those
	 * that ended before are left alone.
	 */
	void lost(List<Hold> holds) {
		Map<Hold, List<Runnable>> lost = lose(holds);
		lost.keySet().removeIf(Hold.OfTick.class::isInstance);
		if (!lost.isEmpty()) {
			tellLater(lost);
		}
	}

	/**
	 * Revoke a lock when it was held for a time.
	 * @return what takes that back
	 */
	Future<?> limit(Hold hold, Duration maxRun) {
		Hold.Loss loss = new Hold.Loss(LockLostEvent.Reason.MAX_RUN,
				"it was held for longer than 'maxRun' allows, " + maxRun);
		return this.timer.after(maxRun.minus(hold.heldFor()),
				new SafeTask("Failed to end what lasts too long", () -> revoke(hold, loss)));
	}

	/**
	 * Tell the holder of a lock to give it up: as when it is lost, but that the lock is
	 * there. What its run is doing is noted before an interrupt changes that. Never
	 * waits, and does nothing if the hold has ended before.
	 */
	void revoke(Hold hold, Hold.Loss loss) {
		List<Runnable> actions = hold.revoke(loss);
		if (actions == null) {
			return;
		}
		Run.note(hold.run(), hold.backend(), this.workers);
		if (this.whenLost == WhenLost.INTERRUPT) {
			cancelStatement(hold);
			interruptRunner(hold);
		}
		hold.cleanUp();
		tellLater(Map.of(hold, actions));
		if (hold.isHandedOver()) {
			this.release.accept(hold);
		}
	}

	/**
	 * A run that waits for the server does not notice an interrupt.
	 */
	private void cancelStatement(Hold hold) {
		Run run = hold.run();
		if (run == null || hold.backend() == 0) {
			return;
		}
		Runnable cancel = () -> run.cancelStatement(() -> this.cancelStatement.apply(hold));
		if (run.isVirtual()) {
			// Its interrupt closes the connection, and the run is over at once, but the
			// server would go on with the statement, and keep the lock
			cancel.run();
			return;
		}
		Future<?> unused = this.timer.after(TIME_TO_NOTICE,
				new SafeTask("Failed to cancel the statement of a run that is to end", cancel));
	}

	/**
	 * Mark holds as lost, and interrupt who runs under them.
	 * @return those that had not ended before, and who wants to be told
	 */
	Map<Hold, List<Runnable>> lose(List<Hold> holds) {
		Map<Hold, List<Runnable>> lost = new LinkedHashMap<>();
		for (Hold hold : holds) {
			List<Runnable> actions = hold.markLost();
			if (actions != null) {
				lost.put(hold, actions);
			}
		}
		if (this.whenLost == WhenLost.INTERRUPT) {
			lost.keySet().forEach(LossNotifier::interruptRunner);
		}
		lost.keySet().forEach(Hold::cleanUp);
		return lost;
	}

	private static void interruptRunner(Hold hold) {
		Run run = hold.run();
		if (run != null) {
			run.interrupt();
		}
	}

	private void tellLater(Map<Hold, List<Runnable>> lost) {
		FutureTask<?> telling = new FutureTask<>(() -> lost.forEach(this::tell), null);
		try {
			this.notifier.execute(telling);
			this.told = telling;
		}
		catch (RejectedExecutionException ex) {
			// closed already: better told by this thread than not at all
			lost.forEach(this::tell);
		}
	}

	private void tell(Hold hold, List<Runnable> actions) {
		guard(() -> log(hold));
		actions.forEach(LossNotifier::guard);
		guard(() -> this.eventPublisher.accept(event(hold)));
	}

	private LockLostEvent event(Hold hold) {
		Hold.Loss loss = hold.loss();
		return new LockLostEvent(hold.key(), (loss != null) ? loss.reason() : LockLostEvent.Reason.GONE, this.database);
	}

	private void log(Hold hold) {
		Hold.Loss loss = hold.loss();
		if (loss != null) {
			Run.Stack stack = Run.noted(hold.run());
			LockLog.ended(hold.key(), hold.scope(), loss.reason(), loss.text(), this.database,
					(stack != null) ? stack.toString() : null);
		}
		else {
			LockLog.lost(hold.key(), hold.scope(), this.database);
		}
	}

	private static void guard(Runnable action) {
		new SafeTask("A listener for lost locks failed", action).run();
	}

	/**
	 * Tell about the losses so far, and end. A context that closes takes no events a
	 * moment later, so they get some time; who closes it may be a listener.
	 */
	@Override
	public void close() {
		this.timer.close();
		this.notifier.close();
		try {
			this.ticker.await(this.told, TIME_TO_TELL);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			// goes on by itself
		}
	}

}
