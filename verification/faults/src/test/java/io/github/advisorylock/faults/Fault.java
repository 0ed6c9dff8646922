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

package io.github.advisorylock.faults;

/**
 * Something that goes wrong, and is put right again.
 */
enum Fault {

	/**
	 * An instance is gone without a word, and another one is started in its place.
	 */
	KILLED_INSTANCE("`kill -9` of an instance", "its runs are done again by others", Locks.NONE, 0) {

		@Override
		void inject(Fleet fleet) {
			fleet.killVictim();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.startInstances();
		}

	},

	/**
	 * An instance stands still for a while, with its clock and its connections.
	 */
	FROZEN_INSTANCE("`SIGSTOP`, 4 s, `SIGCONT`", "it keeps its locks, and others wait", Locks.NONE, 4) {

		@Override
		void inject(Fleet fleet) {
			fleet.victim().signal("STOP");
		}

		@Override
		void heal(Fleet fleet) {
			fleet.victim().signal("CONT");
		}

	},

	/**
	 * The runs of an instance are interrupted.
	 */
	INTERRUPTS("interrupts of all runs of an instance, on platform threads", "they fail and are done again", Locks.NONE,
			0) {

		@Override
		void inject(Fleet fleet) {
			fleet.victim().interrupt();
		}

	},

	/**
	 * The runs of an instance are interrupted, and their threads are virtual: those that
	 * read from a socket have it closed.
	 */
	INTERRUPTS_OF_VIRTUAL_THREADS("the same, on virtual threads", "they fail and are done again", Locks.OF_TRANSACTIONS,
			0) {

		@Override
		void inject(Fleet fleet) {
			fleet.victim().interrupt();
		}

	},

	/**
	 * The connections that hold session locks are ended by the server.
	 */
	TERMINATED_SESSIONS("`pg_terminate_backend` of the lock sessions", "runs are told, and done again",
			Locks.OF_SESSIONS, 0) {

		@Override
		void inject(Fleet fleet) {
			fleet.database()
				.execute(
						"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'al:faults@%'");
		}

	},

	/**
	 * All connections are ended by the server.
	 */
	TERMINATED_BACKENDS("`pg_terminate_backend` of all connections", "runs are told, and done again", Locks.ALL, 0) {

		@Override
		void inject(Fleet fleet) {
			fleet.database()
				.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
						+ "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
		}

	},

	/**
	 * The server is stopped and started.
	 */
	RESTARTED_SERVER("restart of the server", "runs fail, and are done again", Locks.ALL, 1) {

		@Override
		void inject(Fleet fleet) {
			fleet.server().stop();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.server().start();
		}

	},

	/**
	 * The server's first process is killed.
	 */
	KILLED_SERVER("`kill -9` of the postmaster", "runs fail, and are done again", Locks.ALL, 1) {

		@Override
		void inject(Fleet fleet) {
			fleet.server().kill();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.server().start();
		}

	},

	/**
	 * The pooler before one of the instances is killed and started.
	 */
	RESTARTED_POOLER("`kill -9` of PgBouncer, and restart", "runs behind it fail, and are done again",
			Locks.OF_TRANSACTIONS, 0) {

		@Override
		void inject(Fleet fleet) {
			fleet.pooler().restart();
		}

	},

	/**
	 * The pooler of the lock sessions, which does not reset, is killed and started.
	 */
	RESTARTED_SESSION_POOLER("the same of the one that does not reset", "runs are told, and done again",
			Locks.OF_SESSIONS, 0) {

		@Override
		void inject(Fleet fleet) {
			fleet.sessionPooler().restart();
		}

	},

	/**
	 * The cable of an instance is cut.
	 */
	CUT_NETWORK("network cut both ways, 13 s", "the server gives its locks up; runs are told", Locks.ALL, 13) {

		@Override
		void inject(Fleet fleet) {
			fleet.network().cut("INPUT", "OUTPUT");
		}

		@Override
		void heal(Fleet fleet) {
			fleet.network().mend();
		}

	},

