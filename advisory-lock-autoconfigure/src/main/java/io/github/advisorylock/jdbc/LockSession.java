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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.LockLostException;
import io.github.advisorylock.LockMode;
import io.github.advisorylock.LockOutcome;
import io.github.advisorylock.LockScope;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.util.Assert;

/**
 * The one session that carries all session locks of this application. Its connection is
 * the library's own, never one of a pool: a pool would hand it, locks and all, to the
 * next borrower. It is opened when the first lock is asked for, watched while it carries
 * locks, opened again after a loss, and closed when it has carried nothing for five
 * minutes and nobody listens on it.
 * <p>
 * A connection in an unknown state is destroyed, which frees its locks: holding a lock
 * without knowing it would keep it for ever.
 *
 * @since 0.1.0
 */
public final class LockSession implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockSession.class);

	/**
	 * On which channel operators say which runs are to end: the key, as the lock table of
	 * the server has it, for how many milliseconds that is wanted already, and by whom,
	 * with spaces between them.
	 */
	public static final String CANCEL_CHANNEL = "advisory_lock_cancel";

	/**
	 * Anybody can say anything there.
	 */
	private static final Pattern CANCEL = Pattern.compile("(\\d+:\\d+:\\d) (\\d{1,16}) (.+)", Pattern.DOTALL);

	private static final Duration LOOK = Duration.ofMillis(70);

	private final LockSessionSettings settings;

	private final SessionOpener opener;

	private final @Nullable PoolComparison comparison;

	private final LossNotifier losses;

	private final LockScheduler.Threads threads;

	private final SessionThread thread;

	private final List<LockScheduler> schedulers = new CopyOnWriteArrayList<>();

	private final LockScheduler heartbeat;

	private final GuardedTask beat = new GuardedTask("A heartbeat of the session locks failed", this::beat);

	private final GuardedTask look = new GuardedTask("Failed to look for what other applications say", this::look);

	private final LockScheduler limits;

	private final LockScheduler looks;

	private final AtomicBoolean reopening = new AtomicBoolean();

	private final SQLExceptionTranslator exceptionTranslator = new SQLExceptionSubclassTranslator();

	private final TrustWindow trust;

	private volatile @Nullable SessionConnection connection;

	private volatile SessionConnection.@Nullable Listener listener;

	private volatile SessionConnection.@Nullable Listener cancels;

	private volatile long lastLockNanos;

	private volatile long idleNanos = TimeUnit.MINUTES.toNanos(5);

	private volatile boolean closed;

	private volatile boolean resting;

	private volatile boolean lost;

	private volatile @Nullable String database;

	/**
	 * Create a session that is not open yet. Its threads have the class loader that the
	 * current one has.
	 * @param connectionSource opens a new physical connection each time
	 * @param application the name of the application, for {@code pg_stat_activity}
	 * @param settings how it is watched
	 * @param eventPublisher is given a {@link LockLostEvent} for each lost lock
	 */
	public LockSession(DataSource connectionSource, String application, LockSessionSettings settings,
			Consumer<Object> eventPublisher) {
		this(() -> connectionSource, application, settings, eventPublisher, LockScheduler.Threads.ofCurrent());
		Assert.notNull(connectionSource, "'connectionSource' must not be null");
	}

	/**
	 * Create a session that is not open yet.
	 * @param connectionSource is asked each time when a physical connection is to be
	 * opened, as credentials may have changed
	 * @param application the name of the application, for {@code pg_stat_activity}
	 * @param settings how it is watched
	 * @param eventPublisher is given a {@link LockLostEvent} for each lost lock
	 * @param threads makes its threads
	 */
	public LockSession(ConnectionSource connectionSource, String application, LockSessionSettings settings,
			Consumer<Object> eventPublisher, LockScheduler.Threads threads) {
		Assert.notNull(connectionSource, "'connectionSource' must not be null");
		this.settings = settings;
		this.threads = threads;
		this.lastLockNanos = ticker().nanoTime();
		this.thread = new SessionThread(this::execute, threads);
		this.heartbeat = scheduler("advisory-lock-heartbeat");
		this.limits = scheduler("advisory-lock-max-run");
		this.looks = scheduler("advisory-lock-listener");
		this.trust = new TrustWindow(settings.trust(), threads.ticker());
		DataSource pool = connectionSource.pool();
		this.comparison = (pool != null) ? new PoolComparison(pool, threads) : null;
		this.opener = new SessionOpener(connectionSource, comparison(), ApplicationName.of(application), settings,
				threads);
		this.losses = new LossNotifier(settings.whenLost(), () -> this.database,
				(hold) -> eventPublisher.accept(event(hold)), threads);
	}

	private LockLostEvent event(Hold hold) {
		Hold.Loss loss = hold.loss();
		return new LockLostEvent(hold.key(), (loss != null) ? loss.reason() : LockLostEvent.Reason.GONE, this.database);
	}

	/**
	 * Set what the database is called where an application has several. By default there
	 * is one.
	 * @param database the name of its transaction manager
	 */
	public void setDatabase(String database) {
		this.database = database;
	}

	/**
	 * Try to take the lock of a hold, without waiting for it.
	 * @return whether it was taken
	 */
	boolean tryLock(Hold hold) {
		SessionCommand.Acquire command = new SessionCommand.Acquire(hold);
		submit(hold, command);
		return command.isGranted();
	}

	/**
	 * Try to take the lock of a tick, without waiting for it.
	 * @param needed whether the run fails without the lock
	 * @return {@link LockOutcome#EXECUTED} if it was taken, else why not
	 */
	LockOutcome tryTick(Hold tick, boolean needed) {
		TickCommand.Acquire command = new TickCommand.Acquire(tick, needed);
		submit(tick, command);
		return command.outcome();
	}

	/**
	 * Turn the exclusive lock of a tick into a shared one.
	 * @return whether that is done; the exclusive one is still held if it is active
	 */
	boolean share(Hold exclusive, Hold shared) {
		TickCommand.Share command = new TickCommand.Share(exclusive, shared);
		call(command);
		return command.isDone();
	}

	private void submit(Hold hold, SessionCommand command) {
		call(command);
		Throwable failure = command.failure();
		if (failure != null) {
			throw translate(hold.key(), failure);
		}
	}

	/**
	 * Release the locks of ticks. Those that are not released stay active.
	 */
	void forget(List<Hold> ticks) {
		if (!ticks.isEmpty()) {
			call(new TickCommand.Release(ticks));
		}
	}

	/**
	 * Release the lock of a hold that nobody else releases.
	 * @throws LockLostException if the lock was lost before, or it turns out that it was
	 * not held any more
	 */
	void unlock(Hold hold) throws LockLostException {
		submitHeld(hold, SessionCommand.Release::new);
	}

	/**
	 * Make sure that the lock of a hold is held, by an answer of the server on the
	 * connection that carries it: nobody else could release it there.
	 * @param hold the hold
	 * @throws LockLostException if it is not held any more
	 */
	public void confirm(Hold hold) throws LockLostException {
		submitHeld(hold, SessionCommand.Confirm::new);
	}

	/**
	 * Find out which locks of transactions are held no more by the processes that took
	 * them. Opens the connection if need be.
	 * @return the holds that are gone
	 * @throws SQLException if that could not be found out
	 */
	List<Hold> findMissing(List<Hold> holds) throws SQLException {
		SessionCommand.FindMissing command = new SessionCommand.FindMissing(holds);
		call(command);
		Throwable failure = command.failure();
		if (failure != null) {
			throw (failure instanceof SQLException ex) ? ex : new SQLException("Failed to ask the server", failure);
		}
		return command.missing();
	}

	private void submitHeld(Hold hold, Function<Hold, SessionCommand> verb) throws LockLostException {
		SessionCommand command = verb.apply(hold);
		call(command);
		Throwable failure = command.failure();
		if (failure != null || (hold.isLost() && hold.loss() == null)) {
			LockLostException lost = new LockLostException(hold.key());
			lost.initCause(failure);
			throw lost;
		}
	}

	/**
	 * Have the holder of a lock give it up when it has held it for a time.
	 * @param maxRun how long that is, from when the lock was taken
	 * @return what takes that back
	 */
	Future<?> limit(Hold hold, Duration maxRun) {
		Hold.Loss loss = new Hold.Loss(LockLostEvent.Reason.MAX_RUN,
				"it was held for longer than 'maxRun' allows, " + maxRun);
		return this.limits.after(maxRun.minus(hold.heldFor()),
				new GuardedTask("Failed to end what lasts too long", () -> end(hold, loss)));
	}

	/**
	 * Tell the holder of a lock to give it up, as if it were lost. What was handed over
	 * to a holder is released; a run has its lock until it ends, and is helped to: it
	 * does not notice an interrupt while it waits for the server.
	 */
	void end(Hold hold, Hold.Loss loss) {
		if (!this.losses.end(hold, loss)) {
			return;
		}
		if (hold.isHandedOver()) {
			later("Failed to release what was held for too long", () -> {
				if (hold.beginRelease()) {
					unlock(hold);
				}
			});
		}
		else if (hold.backend() != 0 && this.settings.whenLost() == LockSessionSettings.WhenLost.INTERRUPT) {
			PostgresAdvisoryLockFunctions.Call call = PostgresAdvisoryLockFunctions.cancelStatement(hold.backend(),
					hold.key());
			later("Failed to cancel the statement of a run that is to end", () -> ask(call.sql(), call.parameters()));
		}
	}

	private void later(String failure, Runnable task) {
		try {
			this.heartbeat.execute(new GuardedTask(failure, task));
		}
		catch (RejectedExecutionException ex) {
			// closed, and with it whatever it has
			logger.debug(failure, ex);
		}
	}

	/**
	 * Set who ends runs that an operator wants to end, wherever that is said.
	 * @param cancelled is told what is to end
	 */
	void setCancelled(Cancelled cancelled) {
		this.cancels = new SessionConnection.Listener(CANCEL_CHANNEL, () -> {
		}, (announcement) -> {
			Matcher parts = CANCEL.matcher(announcement.text());
			if (parts.matches()) {
				Hold.Loss loss = new Hold.Loss(LockLostEvent.Reason.CANCELLED,
						"it was cancelled by " + AdvisoryLockKey.display(parts.group(3)));
				later("Failed to find out what was cancelled",
						() -> cancel(cancelled, parts.group(1), Long.parseLong(parts.group(2)), announcement, loss));
			}
		});
	}

	/**
	 * End what an operator wants to end. Whoever may connect may say that somebody does;
	 * the server knows which role has. What is told late must not reach what has begun
	 * since.
	 */
	private void cancel(Cancelled cancelled, String entry, long epochMillis, SessionConnection.Announcement said,
			Hold.Loss loss) {
		long asked = ticker().nanoTime();
		long now = ask(PostgresAdvisoryLockFunctions.CLOCK_IF_SAID_BY_OUR_ROLE, List.of(said.process()));
		if (now == 0) {
			logger.warn("Did not end a run though that was wanted on channel '" + CANCEL_CHANNEL + "': server process "
					+ said.process() + " has gone, or its role is not a member of ours");
			return;
		}
		cancelled.cancel(entry, Duration.ofMillis(now - epochMillis).plusNanos(ticker().nanoTime() - asked), loss);
	}

	/**
	 * Hear what operators have said. From the first time on the server says it.
	 */
	void hearCancels() {
		SessionConnection.Listener cancels = this.cancels;
		if (cancels != null && this.connection != null) {
			takeTurn(() -> hear(cancels));
		}
	}

	/**
	 * Create a candidate for a lock that a feature takes by statements of its own.
	 * @param key what is to be locked
	 * @param whenLost is run at once when the lock was taken and is lost; must be quick
	 * @return the candidate
	 */
	public Hold candidate(AdvisoryLockKey key, Runnable whenLost) {
		return new Hold.Candidate(key, LockMode.EXCLUSIVE, ticker(), whenLost);
	}

	/**
	 * Try to take the locks of candidates, in one statement with a column for each, which
	 * is {@code null} where the lock was taken. What other applications have announced
	 * before is passed on first.
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
		checkAnswered(command);
		// the server sends what was announced before it answers
		hearNow();
		return command.answers();
	}

	/**
	 * Ask for a number while a lock is held.
	 * @param hold the hold
	 * @param sql the statement, whose first column is the number
	 * @param parameters what it binds
	 * @return the number
	 * @throws DataAccessException if the lock is not held any more, or the server could
	 * not be asked
	 */
	public long ask(Hold hold, String sql, List<Object> parameters) {
		SessionCommand.Ask command = new SessionCommand.Ask(hold,
				new PostgresAdvisoryLockFunctions.Call(sql, parameters));
		call(command);
		checkAnswered(command);
		return command.number();
	}

	/**
	 * Ask for a number, whatever is held.
	 */
	private long ask(String sql, List<Object> parameters) {
		SessionCommand.Query command = new SessionCommand.Query(
				new PostgresAdvisoryLockFunctions.Call(sql, parameters));
		call(command);
		checkAnswered(command);
		return command.number();
	}

	/**
	 * Return how a run reaches the server besides its transaction.
	 */
	Hold.SideConnection sideConnection(Hold hold) {
		return new Hold.SideConnection() {

			@Override
			public long ask(String sql, List<Object> parameters) {
				return (hold.scope() == LockScope.SESSION) ? LockSession.this.ask(hold, sql, parameters)
						: LockSession.this.ask(sql, parameters);
			}

			@Override
			public Connection open() throws SQLException {
				return openAnother();
			}

		};
	}

	private static void checkAnswered(SessionCommand command) {
		if (command.failure() != null) {
			throw new DataAccessResourceFailureException("Failed to ask the server on the connection of session locks",
					command.failure());
		}
	}

	/**
	 * Release the lock of a hold, as far as it is held, and do something else with it.
	 * @param hold the hold
	 * @param column a column for the statement that releases the lock
	 * @param parameters what it binds
	 */
	public void release(Hold hold, String column, List<Object> parameters) {
		call(new SessionCommand.Release(hold,
				PostgresAdvisoryLockFunctions.sessionUnlock(hold.key(), hold.mode()).and(column, parameters)));
		hold.release();
	}

	/**
	 * Tell work that the lock which is held for it is lost: it is marked, and interrupted
	 * unless losses are reported only. Nobody else is told.
	 * @param works the work, wherever it runs; what has ended is left alone
	 */
	public void lose(List<WorkContext> works) {
		this.losses.lose(works.stream().map(WorkContext::hold).toList());
	}

	/**
	 * Listen to what applications announce, from the next statement on. The connection is
	 * not closed any more when it carries nothing.
	 * @param channel on which channel
	 * @param connected is told that a new connection begins to listen: what was announced
	 * before is not known
	 * @param heard is told what was announced, and by which process of the server, by a
	 * thread that uses the connection: must be quick. Any role that may connect may
	 * announce anything; the server tells the process, which nobody can forge
	 */
	public void listen(String channel, Runnable connected, ObjIntConsumer<String> heard) {
		this.listener = new SessionConnection.Listener(channel, connected,
				(announcement) -> heard.accept(announcement.text(), announcement.process()));
	}

	/**
	 * Set whether to look for announcements now and then, which asks nobody. Otherwise
	 * they are passed on by {@link #tryLocks} only. By default nobody looks.
	 * @param listening whether to look
	 */
	public void setListening(boolean listening) {
		if (listening) {
			this.looks.every(LOOK, LOOK, this.look);
		}
		else {
			this.looks.stop();
		}
	}

	/**
	 * A look that shows nothing comes many times a second and must cost nothing.
	 */
	private void look() {
		if (hasInput()) {
			hearNow();
		}
	}

	boolean hasInput() {
		SessionConnection current = this.connection;
		return current != null && current.hasInput();
	}

	/**
	 * Pass on what has arrived.
	 */
	void hearNow() {
		takeTurn(this::hear);
	}

	/**
	 * Return for how long a feature trusts what the server has confirmed.
	 * @return the trust window
	 */
	public TrustWindow trust() {
		return this.trust;
	}

	/**
	 * Set who judges what a connection leads to, each time one is opened. By default
	 * every server is trusted.
	 * @param judge the judge
	 */
	public void setJudge(ServerJudge judge) {
		this.opener.setJudge(judge);
	}

	/**
	 * Return what compares the database of a connection of this session with that of the
	 * pool.
	 * @return a comparison that finds no difference where the pool is not known
	 */
	public ServerJudge.Comparison comparison() {
		return (this.comparison != null) ? this.comparison : ServerJudge.Comparison.NONE;
	}

	/**
	 * Return why no lock can be taken: the reason for which the last attempt to open the
	 * connection has failed. After that, and after a loss, each call has it tried again
	 * in the background. Never waits.
	 * @return {@code null} if the last attempt has succeeded, or none was made
	 */
	public @Nullable String problem() {
		String current = this.opener.problem();
		if ((current != null || this.lost) && !this.closed) {
			reopen();
		}
		return current;
	}

	private void reopen() {
		if (this.reopening.compareAndSet(false, true)) {
			this.heartbeat.execute(new GuardedTask("Failed to open the connection of the session locks", () -> {
				this.reopening.set(false);
				call(new SessionCommand.Open());
			}));
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
		return this.connection != null;
	}

	/**
	 * Let the next attempt to open the connection be made though one has just been
	 * refused.
	 */
	void hurry() {
		this.opener.hurry();
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
	void rest() {
		this.resting = true;
		takeTurn(this::retireUnlessAtWork);
	}

	/**
	 * Keep the connection open again between locks, and take what is to be remembered.
	 */
	void resume() {
		this.resting = false;
	}

	boolean isResting() {
		return this.resting;
	}

	/**
	 * Close the connection; locks that are still held on it are lost.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.opener.close();
		boolean retired = this.thread.submit(new SessionCommand.Turn(this::retire),
				Duration.ofMillis(2L * this.settings.answerTimeoutMillis()));
		if (!retired) {
			logger.warn("The connection of the session locks is still in use, and is closed as soon as it is not");
		}
		this.thread.close();
		this.schedulers.forEach(LockScheduler::close);
		this.losses.close();
	}

	/**
	 * Make a scheduler whose thread goes when this session is closed.
	 * @param name the name of its thread
	 */
	LockScheduler scheduler(String name) {
		LockScheduler scheduler = new LockScheduler(name, this.threads);
		this.schedulers.add(scheduler);
		return scheduler;
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
	 * Return what is to be told of locks that are lost, in either scope.
	 */
	LossNotifier losses() {
		return this.losses;
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
		return this.closed;
	}

	LockSessionSettings settings() {
		return this.settings;
	}

	private void beat() {
		SessionConnection current = this.connection;
		if (current == null) {
			return;
		}
		if (this.resting) {
			rest();
		}
		if (current.carriesLocks()) {
			this.lastLockNanos = ticker().nanoTime();
			call(new SessionCommand.Heartbeat());
			hearCancels();
			compareAgain();
		}
		else if (isIdle()) {
			takeTurn(this::retire);
		}
	}

	private void compareAgain() {
		PoolComparison comparison = this.comparison;
		if (comparison != null) {
			comparison.again((call) -> ask(call.sql(), call.parameters()),
					(difference) -> takeTurn(() -> leave(difference)));
		}
	}

	private void leave(String reason) {
		SessionConnection current = this.connection;
		if (current != null) {
			destroy(current, reason, null);
		}
	}

	/**
	 * Return whether nobody has used the connection for long, nor listens on it.
	 */
	private boolean isIdle() {
		long now = ticker().nanoTime();
		return this.listener == null && this.trust.age(now) > this.idleNanos
				&& now - this.lastLockNanos > this.idleNanos;
	}

	/**
	 * Set for how long a connection that carries nothing is kept. The default is five
	 * minutes.
	 */
	void setIdleTimeout(Duration timeout) {
		this.idleNanos = timeout.toNanos();
	}

	/**
	 * Have the thread of the connection execute a command. What the server says is noted
	 * in that; what goes wrong here is thrown.
	 */
	private void call(SessionCommand command) {
		this.thread.submit(command);
		if (command.failure() instanceof RuntimeException ex) {
			throw ex;
		}
		if (command.failure() instanceof Error error) {
			throw error;
		}
	}

	/**
	 * Have the thread of the connection do something between two commands.
	 */
	private void takeTurn(Runnable action) {
		call(new SessionCommand.Turn(action));
	}

	private void execute(List<SessionCommand> commands) {
		try {
			ask(commands);
		}
		catch (RuntimeException | Error ex) {
			abandon(commands, ex);
			throw ex;
		}
	}

	private void ask(List<SessionCommand> commands) {
		if (this.connection != null && commands.stream().anyMatch(SessionCommand::takesLocks)) {
			follow(this.opener.newAddress());
		}
		boolean reused = this.connection != null;
		List<SessionCommand> asking = asking(commands);
		try {
			if (!asking.isEmpty()) {
				SessionConnection current = this.connection;
				if (current == null) {
					current = open(!asking.stream().allMatch(SessionCommand::isOptional));
				}
				SessionConnection.Listener listener = this.listener;
				if (listener != null) {
					current.listen(listener);
				}
				long sent = ticker().nanoTime();
				String doubt = current.ask(asking);
				this.trust.confirm(sent, ticker().nanoTime());
				if (doubt != null) {
					destroy(current, doubt, null);
				}
			}
		}
		catch (SQLException ex) {
			recover(asking, reused, ex);
		}
		if (asking.size() < commands.size()) {
			commands.forEach(SessionCommand::finish);
		}
	}

	private void follow(@Nullable Object address) {
		if (address != null) {
			leave("the DataSource opens connections to '" + JdbcUrl.redact(address.toString()) + "' now");
		}
	}

	/**
	 * Find the commands that the server has to be asked about.
	 */
	private List<SessionCommand> asking(List<SessionCommand> commands) {
		SessionConnection current = this.connection;
		if (this.closed) {
			if (current != null) {
				end(current, null);
			}
			SQLException failure = new SQLException("The application is shutting down",
					PgDriver.CONNECTION_DOES_NOT_EXIST);
			commands.forEach((command) -> command.fail(failure));
			return List.of();
		}
		List<SessionCommand> asking = new ArrayList<>(commands.size());
		for (SessionCommand command : commands) {
			if (command.needsServer(current)) {
				asking.add(command);
			}
		}
		return asking;
	}

	/**
	 * Nobody knows what the server has been asked and has answered. Whatever it granted
	 * must not stay.
	 */
	private void abandon(List<SessionCommand> commands, Throwable failure) {
		SessionConnection current = this.connection;
		try {
			if (current != null) {
				commands.forEach((command) -> command.abandon(current, failure));
				destroy(current, "what it was asked failed", failure);
			}
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
		finally {
			commands.forEach((command) -> command.failUnanswered(failure));
		}
	}

	private void retire() {
		SessionConnection current = this.connection;
		if (current != null && !current.carriesLocks()) {
			end(current, null);
		}
	}

	private void retireUnlessAtWork() {
		SessionConnection current = this.connection;
		if (current != null && !current.carriesWork()) {
			end(current, null);
		}
	}

	private void hear() {
		SessionConnection.Listener listener = this.listener;
		if (listener != null) {
			hear(listener);
		}
	}

	private void hear(SessionConnection.Listener listener) {
		SessionConnection current = this.connection;
		if (current != null) {
			try {
				current.listen(listener);
				current.hear();
			}
			catch (SQLException ex) {
				destroy(current, "the connection was lost", ex);
			}
		}
	}

	private SessionConnection open(boolean needed) throws SQLException {
		SessionConnection opened = this.opener.open(needed);
		this.connection = opened;
		this.lost = false;
		this.heartbeat.every(this.settings.heartbeat(), this.settings.heartbeat(), this.beat);
		return opened;
	}

	private void recover(List<SessionCommand> commands, boolean reused, SQLException failure) {
		SessionConnection current = this.connection;
		if (current == null) {
			commands.forEach((command) -> command.fail(failure));
		}
		else if (PgDriver.endsConnection(failure)) {
			commands.forEach((command) -> command.abandon(current, failure));
			destroy(current, "the connection was lost", failure);
			if (reused) {
				// nothing can be held on the old connection any more, so asking again is
				// safe
				retry(commands.stream().filter(SessionCommand::outlivesConnection).toList());
			}
		}
		else {
			settle(current, commands, failure);
		}
	}

	/**
	 * The connection is fine, and one of the commands is not: find out what each of them
	 * has done, and send those that did nothing one by one.
	 */
	private void settle(SessionConnection current, List<SessionCommand> commands, SQLException failure) {
		try {
			for (SessionCommand command : commands) {
				command.settle(current, failure);
			}
			current.releaseSurplus();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
			commands.forEach((command) -> command.abandon(current, failure));
			destroy(current, "it is not known which locks it holds", failure);
			return;
		}
		if (commands.size() > 1) {
			commands.stream()
				.filter((command) -> command.failure() != null)
				.forEach((command) -> retry(List.of(command)));
		}
		else if (current.doubt() != null) {
			destroy(current, current.doubt(), null);
		}
	}

	private void retry(List<SessionCommand> commands) {
		if (!commands.isEmpty()) {
			execute(commands);
		}
	}

	private void destroy(SessionConnection current, String reason, @Nullable Throwable cause) {
		boolean matters = current.carriesWork();
		end(current, cause);
		this.lost = true;
		if (matters) {
			logger.warn("Destroyed the connection of the session locks because " + reason, cause);
		}
	}

	private void end(SessionConnection current, @Nullable Throwable cause) {
		this.connection = null;
		this.losses.lost(current.end(cause));
	}

	private DataAccessException translate(AdvisoryLockKey key, Throwable ex) {
		String task = "Failed to acquire advisory lock '" + key + "'";
		DataAccessException translated = (ex instanceof SQLException failure)
				? this.exceptionTranslator.translate(task, null, failure) : null;
		return (translated != null) ? translated : new DataAccessResourceFailureException(task, ex);
	}

	/**
	 * Ends runs that an operator wants to end.
	 */
	interface Cancelled {

		/**
		 * End the runs of a key.
		 * @param entry the key, as the lock table of the server has it
		 * @param since how long ago that was said: what has begun since is another run
		 * @param loss why
		 */
		void cancel(String entry, Duration since, Hold.Loss loss);

	}

	/**
	 * For how long what a server has confirmed is trusted: counted from before the
	 * question that it has answered last. Answers are noted one after the other; any
	 * thread may read.
	 */
	public static final class TrustWindow {

		private final Duration length;

		private final long nanos;

		private final LockScheduler.Ticker ticker;

		/**
		 * Written before the time of the confirmation that begins it.
		 */
		private volatile long unbrokenSince;

		private volatile long confirmed;

		/**
		 * Create a window in which nothing was confirmed yet.
		 * @param length how long it is
		 * @param ticker tells how much of it is left
		 */
		TrustWindow(Duration length, LockScheduler.Ticker ticker) {
			this.length = length;
			this.ticker = ticker;
			this.nanos = length.toNanos();
		}

		/**
		 * Note that the server has answered.
		 * @param asked when it was asked, as {@link System#nanoTime()} tells
		 * @param answered when the answer came
		 */
		void confirm(long asked, long answered) {
			if (answered - this.confirmed >= this.nanos) {
				this.unbrokenSince = asked;
			}
			this.confirmed = asked;
		}

		/**
		 * Return how long the window is.
		 * @return the length
		 */
		public Duration length() {
			return this.length;
		}

		/**
		 * Return when the confirmations of the server began to come each within the
		 * window of the one before.
		 * @return what {@link #left} expects
		 */
		public long unbrokenSince() {
			return this.unbrokenSince;
		}

		/**
		 * Return for how long what was held at a time can be trusted to be held still,
		 * unless it turns out to be lost.
		 * @param since the time, as of {@link #unbrokenSince()}
		 * @return nanoseconds, none left if there was a gap since
		 */
		public long left(long since) {
			long last = this.confirmed;
			return (this.unbrokenSince == since) ? last + this.nanos - this.ticker.nanoTime() : 0;
		}

		/**
		 * Return for how long nothing was confirmed.
		 * @param now the time
		 * @return nanoseconds
		 */
		long age(long now) {
			return now - this.confirmed;
		}

	}

}
