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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.advisorylock.testsupport.TestPgBouncer;
import io.github.advisorylock.testsupport.TestServer;
import io.github.advisorylock.testsupport.WrongClock;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Three instances on a server of their own: one behind a cable, one behind a pooler, one
 * beside the server; or three on a server that has a standby.
 */
final class Fleet implements AutoCloseable {

	/**
	 * The time between two ticks of a job.
	 */
	static final Duration PERIOD = Duration.ofSeconds(2);

	/**
	 * The place of the instance whose cable can be cut.
	 */
	static final int CABLE = 0;

	/**
	 * The place of the instance behind the pooler.
	 */
	static final int POOLER = 1;

	/**
	 * The place of the instance with the next version of the application. Nobody drains
	 * it.
	 */
	static final int NEXT_VERSION = CABLE;

	/**
	 * The place of an instance that comes up with a wrong clock, beside the others.
	 */
	static final int GUEST = 3;

	/**
	 * Stands for all places.
	 */
	static final int ALL = -1;

	/**
	 * Stands for the places of the instances whose lock sessions go through a pooler that
	 * does not reset, where there is one: all but those at the cable.
	 */
	static final int POOLED_SESSIONS = -2;

	/**
	 * How many places there are without the guest's.
	 */
	static final int SIZE = GUEST;

	private static final AtomicInteger FLEETS = new AtomicInteger();

	/**
	 * What an instance has left when it was killed goes with its server process, if no
	 * lock session happens to be opened there.
	 */
	private static final String NO_RESET = """
			server_reset_query =
			server_idle_timeout = 15
			default_pool_size = 12
			""";

	/**
	 * Until an instance has got work.
	 */
	private static final Duration WORK = Duration.ofSeconds(60);

	private final Setup setup;

	private final Path directory;

	private final Class<? extends Contestant> contestant;

	private final @Nullable Disk disk;

	private final @Nullable Network network;

	private final @Nullable TestPgBouncer pooler;

	/**
	 * The pooler for lock sessions, which does not reset.
	 */
	private final @Nullable TestPgBouncer sessionPooler;

	private final @Nullable TestServer standby;

	private final TestServer server;

	private final Database database;

	private final Intruder intruder;

	private final List<InstanceProcess> all = new ArrayList<>();

	private final @Nullable InstanceProcess[] instances = new InstanceProcess[SIZE];

	private final @Nullable SettableClock[] clocks = new SettableClock[SIZE];

	private @Nullable InstanceProcess guest;

	private @Nullable String sender;

	private int turn;

	private int started;

	Fleet(Setup setup, Path directory, Class<? extends Contestant> contestant, boolean withStandby) throws IOException {
		int number = FLEETS.incrementAndGet();
		this.setup = setup;
		this.directory = Files.createDirectories(directory);
		this.contestant = contestant;
		this.disk = (!withStandby && Disk.isPossible()) ? new Disk(directory.resolve("disk")) : null;
		this.network = (!withStandby && Network.isPossible()) ? new Network(number) : null;
		Path data = Files.createDirectories(directory.resolve("disk")).resolve("data");
		if (withStandby) {
			this.server = TestServer.start(data, Map.of());
			this.standby = this.server.startStandby(directory.resolve("standby"));
			this.pooler = null;
			this.sessionPooler = null;
			this.database = new Database(this.server.url());
		}
		else {
			this.server = TestServer.start(data,
					Map.of("max_connections", "50", "max_locks_per_transaction", "10", "max_wal_size", "64MB",
							"min_wal_size", "32MB", "listen_addresses",
							(this.network != null) ? "127.0.0.1," + this.network.host() : "127.0.0.1"));
			this.standby = null;
			Files.writeString(data.resolve("pg_hba.conf"), "host all all 10.0.0.0/8 trust\n",
					StandardOpenOption.APPEND);
			this.database = new Database(this.server.url());
			this.database.execute("SELECT pg_reload_conf()");
			this.pooler = isPoolerPossible() ? TestPgBouncer.start(this.server, "transaction", directory) : null;
			this.sessionPooler = (isPoolerPossible() && setup.withoutReset())
					? TestPgBouncer.start(this.server, "session", NO_RESET, directory) : null;
		}
		if (setup.partitioned()) {
			this.database.partitionCompletions();
		}
		this.intruder = new Intruder(this.server.url());
	}

	static boolean isPoolerPossible() {
		return Command.works("command -v pgbouncer");
	}