	/**
	 * Nothing reaches an instance.
	 */
	CUT_IN("network cut towards the instance, 13 s", "as above", Locks.ALL, 13) {

		@Override
		void inject(Fleet fleet) {
			fleet.network().cut("INPUT");
		}

		@Override
		void heal(Fleet fleet) {
			fleet.network().mend();
		}

	},

	/**
	 * Nothing that an instance says reaches anybody.
	 */
	CUT_OUT("network cut towards the server, 13 s", "as above", Locks.ALL, 13) {

		@Override
		void inject(Fleet fleet) {
			fleet.network().cut("OUTPUT");
		}

		@Override
		void heal(Fleet fleet) {
			fleet.network().mend();
		}

	},

	/**
	 * No byte more can be written where the server has its data.
	 */
	FULL_DISK("disk of the server full, 3 s", "runs fail, and are done again", Locks.ALL, 3) {

		@Override
		void inject(Fleet fleet) {
			fleet.disk().fill();
			fleet.database().usePagesUp();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.disk().free();
			fleet.startServerIfDown();
		}

	},

	/**
	 * The server has no room for another lock: statements fail, and end the transaction
	 * that they are in.
	 */
	FULL_LOCK_TABLE("lock table of the server full but for moments, 3 s", "runs fail, and are done again",
			Locks.OF_TRANSACTIONS, 3) {

		@Override
		void inject(Fleet fleet) {
			fleet.intruder().takeAllLocks();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.intruder().leave();
		}

	},

	/**
	 * Others have taken all connections of the server.
	 */
	NO_CONNECTION_LEFT("all connections ended, and taken by others for 3 s", "runs fail, and are done again", Locks.ALL,
			3) {

		@Override
		void inject(Fleet fleet) {
			fleet.intruder().takeAllConnections();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.intruder().leave();
		}

	},

	/**
	 * An instance comes up with a clock that is ahead.
	 */
	CLOCK_AHEAD("an instance comes up whose clock is 25 s ahead, and leaves", "no recorded tick runs twice", Locks.NONE,
			3) {

		@Override
		void inject(Fleet fleet) {
			fleet.startGuest(25);
		}

		@Override
		void heal(Fleet fleet) {
			fleet.stopGuest();
		}

	},

	/**
	 * An instance comes up with a clock that is behind.
	 */
	CLOCK_BEHIND("an instance comes up whose clock is 25 s behind, and leaves", "no recorded tick runs twice",
			Locks.NONE, 3) {

		@Override
		void inject(Fleet fleet) {
			fleet.startGuest(-25);
		}

		@Override
		void heal(Fleet fleet) {
			fleet.stopGuest();
		}

	},

	/**
	 * The clock of an instance at work is set ahead, and right again.
	 */
	CLOCK_SET_AHEAD("clock of an instance set 25 s ahead for 3 s, and back", "no recorded tick runs twice", Locks.NONE,
			3) {

		@Override
		void inject(Fleet fleet) {
			fleet.setClock(25);
		}

		@Override
		void heal(Fleet fleet) {
			fleet.setClock(0);
		}

	},

	/**
	 * The clock of an instance at work is set back, and right again.
	 */
	CLOCK_SET_BACK("clock of an instance set 25 s back for 3 s, and ahead again", "no recorded tick runs twice",
			Locks.NONE, 3) {

		@Override
		void inject(Fleet fleet) {
			fleet.setClock(-25);
		}

		@Override
		void heal(Fleet fleet) {
			fleet.setClock(0);
		}

	},

	/**
	 * The server is gone, and its standby, which has not received everything, takes over.
	 */
	LAGGING_STANDBY("standby that lags by 2 s is promoted, primary killed",
			"what was not replicated is lost; tokens and terms rise", Locks.ALL, 2) {

		@Override
		void inject(Fleet fleet) {
			fleet.holdBackReplication();
		}

		@Override
		void heal(Fleet fleet) {
			fleet.promoteStandby();
		}

		@Override
		boolean losesCommits() {
			return true;
		}

	};

	private final String title;

	private final String expected;

	private final Locks ends;

	private final int seconds;

