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

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.server.UnsupportedDatabaseException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what a connection of session locks leads to: at start-up, on connections that
 * are opened as that of the lock session is, and each time the lock session is opened.
 * Costs one round trip, and a second connection only where there is a pooler.
 */
final class SessionExamination {

	private static final Log logger = LogFactory.getLog(SessionExamination.class);

	private static final List<String> APPLICATION = List.of("spring.datasource.url", "spring.datasource.username",
			"spring.datasource.password");

	private SessionExamination() {
	}

	/**
	 * Look at it, as far as it matters to the application.
	 */
	static void examine(CheckContext context, Findings findings) {
		LockSession session = context.session();
		if (session != null && (context.usesSession() || context.mayUseSession())) {
			List<String> properties = context.sessionProperties().isEmpty() ? APPLICATION : context.sessionProperties();
			examine(session, properties, context, findings);
		}
		else if (session == null) {
			forgetsTicks("No URL is known to connect to for a session of the library's own", context, findings);
		}
		else if (context.remembersTicks() && !context.sessionProperties().isEmpty()) {
			examineMemory(session, context, findings);
		}
	}

	/**
	 * Note that ticks and intervals can't be remembered, if they are to be where a
	 * session is not needed otherwise.
	 */
	static void forgetsTicks(String problem, CheckContext context, Findings findings) {
		if (context.remembersTicks() && !context.usesSession()) {
			findings.found(DoctorCheck.TICK_MEMORY, problem
					+ ", and no session can remember for which ticks and intervals methods were run, nor spread calls "
					+ "over the members: an instance that is called later than the job is long runs it a second time",
					"set 'advisory-lock.session.url' to a URL that leads straight to the server, or use a table (set "
							+ "'once' to PER_TICK for a cron schedule, and 'minInterval' for a rate or a delay), or set "
							+ "'advisory-lock.remember-ticks' to 0");
		}
	}

	/**
	 * A session that does nothing but remember is looked at where it has an address of
	 * its own: what is wrong there does not keep the application from starting.
	 */
	private static void examineMemory(LockSession session, CheckContext context, Findings findings) {
		try (Connection connection = session.openAnother()) {
			Finding finding = look(connection, session::openAnother, session.comparison(),
					context.sessionProperties().get(0))
				.finding();
			if (finding != null) {
				forgetsTicks(finding.problem(), context, findings);
			}
		}
		catch (SQLException ex) {
			logger.debug("The lock session could not be examined", ex);
			forgetsTicks("The connection of '" + context.sessionProperties().get(0) + "' can't be opened ("
					+ JdbcUrl.redact(String.valueOf(ex.getMessage())) + ")", context, findings);
		}
	}

	/**
	 * Look at what a connection leads to. Where only code knows whether there are session
	 * locks, a pooler that refuses them may be there for an application that has none.
	 */
	private static void examine(LockSession session, List<String> properties, CheckContext context, Findings findings) {
		try (Connection connection = session.openAnother()) {
			Verdict server = look(connection, session::openAnother, session.comparison(), properties.get(0));
			Finding finding = server.finding();
			if (finding != null && finding.check() == DoctorCheck.TRANSACTION_POOLER && !context.usesSession()) {
				findings.seen("a pooler that refuses session locks");
				if (!context.sessionProperties().isEmpty()) {
					forgetsTicks(finding.problem(), context, findings);
				}
			}
			else if (finding != null) {
				findings.found(finding);
				session.failed(new UnsupportedDatabaseException(finding.problem()));
			}
			else {
				checkDriver(connection, properties, findings);
				findings.seen(server.pooler() ? "session locks through a pooler that keeps sessions"
						: "session locks straight to the server");
				session.otherMembers(connection)
					.ifPresent(
							(others) -> findings.seen(others + ((others == 1) ? " other member" : " other members")));
			}
		}
		catch (SQLException ex) {
			logger.debug("The lock session could not be examined", ex);
			findings.found(refusal(ex, properties));
			session.failed(ex);
		}
	}

	private static void checkDriver(Connection connection, List<String> properties, Findings findings) {
		if (!DriverAnswers.isOwnerOf(connection)) {
			findings
				.found(DoctorCheck.FOREIGN_DRIVER, "The driver of the connection of the session locks can't be asked ("
						+ connection.getClass().getName()
						+ "), so that this instance does not hear that an operator cancels a run, or that a leader resigns",
						"set '" + properties.get(0) + "' to a URL that the application's own PostgreSQL driver opens");
		}
	}