	/**
	 * Return whether this machine lets us do such a thing.
	 */
	static boolean isPossible(Fault fault) {
		return switch (fault) {
			case CUT_NETWORK, CUT_IN, CUT_OUT -> Network.isPossible();
			case FULL_DISK -> Disk.isPossible();
			case RESTARTED_POOLER, RESTARTED_SESSION_POOLER -> isPoolerPossible();
			case CLOCK_SET_AHEAD, CLOCK_SET_BACK -> SettableClock.isPossible();
			case INTERRUPTS_OF_VIRTUAL_THREADS -> Jvm.withVirtualThreads().isPresent();
			case CLOCK_AHEAD, CLOCK_BEHIND -> Command.works("ls /usr/lib/*/faketime/libfaketimeMT.so.1");
			default -> true;
		};
	}

	/**
	 * Start those that are not there, and wait until they are.
	 */
	void startInstances() {
		List<InstanceProcess> starting = new ArrayList<>();
		for (int i = 0; i < SIZE; i++) {
			if (this.instances[i] == null) {
				InstanceProcess instance = start(i, environment(i));
				this.instances[i] = instance;
				starting.add(instance);
			}
		}
		starting.forEach(InstanceProcess::awaitStart);
	}

	/**
	 * Give an instance a clock that can be set, where there is one.
	 */
	private Map<String, String> environment(int place) {
		if (!SettableClock.isPossible()) {
			return Map.of();
		}
		SettableClock clock = new SettableClock(this.directory, "i" + place);
		this.clocks[place] = clock;
		return clock.environment();
	}

	private InstanceProcess start(int place, Map<String, String> environment) {
		String url = this.server.url();
		List<String> prefix = List.of();
		List<String> options = new ArrayList<>();
		if (this.standby != null) {
			url = url.replace("/postgres?",
					",127.0.0.1:" + this.standby.port() + "/postgres?targetServerType=primary&");
		}
		if (place == CABLE && this.network != null) {
			prefix = this.network.prefix();
			url = url.replace("127.0.0.1", this.network.host());
		}
		if (this.sessionPooler != null && isAt(POOLED_SESSIONS, name(place))) {
			// The library refuses such a pooler unless told not to
			options.add("-Dadvisory-lock.doctor.transaction-pooler=off");
			options.add("-Dadvisory-lock.session.url=" + this.sessionPooler.url());
		}
		else if (place == POOLER && this.pooler != null) {
			options.add("-Dadvisory-lock.session.url=" + url);
		}
		if (place == NEXT_VERSION) {
			options.add("-Dspring.profiles.active=" + VersionedWork.NEXT);
		}
		if (place == POOLER && this.pooler != null) {
			url = this.pooler.url() + "&prepareThreshold=0";
		}
		InstanceProcess instance = new InstanceProcess(this.setup.jvm(), this.directory, this.contestant,
				new ContestantSettings(url + "&connectTimeout=3&socketTimeout=8", "postgres", "postgres",
						name(place) + ++this.started, PERIOD),
				Duration.ofMillis(600), prefix, environment, options);
		this.all.add(instance);
		return instance;
	}

	/**
	 * Have the next fault happen to another one.
	 */
	void nextTurn() {
		this.turn++;
	}

	/**
	 * Return the place of the instance whose turn it is.
	 */
	int turn() {
		return this.turn % SIZE;
	}

	/**
	 * Return the instance whose turn it is.
	 */
	InstanceProcess victim() {
		return Objects.requireNonNull(this.instances[turn()]);
	}

	/**
	 * Return what the names of instances at a place begin with.
	 */
	static String name(int place) {
		return "i" + place + "-";
	}

	/**
	 * Return whether an instance is at a place.
	 * @param place a place, or what stands for several
	 * @param instance its name, or what its name begins with
	 */
	static boolean isAt(int place, String instance) {
		return switch (place) {
			case ALL -> true;
			case POOLED_SESSIONS -> IntStream.range(CABLE + 1, SIZE).anyMatch((each) -> isAt(each, instance));
			default -> instance.startsWith(name(place));
		};
	}

	/**
	 * Wait until an instance is at work that a fault happens to, so that it happens to a
	 * run.
	 */
	void awaitWorkFor(Fault fault) {
		int place = fault.place(this);
		if (place == GUEST) {
			return;
		}
		List<InstanceProcess> instances = Stream.of(this.instances)
			.map(Objects::requireNonNull)
			.filter((instance) -> isAt(place, instance.name()))
			.toList();
		Awaitility.await("work for " + fault)
			.atMost(WORK)
			.pollInterval(Duration.ofMillis(20))
			.until(() -> instances.stream().anyMatch((instance) -> instance.isAtWork(fault::isShownBy)));
	}