	Fault(String title, String expected, Locks ends, int seconds) {
		this.title = title;
		this.expected = expected;
		this.ends = ends;
		this.seconds = seconds;
	}

	/**
	 * Make it happen.
	 */
	abstract void inject(Fleet fleet);

	/**
	 * Put it right.
	 */
	void heal(Fleet fleet) {
	}

	/**
	 * Return for how many milliseconds after its end calls may come that were planned by
	 * a wrong clock: until the next tick of the job whose ticks are remembered.
	 */
	long plansAhead() {
		return (this == CLOCK_SET_AHEAD || this == CLOCK_SET_BACK) ? 3_500 : 0;
	}

	/**
	 * Return how late a timer may go off that an instance has set meanwhile, by its
	 * clock: Spring computes the delay of the next call by it.
	 */
	long delaysTimers() {
		return (this == CLOCK_SET_BACK) ? 25_000 : 0;
	}

	/**
	 * Return the place of the instance that it happens to, or what stands for several.
	 */
	int place(Fleet fleet) {
		return switch (this) {
			case KILLED_INSTANCE, FROZEN_INSTANCE, INTERRUPTS, INTERRUPTS_OF_VIRTUAL_THREADS, CLOCK_SET_AHEAD,
					CLOCK_SET_BACK ->
				fleet.turn();
			case CUT_NETWORK, CUT_IN, CUT_OUT -> Fleet.CABLE;
			case RESTARTED_POOLER -> Fleet.POOLER;
			case RESTARTED_SESSION_POOLER -> Fleet.POOLED_SESSIONS;
			case CLOCK_AHEAD, CLOCK_BEHIND -> Fleet.GUEST;
			default -> Fleet.ALL;
		};
	}

	/**
	 * Return whether it can happen to a fleet.
	 */
	boolean isMeantFor(Setup setup) {
		return switch (this) {
			case INTERRUPTS -> !setup.jvm().virtual();
			case INTERRUPTS_OF_VIRTUAL_THREADS -> setup.jvm().virtual();
			case RESTARTED_SESSION_POOLER -> setup.withoutReset();
			default -> true;
		};
	}

	/**
	 * Return whether runs that it meets can't succeed.
	 */
	boolean failsRuns() {
		return switch (this) {
			case FROZEN_INSTANCE, CLOCK_AHEAD, CLOCK_BEHIND, CLOCK_SET_AHEAD, CLOCK_SET_BACK -> false;
			default -> true;
		};
	}

	/**
	 * Return whether a run of a key shows what it does: one that is to be executed once
	 * and, where the fault ends locks, has one of these.
	 */
	boolean isShownBy(String key) {
		return key.contains(":") && (this.ends == Locks.NONE || endsLockOf(key));
	}

	String title() {
		return this.title;
	}

	String expected() {
		return this.expected;
	}

	/**
	 * Return whether the lock of a key ends while its holder lives. A leader's does, too,
	 * but that is no excuse for a leader.
	 */
	boolean endsLockOf(String key) {
		return switch (this.ends) {
			case NONE -> false;
			case OF_SESSIONS -> !Job.isInTransaction(key);
			case OF_TRANSACTIONS -> Job.isInTransaction(key);
			case ALL -> true;
		};
	}

	/**
	 * Return whether lock sessions end, so that nothing can be remembered for a moment.
	 */
	boolean endsSessions() {
		return this.ends == Locks.OF_SESSIONS || this.ends == Locks.ALL;
	}

	/**
	 * Return whether what was committed may be lost.
	 */
	boolean losesCommits() {
		return false;
	}

	/**
	 * Return whether members may be counted wrongly for this.
	 */
	boolean changesMembers() {
		return switch (this) {
			case KILLED_INSTANCE, FROZEN_INSTANCE, FULL_LOCK_TABLE -> true;
			default -> endsSessions();
		};
	}

	/**
	 * Return for how many seconds it lasts.
	 */
	int seconds() {
		return this.seconds;
	}

	/**
	 * The locks that end with their connections, or transactions.
	 */
	private enum Locks {

		NONE, OF_SESSIONS, OF_TRANSACTIONS, ALL

	}

}