	/**
	 * What the configuration is to blame for does not go away by waiting.
	 */
	private static Finding refusal(SQLException ex, List<String> properties) {
		String message = JdbcUrl.redact(String.valueOf(ex.getMessage()));
		if (isLoginRefused(ex)) {
			return new Finding(DoctorCheck.SESSION_LOGIN,
					"The connection of the session locks is refused (" + message + ")",
					"correct '" + String.join("', '", properties) + "'");
		}
		return new Finding(DoctorCheck.UNREACHABLE,
				"The server of the session locks can't be examined, methods of scope SESSION will fail until it is there ("
						+ message + ")",
				"check '" + properties.get(0) + "' if that does not change");
	}

	/**
	 * Return whether a server refuses a connection because of what it was told: wrong
	 * user or password, or a database that does not exist.
	 */
	private static boolean isLoginRefused(SQLException ex) {
		String state = ex.getSQLState();
		return state != null && (state.startsWith("28") || state.equals("3D000"));
	}

	/**
	 * Return a judge that refuses each server on which session locks guard nothing.
	 */
	static ServerJudge judge(Collection<DoctorCheck> switchedOff) {
		Set<DoctorCheck> tolerated = EnumSet.of(DoctorCheck.LOOK_ALIKE, DoctorCheck.TRANSACTION_POOLER);
		tolerated.retainAll(switchedOff);
		boolean compares = !switchedOff.contains(DoctorCheck.SESSION_DATABASE);
		return (connection, another, comparison) -> {
			Finding finding = look(connection, another, compares ? comparison : ServerJudge.Comparison.NONE,
					"advisory-lock.session.url")
				.finding();
			if (finding != null && !tolerated.contains(finding.check())) {
				throw new UnsupportedDatabaseException(finding.problem() + "; " + finding.action());
			}
		};
	}

	/**
	 * Look at a connection, whose statements must be transactions of their own. Where the
	 * driver does not tell who has greeted it, there may be a pooler.
	 * @param another opens another one of the same kind
	 * @param comparison compares its database with that of transactions
	 * @param property the property that leads to the server
	 */
	private static Verdict look(Connection connection, ServerJudge.Opening another, ServerJudge.Comparison comparison,
			String property) throws SQLException {
		Verdict server = look(connection, another, property);
		String difference = (server.finding() == null) ? comparison.difference(connection) : null;
		return (difference != null) ? new Verdict(elsewhere(difference, property), server.pooler()) : server;
	}

	private static Finding elsewhere(String difference, String property) {
		return new Finding(DoctorCheck.SESSION_DATABASE, difference,
				"set '" + property + "' to a URL that leads to the database of that DataSource, or "
						+ "'advisory-lock.transaction-manager' to a transaction manager of the database of the locks");
	}

	private static Verdict look(Connection connection, ServerJudge.Opening another, String property)
			throws SQLException {
		PostgresServer server = PostgresServer.ask(connection);
		Finding unsuitable = server.finding("The server of the session locks", property);
		boolean told = DriverAnswers.isOwnerOf(connection);
		if (unsuitable != null || (told && !server.isBehindPooler(connection))) {
			return new Verdict(unsuitable, false);
		}
		try (Connection second = another.open()) {
			Pooler pooler = Pooler.between(connection, second);
			if (pooler.sharesServers()) {
				return new Verdict(sharedServers(pooler), told);
			}
			return new Verdict((Pooler.after(second, another) == Pooler.NO_RESET) ? leftovers() : null, told);
		}
	}

	private static Finding sharedServers(Pooler pooler) {
		return new Finding(DoctorCheck.TRANSACTION_POOLER,
				"A " + pooler.text() + " stands between the lock session and the server, and session locks taken "
						+ "through it guard nothing, because each statement may reach another server process",
				"set 'advisory-lock.session.url' to a URL that leads straight to the server"
						+ ((pooler == Pooler.TRANSACTION_MODE) ? ", or use 'scope' TRANSACTION; locks that were taken "
								+ "before the pooler's mode was changed stay in its server processes until it ends them "
								+ "(PgBouncer: RECONNECT)" : ""));
	}

	private static Finding leftovers() {
		return new Finding(DoctorCheck.TRANSACTION_POOLER,
				"The pooler between the lock session and the server hands on what a client has left in a server process, "
						+ "and so the locks of an instance that was killed would stay",
				"have it reset what it hands on (PgBouncer: 'server_reset_query = DISCARD ALL'), or set "
						+ "'advisory-lock.session.url' to a URL that leads straight to the server");
	}

	/**
	 * What was seen of a server.
	 *
	 * @param finding why session locks guard nothing there, or {@code null}
	 * @param pooler whether there is a pooler in between
	 */
	private record Verdict(@Nullable Finding finding, boolean pooler) {

	}

}