	void killVictim() {
		victim().kill();
		this.instances[turn()] = null;
	}

	TestServer server() {
		return this.server;
	}

	TestPgBouncer pooler() {
		return Objects.requireNonNull(this.pooler);
	}

	TestPgBouncer sessionPooler() {
		return Objects.requireNonNull(this.sessionPooler);
	}

	Network network() {
		return Objects.requireNonNull(this.network);
	}

	Disk disk() {
		return Objects.requireNonNull(this.disk);
	}

	/**
	 * Return what the server has, or its standby when that was promoted.
	 */
	Database database() {
		return this.database;
	}

	Intruder intruder() {
		return this.intruder;
	}

	/**
	 * Start a server again that has given up.
	 */
	void startServerIfDown() {
		long deadline = System.nanoTime() + Duration.ofSeconds(15).toNanos();
		while (System.nanoTime() < deadline) {
			try (Connection connection = this.server.open()) {
				if (connection.isValid(2)) {
					return;
				}
			}
			catch (SQLException ex) {
				if (!isServerAlive()) {
					break;
				}
			}
		}
		this.server.stop();
		this.server.start();
	}

	private boolean isServerAlive() {
		try {
			String process = Files.readAllLines(this.server.directory().resolve("postmaster.pid")).get(0).strip();
			return ProcessHandle.of(Long.parseLong(process)).map(ProcessHandle::isAlive).orElse(false);
		}
		catch (IOException | RuntimeException ex) {
			return false;
		}
	}

	/**
	 * Start one more instance, whose clock is wrong.
	 */
	void startGuest(int seconds) {
		this.guest = start(GUEST, WrongClock.environment(Duration.ofSeconds(seconds)));
		this.guest.awaitStart();
	}

	void stopGuest() {
		try {
			InstanceProcess leaving = Objects.requireNonNull(this.guest);
			leaving.stop();
			leaving.awaitStop();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Set the clock of the victim.
	 */
	void setClock(int seconds) {
		Objects.requireNonNull(this.clocks[turn()]).set(seconds);
	}

	/**
	 * Let the standby receive nothing any more.
	 */
	void holdBackReplication() {
		this.sender = this.database.sender();
		Command.run("kill", "-STOP", this.sender);
	}

	/**
	 * Kill the primary, and promote its standby.
	 */
	void promoteStandby() {
		this.server.kill();
		Command.works("kill -KILL " + this.sender);
		TestServer successor = Objects.requireNonNull(this.standby);
		this.database.moveTo(successor.url());
		this.database.execute("SELECT pg_promote(true, 60)");
	}

	/**
	 * Return what all histories say.
	 */
	List<Event> events() {
		List<Event> events = new ArrayList<>();
		this.all.forEach((instance) -> events.addAll(instance.events()));
		events.sort(Event.IN_TIME);
		return events;
	}

	/**
	 * Return what histories say of runs that began after a moment.
	 */
	List<Event> eventsOfRunsAfter(long moment) {
		List<Event> events = events();
		Set<String> runs = events.stream()
			.filter((event) -> event.kind() == Event.Kind.START && event.at() > moment)
			.map(Event::run)
			.collect(Collectors.toSet());
		return events.stream().filter((event) -> runs.contains(event.run())).toList();
	}

	/**
	 * Stop all instances in order.
	 */
	void stopInstances() throws Exception {
		List<InstanceProcess> stopping = new ArrayList<>();
		for (int i = 0; i < SIZE; i++) {
			InstanceProcess instance = this.instances[i];
			if (instance != null) {
				instance.stop();
				stopping.add(instance);
			}
			this.instances[i] = null;
		}
		for (InstanceProcess instance : stopping) {
			instance.awaitStop();
		}
		closePoolers();
	}

	private void closePoolers() {
		Stream.of(this.pooler, this.sessionPooler).filter(Objects::nonNull).forEach(TestPgBouncer::close);
	}

	@Override
	public void close() {
		this.all.forEach(InstanceProcess::kill);
		closePoolers();
		this.server.close();
		if (this.standby != null) {
			this.standby.close();
		}
		if (this.network != null) {
			this.network.close();
		}
		if (this.disk != null) {
			Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !isServerAlive());
			this.disk.close();
		}
	}

}
