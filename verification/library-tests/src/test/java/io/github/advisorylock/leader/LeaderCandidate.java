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
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import javax.sql.DataSource;

import io.github.advisorylock.AdvisoryLockKeyFactory;
import io.github.advisorylock.LockContext;
import io.github.advisorylock.jdbc.LockSession;
import io.github.advisorylock.jdbc.LockSessionSettings;
import io.github.advisorylock.jdbc.LockSessionSettings.WhenLost;
import io.github.advisorylock.jdbc.server.ServerJudge;
import io.github.advisorylock.jdbc.thread.LockScheduler;
import io.github.advisorylock.testsupport.TestPostgres;
import org.awaitility.Awaitility;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One instance of an application that takes part in elections.
 */
final class LeaderCandidate implements AutoCloseable {

	static final String ROLE = "reports";

	/**
	 * A trust window of 300 ms.
	 */
	static final LockSessionSettings SETTINGS = new LockSessionSettings(Duration.ofMillis(100), Duration.ofMillis(600),
			WhenLost.REPORT);

	private static final AtomicInteger number = new AtomicInteger();

	private final String application = "candidate-" + number.incrementAndGet();

	private final List<Object> events = new CopyOnWriteArrayList<>();

	private final LockSession session;

	private final PostgresLeaderElection election;

	LeaderCandidate() {
		this(TestPostgres.url());
	}

	LeaderCandidate(String url) {
		this(url, SETTINGS);
	}

	LeaderCandidate(String url, LockSessionSettings settings) {
		this(new DriverManagerDataSource(url), settings);
	}

	LeaderCandidate(DataSource dataSource, LockSessionSettings settings) {
		this(dataSource, settings, LockScheduler.Threads.ofCurrent());
	}

	LeaderCandidate(DataSource dataSource, LockSessionSettings settings, LockScheduler.Threads threads) {
		this(dataSource, settings, threads, 0);
	}

	LeaderCandidate(DataSource dataSource, LockSessionSettings settings, LockScheduler.Threads threads,
			long termsAbove) {
		this.session = new LockSession(() -> dataSource, this.application, null, settings, ServerJudge.NONE, (lost) -> {
		}, threads);
		this.election = new PostgresLeaderElection(this.session, "tests", AdvisoryLockKeyFactory.sha256(), termsAbove,
				(event) -> {
					this.events.add(event);
					if (this.events.size() == 1) {
						throw new IllegalStateException("expected");
					}
				});
		this.election.isLeader(ROLE);
		this.election.start();
	}

	/**
	 * Return the candidate that leads, the last one if more than one does. Two have
	 * believed at once if one did before and after the other did.
	 * @param whenTwo is run for each that believes at the same time as the one before
	 */
	static LeaderCandidate findLeader(List<LeaderCandidate> candidates, Runnable whenTwo) {
		LeaderCandidate found = null;
		for (LeaderCandidate candidate : candidates) {
			if (candidate.isLeader()) {
				if (found != null && found.isLeader()) {
					whenTwo.run();
				}
				found = candidate;
			}
		}
		return found;
	}

	boolean isLeader() {
		return this.election.isLeader(ROLE);
	}

	PostgresLeaderElection election() {
		return this.election;
	}

	LockSession session() {
		return this.session;
	}

	/**
	 * Have the server confirm the session now.
	 */
	void confirm() {
		LeaderOnlyGate.Work work = this.election.beginWork(ROLE);
		assertThat(work).as("the work of a leader").isNotNull();
		LockContext.current().orElseThrow().checkHeld();
		work.complete();
	}

	List<Object> events() {
		return this.events;
	}

	/**
	 * Return whether this candidate has heard at least once that it can't lead.
	 */
	boolean isFollowing() {
		return !TestPostgres
			.query("SELECT pid FROM pg_stat_activity WHERE state = 'idle' AND query LIKE '%try_advisory_lock%' "
					+ "AND application_name LIKE 'al:" + this.application + "@%'")
			.isEmpty();
	}

	/**
	 * Take a step, over and over, until something is reached.
	 */
	static void awaitWhile(Runnable step, BooleanSupplier reached) {
		Awaitility.await().pollInSameThread().pollInterval(Duration.ofMillis(1)).until(() -> {
			boolean done = reached.getAsBoolean();
			if (!done) {
				step.run();
			}
			return done;
		});
	}

	/**
	 * Have the server end the session of this candidate.
	 */
	void terminate() {
		TestPostgres.terminate(this.application);
	}

	/**
	 * Stop in order.
	 */
	@Override
	public void close() {
		this.election.stop();
		this.session.close();
	}

}
