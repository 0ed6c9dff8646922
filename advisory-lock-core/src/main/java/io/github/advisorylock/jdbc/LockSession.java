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

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.jdbc.SessionCommand.Trait;
import io.github.advisorylock.jdbc.server.ApplicationName;
import io.github.advisorylock.jdbc.server.ConnectionSource;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.jdbc.thread.SafeTask;
import io.github.advisorylock.jdbc.thread.TrustWindow;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.util.Assert;

/**
 * The one session that carries all session locks of this application. Its connection is
 * the library's own, never one of a pool: a pool would hand it, locks and all, to the
 * next borrower. It is opened when the first lock is asked for, watched while it carries
 * locks, opened again after a loss, and closed when it has carried nothing for five
 * minutes and nobody listens on it.
 * <p>
 * These are its verbs; one thread {@linkplain ConnectionOwner executes} them.
 *
 * @since 0.1.0
 */
public final class LockSession implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockSession.class);

	/**
	 * On which channel operators say which runs are to end: the key, as the lock table of
	 * the server has it, the time of day in milliseconds, and the operator's name, with
	 * spaces between them.
	 */
	public static final String CANCEL_CHANNEL = RunCancellation.CHANNEL;

	/**
	 * What an operator's instance says there when it has asked something in the ledger.
	 */
	public static final String QUESTION = RunCancellation.QUESTION;

	/**
	 * The name of the lock that the members of a namespace share.
	 */
	public static final String MEMBERS = Members.NAME;

	/**
	 * On that channel: says that an operator wants something of an instance.
	 */
	public static final String INSTANCE = RunCancellation.INSTANCE;

	final LockSessionSettings settings;

	private final LockScheduler.Threads threads;

	private final SessionOpener opener;

	private final ServerJudge.Comparison comparison;

	/**
	 * Is to be told of locks that are lost, in either scope, or to be given up.
	 */
	final LossNotifier losses;

	private final TrustWindow trust;

	private final Members members;

	private final ConnectionOwner owner;

	private final SessionThread thread;

	private final SessionNotifications notifications;

	private final SessionUpkeep upkeep;

	private final List<Runnable> whenClosed = new CopyOnWriteArrayList<>();

	private final SafeTask reopen = new SafeTask("Failed to open the connection of the session locks", this::reopen);

	/**
	 * Create a session that is not open yet, in the only database of the application. Its
	 * threads have the class loader that the current one has.
	 * @param connectionSource opens a new physical connection each time
	 * @param application the name of the application, for {@code pg_stat_activity} and
	 * for what its instances share
	 * @param settings how it is watched
	 * @param eventPublisher is given a {@link LockLostEvent} for each lost lock
	 */
	public LockSession(DataSource connectionSource, String application, LockSessionSettings settings,
			Consumer<Object> eventPublisher) {
		this(() -> connectionSource, application, null, settings, ServerJudge.NONE, eventPublisher,
				LockScheduler.Threads.ofCurrent());
		Assert.notNull(connectionSource, "'connectionSource' must not be null");
	}

	/**
	 * Create a session that is not open yet.
	 * @param connectionSource is asked each time when a physical connection is to be
	 * opened, as credentials may have changed
	 * @param application the name of the application, for {@code pg_stat_activity} and
	 * for what its instances share
	 * @param database what the database is called where the application has several: the
	 * name of its transaction manager, or {@code null}
	 * @param settings how it is watched
	 * @param judge judges what a connection leads to, each time one is opened
	 * @param eventPublisher is given a {@link LockLostEvent} for each lost lock
	 * @param threads makes its threads
	 */
	public LockSession(ConnectionSource connectionSource, String application, @Nullable String database,
			LockSessionSettings settings, ServerJudge judge, Consumer<Object> eventPublisher,
			LockScheduler.Threads threads) {
		this(connectionSource, application, database, settings, judge, eventPublisher, threads,
				(work) -> new SessionThread(work, threads));
	}

	/**
	 * Create a session that is not open yet, with a thread that somebody else makes.
	 */
	LockSession(ConnectionSource connectionSource, String application, @Nullable String database,
			LockSessionSettings settings, ServerJudge judge, Consumer<Object> eventPublisher,
			LockScheduler.Threads threads, Function<Consumer<List<SessionCommand>>, SessionThread> thread) {
		Assert.notNull(connectionSource, "'connectionSource' must not be null");
		this.settings = settings;
		this.threads = threads;
		this.trust = new TrustWindow(settings.trust(), threads.ticker());
		this.losses = new LossNotifier(settings.whenLost(), database, eventPublisher, this::releaseLater,
				this::cancelStatementLater, threads);
		DataSource pool = connectionSource.pool();
		PoolComparison comparison = (pool != null) ? new PoolComparison(pool, threads) : null;
		this.comparison = (comparison != null) ? comparison : ServerJudge.Comparison.NONE;
		Supplier<String> name = () -> ApplicationName.of(application, threads.instance());
		this.opener = new SessionOpener(connectionSource, judge, this.comparison, name, settings, threads);
		this.members = new Members(application, threads.instance(), settings.heartbeat(), threads.ticker());
		this.owner = new ConnectionOwner(this.opener, this.trust, this.losses, this.members, threads.ticker());
		this.thread = thread.apply(this::execute);
		threads.instance().whenChanged(() -> later("Failed to tell the server of a change of this instance", () -> {
			this.members.changed();
			if (isConnected()) {
				ask(null, PostgresAdvisoryLockFunctions.NAME_SESSION, List.of(name.get()));
			}
		}));
		this.notifications = new SessionNotifications(this.owner, this.thread, threads);
		this.upkeep = new SessionUpkeep(this.owner, this.trust, settings, LockScheduler.on(this.thread, threads),
				threads.ticker(), () -> {
					this.notifications.pollCancellations();
					compareAgain(comparison);
				}, comparison, this.members);
	}

	private void releaseLater(Hold hold) {
		later("Failed to release what was held for too long", () -> {
			if (hold.beginRelease()) {
				unlock(hold);
			}
		});
	}

	private Runnable cancelStatementLater(Hold hold) {
		PostgresAdvisoryLockFunctions.Call call = PostgresAdvisoryLockFunctions.cancelStatement(hold.backend(),
				hold.lock());
		later("Failed to cancel the statement of a run that is to end", () -> ask(new SessionCommand.Ask(null, call)));
		return () -> runInTime(() -> {
		});
	}

	private void compareAgain(@Nullable PoolComparison comparison) {
		if (comparison != null) {
			comparison.again(this::tryLock, this::unlock,
					(difference) -> later("Failed to close the connection of the session locks",
							() -> this.owner.destroy(difference)));
		}
	}

	/**
	 * Be one of the instances of the application that have an open session, and count
	 * them, from the next statement on: nobody does where no one wants to know.
	 * @param guarded what this instance guards, to be compared with others; {@code null}
	 * not to
	 */
	public void countMembers(@Nullable String guarded) {
		this.members.join(guarded);
	}

	/**
	 * Return how many instances there are with an open session, this one among them, as
	 * the server has told with a statement that was sent anyway. Never waits.
	 * @return the number, empty while it is not known: they are not counted, or this
	 * session is not open
	 */
	public OptionalInt members() {
		return isConnected() ? this.members.count() : OptionalInt.empty();
	}

	/**
	 * Return how many of the {@linkplain #members() members} come before this one, in an
	 * order on which they agree.
	 * @return the number, 0 while it is not known
	 */
	public int place() {
		return this.members.place();
	}

	/**
	 * Take part in work that members share, or no more: at once, or when the session is
	 * open.
	 * @param work the name of the work
	 * @param takesPart whether this instance does some of it
	 */
	public void share(String work, boolean takesPart) {
		if (this.members.share(work, takesPart) && isConnected()) {
			call(new SessionCommand.Nothing(null));
		}
	}

	/**
	 * Count the members with the next statement.
	 */
	public void recount() {
		this.members.changed();
	}

	/**
	 * Return how many members {@linkplain #share take part} in some work, as
	 * {@link #members()} does for all.
	 * @param work the name of the work
	 * @return the number, empty while it is not known
	 */
	public OptionalInt members(String work) {
		return isConnected() ? this.members.count(work) : OptionalInt.empty();
	}

	/**
	 * Return how many of those that take part in some work come before this one, as
	 * {@link #place()} does for all.
	 * @param work the name of the work
	 * @return the number, 0 while it is not known
	 */
	public int place(String work) {
		return this.members.place(work);
	}

	/**
	 * Count the other members on a connection that is none itself.
	 * @param connection a connection to where this session leads
	 * @return the number, empty where they are not counted
	 * @throws SQLException if the server can't be asked
	 */
	public OptionalInt otherMembers(Connection connection) throws SQLException {
		return this.members.others(connection);
	}

	/**
	 * Return whether other members have guarded something else than this instance for
	 * longer than a roll-out takes.
	 * @return whether that was told
	 */
	public boolean hasUnlikeMembers() {
		return this.members.isUnlike();
	}

	private void execute(List<SessionCommand> commands) {
		try {
			this.owner.execute(commands);
		}
		finally {
			this.upkeep.ensure();
		}
	}

	/**
	 * Try to take the lock of a hold, without waiting for it.
	 * @return whether it was taken
	 */
	boolean tryLock(Hold hold) {
		SessionCommand.Acquire command = new SessionCommand.Acquire(hold);
		call(command);
		command.checkAsked();
		return command.isGranted();
	}

	/**
	 * Try to take the first permit that is free for a hold, without waiting for one.
	 * @param permits what to ask for, in this order; nothing that this session has
	 * @return whether one was taken
	 */
	boolean tryPermits(Hold hold, List<AdvisoryLockKey> permits) {
		SessionCommand.AcquirePermit command = new SessionCommand.AcquirePermit(hold, permits);
		call(command);
		command.checkAsked();
		return command.isGranted();
	}

	/**
	 * Try to take the lock of a tick, without waiting for it.
	 * @param needed whether the run fails without the lock
	 * @return {@link LockOutcome#EXECUTED} if it was taken, else why not
	 */
	LockOutcome tryTick(Hold tick, boolean needed) {
		SessionCommand.AcquireTick command = new SessionCommand.AcquireTick(tick, needed);
		call(command);
		command.checkAsked();
		return command.outcome();
	}

	/**
	 * Begin to turn the exclusive lock of a tick into a shared one.
	 * @param answered what the thread of the connection does after that
	 */
	void share(SessionCommand.ShareTick command, Runnable answered) {
		this.thread.submit(command, () -> {
			answered.run();
			command.rethrow();
		});
	}

	/**
	 * Release the locks of ticks. Those that are not released stay active.
	 */
	void forget(List<Hold> ticks) {
		if (!ticks.isEmpty()) {
			call(new SessionCommand.ReleaseTicks(ticks));
		}
	}

	/**
	 * Release the lock of a hold that nobody else releases.
	 * @throws LockLostException if the lock was lost before, or it turns out that it was
	 * not held any more
	 */
	void unlock(Hold hold) throws LockLostException {
		checkHeld(hold, new SessionCommand.Release(hold));
	}

	/**
	 * Make sure that the lock of a hold is held, by an answer of the server on the
	 * connection that carries it: nobody else could release it there.
	 * @param hold the hold
	 * @throws LockLostException if it is not held any more
	 */
	public void confirm(Hold hold) throws LockLostException {
		checkHeld(hold, new SessionCommand.Nothing(hold));
	}

	private void checkHeld(Hold hold, SessionCommand command) throws LockLostException {
		call(command);
		Throwable failure = command.failure();
		if (failure != null || hold.isGone()) {
			LockLostException lost = new LockLostException(hold.key());
			lost.initCause(failure);
			throw lost;
		}
	}

	/**
	 * Find something that has nothing to do with the locks of this session. Opens the
	 * connection if need be.
	 * @return what was found, in the words of the server
	 * @throws SQLException if the server could not be asked
	 */
	@Nullable String find(PostgresAdvisoryLockFunctions.Call question) throws SQLException {
		SessionCommand.Ask command = new SessionCommand.Ask(null, question, Trait.OPTIONAL);
		call(command);
		Throwable failure = command.failure();
		if (failure != null) {
			throw (failure instanceof SQLException ex) ? ex : new SQLException("Failed to ask the server", failure);
		}
		return command.text();
	}

	/**
	 * Create a candidate for a lock that a feature takes by statements of its own.
	 * @param key what is to be locked
	 * @param whenLost is run at once when the lock was taken and is lost; must be quick
	 * @return the candidate
	 */
	public Hold candidate(AdvisoryLockKey key, Runnable whenLost) {
		return new Hold.InSession(key, LockMode.EXCLUSIVE, ticker(), whenLost);
	}

	/**
	 * Try to take the locks of candidates, in one statement with a column for each, which
	 * is {@code null} where the lock was taken. Notifications that were sent before are
	 * passed on first.
	 * @param candidates the candidates
	 * @param sql the statement
	 * @param parameters what it binds
	 * @return the columns
	 * @throws DataAccessException if the server could not be asked
	 */
	public List<@Nullable String> tryLocks(List<Hold> candidates, String sql, List<Object> parameters) {
		SessionCommand.AcquireSome command = new SessionCommand.AcquireSome(candidates,
				new PostgresAdvisoryLockFunctions.Call(sql, parameters));
		call(command);
		command.checkAnswered();
		// the server sends notifications before it answers
		this.notifications.receive();
		return command.answers();
	}

	/**
	 * Ask for a number while a lock is held.
	 * @param hold the hold, {@code null} to ask whatever is held
	 * @param sql the statement, whose first column is the number
	 * @param parameters what it binds
	 * @return the number
	 * @throws DataAccessException if the lock is not held any more, or the server could
	 * not be asked
	 */
	public long ask(@Nullable Hold hold, String sql, List<Object> parameters) {
		PostgresAdvisoryLockFunctions.Call call = new PostgresAdvisoryLockFunctions.Call(sql, parameters);
		return ask(
				(hold != null) ? new SessionCommand.Ask(hold, call, Trait.ONCE) : new SessionCommand.Ask(null, call));
	}

	private long ask(SessionCommand.Ask command) {
		call(command);
		command.checkAnswered();
		return command.number();
	}

	/**
	 * Return how a run reaches the server besides its transaction.
	 */
	Hold.SideConnection sideConnection(Hold hold) {
		return new Hold.SideConnection() {

			@Override
			public long ask(String sql, List<Object> parameters) {
				return LockSession.this.ask((hold.scope() == LockScope.SESSION) ? hold : null, sql, parameters);
			}

			@Override
			public Connection open() throws SQLException {
				return openAnother();
			}

		};
	}

	/**
	 * Release the lock of a hold, as far as it is held, and do something else with it.
	 * @param hold the hold
	 * @param column a column for the statement that releases the lock
	 * @param parameters what it binds
	 */
	public void release(Hold hold, String column, List<Object> parameters) {
		call(new SessionCommand.Release(hold,
				PostgresAdvisoryLockFunctions.sessionUnlock(hold.lock(), hold.mode).and(column, parameters)));
		hold.release();
	}

	/**
	 * Tell work that the lock which is held for it is lost: it is marked, and interrupted
	 * unless losses are reported only. Nobody else is told.
	 * @param works the work, wherever it runs; what has ended is left alone
	 */
	public void lose(List<WorkContext> works) {
		this.losses.lose(works.stream().map((work) -> work.hold).toList());
	}

	/**
	 * Return what is announced on the connection.
	 * @return the notifications
	 */
	public SessionNotifications notifications() {
		return this.notifications;
	}

	/**
	 * Return for how long a feature trusts what the server has confirmed.
	 * @return the trust window
	 */
	public TrustWindow trust() {
		return this.trust;
	}

	/**
	 * Return what compares the database of a connection of this session with that of the
	 * pool.
	 * @return a comparison that finds no difference where the pool is not known
	 */
	public ServerJudge.Comparison comparison() {
		return this.comparison;
	}

	/**
	 * Return why no lock can be taken: the reason for which the last attempt to open the
	 * connection has failed. After that, and after a loss, each call has it tried again
	 * in the background. Never waits.
	 * @return {@code null} if the last attempt has succeeded, or none was made
	 */
	public @Nullable String problem() {
		String current = this.opener.problem();
		if (current != null || this.owner.isLost()) {
			this.reopen.handTo(this.thread);
		}
		return current;
	}

	private void reopen() {
		if (!isClosed()) {
			call(new SessionCommand.Nothing(null));
		}
	}

	/**
	 * Note that a connection like that of this session could not be opened, or does not
	 * lead to where locks are.
	 * @param failure why not
	 */
	public void failed(Exception failure) {
		this.opener.failed(failure);
	}

	/**
	 * Return whether the connection is open, as far as is known.
	 * @return {@code false} before the first lock, from a loss to the next lock, and when
	 * it has carried nothing for five minutes
	 */
	public boolean isConnected() {
		return this.owner.isOpen();
	}

	/**
	 * Open the connection before a call needs it: instances whose calls are due at one
	 * instant log in one after the other then. Nothing is done where it would be closed
	 * again before that. Never waits.
	 * @param left the time until the call
	 */
	public void openWithin(Duration left) {
		this.upkeep.openWithin(left);
	}

	/**
	 * Let the next attempt to open the connection be made though one has just been
	 * refused.
	 */
	void retryNow() {
		this.opener.retryNow();
	}

	/**
	 * End an attempt to open the connection, if one is under way; whoever waits for it
	 * fails. Never waits.
	 */
	public void giveUpOpening() {
		this.opener.giveUp();
	}

	/**
	 * Close the connection, as soon as nobody works under a lock of it; remembered ticks
	 * don't keep it open. Who needs it opens it for as long.
	 */
	void suspend() {
		this.owner.use(ConnectionOwner.Use.SUSPENDED);
		this.thread.run(this.owner::leaveUnlessAtWork, SessionThread.NO_LIMIT);
	}

	/**
	 * Keep the connection open again between locks, and take what is to be remembered.
	 */
	void resume() {
		this.owner.use(ConnectionOwner.Use.LASTING);
	}

	boolean isSuspended() {
		return this.owner.isSuspended();
	}

	/**
	 * Close the connection; locks that are still held on it are lost.
	 */
	@Override
	public void close() {
		this.owner.use(ConnectionOwner.Use.CLOSED);
		this.opener.close();
		if (!runInTime(this.owner::leave)) {
			logger.warn("The connection of the session locks is still in use, and is closed as soon as it is not");
		}
		this.thread.close();
		this.upkeep.close();
		this.notifications.close();
		this.whenClosed.forEach(Runnable::run);
		this.losses.close();
	}

	/**
	 * Have something done when this session is closed, for good.
	 */
	void whenClosed(Runnable action) {
		this.whenClosed.add(action);
	}

	/**
	 * Make a scheduler for statements on the connection, which is closed with this
	 * session.
	 */
	LockScheduler scheduler() {
		LockScheduler scheduler = LockScheduler.on(this.thread, this.threads);
		whenClosed(scheduler::close);
		return scheduler;
	}

	/**
	 * Return what does tasks on the thread that uses the connection. Verbs of this
	 * session are executed at once there.
	 * @return the executor, whose tasks must not fail, nor wait for anything else
	 */
	public Executor executor() {
		return this.thread;
	}

	/**
	 * Return what makes the threads of the application.
	 * @return what makes threads
	 */
	public LockScheduler.Threads threads() {
		return this.threads;
	}

	/**
	 * Return the clock by which this session is watched.
	 * @return the clock
	 */
	public LockScheduler.Ticker ticker() {
		return this.threads.ticker();
	}

	/**
	 * Open another connection, as the one of this session is opened, which is neither
	 * judged nor watched.
	 * @return the connection, to be closed by the caller
	 * @throws SQLException if it can't be opened
	 */
	public Connection openAnother() throws SQLException {
		return this.opener.openAnother();
	}

	boolean isClosed() {
		return this.owner.isClosed();
	}

	/**
	 * Have something done on the thread of the connection, and do not wait for it. After
	 * the end of this session there is nothing to do.
	 */
	void later(String failure, Runnable task) {
		this.thread.execute(new SafeTask(failure, () -> {
			if (!isClosed()) {
				task.run();
			}
		}));
	}

	/**
	 * Have the thread of the connection do something, and wait for that as long as a
	 * server that answers may take.
	 */
	private boolean runInTime(Runnable task) {
		return this.thread.run(task, Duration.ofMillis(2L * this.settings.answerTimeoutMillis()));
	}

	/**
	 * Have the thread of the connection execute a command. What the server says is noted
	 * in that; what goes wrong here is thrown.
	 */
	private void call(SessionCommand command) {
		this.thread.submit(command);
		command.rethrow();
	}

}
