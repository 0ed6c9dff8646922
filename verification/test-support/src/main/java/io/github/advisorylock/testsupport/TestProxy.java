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

package io.github.advisorylock.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A TCP proxy in front of the test's PostgreSQL, as a network with a latency. Counts how
 * often a client had to wait for the server: what it sends before the first answer
 * arrives belongs to one wait.
 */
public final class TestProxy implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(TestProxy.class);

	/**
	 * Some versions of the driver send it in a packet of its own, and none waits for the
	 * answer.
	 */
	private static final byte[] BEGIN = { 'Q', 0, 0, 0, 10, 'B', 'E', 'G', 'I', 'N', 0 };

	private final ServerSocket serverSocket;

	private final AtomicInteger waits = new AtomicInteger();

	private volatile Duration latency;

	private volatile boolean stalled;

	/**
	 * Open a proxy.
	 * @param latency how much later each answer of the server arrives
	 */
	public TestProxy(Duration latency) {
		this(latency, 0);
	}

	/**
	 * Open a proxy on a port of somebody's choice.
	 * @param latency how much later each answer of the server arrives
	 * @param port the port to listen on, zero for any that is free
	 */
	public TestProxy(Duration latency, int port) {
		this.latency = latency;
		try {
			this.serverSocket = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start(this::acceptConnections);
	}

	/**
	 * Return the JDBC URL that leads through this proxy.
	 */
	public String url() {
		return url(this.serverSocket.getLocalPort());
	}

	/**
	 * Return the JDBC URL that leads through a proxy which may not be open yet.
	 */
	public static String url(int port) {
		return TestPostgres.url().replaceFirst("//[^/]+/", "//127.0.0.1:" + port + "/");
	}

	/**
	 * Return how often clients have begun to wait for an answer so far.
	 */
	public int waits() {
		return this.waits.get();
	}

	/**
	 * Set how much later each answer of the server arrives from now on.
	 */
	public void delay(Duration latency) {
		this.latency = latency;
	}

	/**
	 * Hold back everything that arrives from now on, as a cable that is pulled does.
	 */
	public void stall() {
		this.stalled = true;
	}

	/**
	 * Let everything through again, with what was held back.
	 */
	public void resume() {
		this.stalled = false;
	}

	private void acceptConnections() {
		while (!this.serverSocket.isClosed()) {
			try {
				connect(this.serverSocket.accept(), TestPostgres.socket());
			}
			catch (IOException ex) {
				return;
			}
		}
	}

	private void connect(Socket client, Socket server) throws IOException {
		client.setTcpNoDelay(true);
		server.setTcpNoDelay(true);
		AtomicBoolean answered = new AtomicBoolean(true);
		BlockingQueue<Piece> answers = new LinkedBlockingQueue<>();
		start(() -> forward(client, server, (piece) -> {
			if (!Arrays.equals(piece.bytes(), BEGIN) && answered.getAndSet(false)) {
				this.waits.incrementAndGet();
			}
			write(piece, server);
		}));
		start(() -> forward(server, client, answers::add));
		start(() -> {
			while (true) {
				Piece answer = answers.take();
				LockSupport.parkNanos(answer.arrival() - System.nanoTime());
				answered.set(true);
				write(answer, client);
			}
		});
	}

	private void forward(Socket from, Socket to, PieceConsumer consumer) throws Exception {
		try (from; to) {
			InputStream in = from.getInputStream();
			byte[] buffer = new byte[65536];
			for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
				while (this.stalled && !this.serverSocket.isClosed()) {
					LockSupport.parkNanos(1_000_000);
				}
				if (this.stalled) {
					return;
				}
				consumer.accept(new Piece(Arrays.copyOf(buffer, length), System.nanoTime() + this.latency.toNanos()));
			}
		}
	}

	private static void write(Piece piece, Socket to) throws IOException {
		to.getOutputStream().write(piece.bytes());
		to.getOutputStream().flush();
	}

	private static void start(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (Exception ex) {
				logger.debug("One side has gone, and so does the other", ex);
			}
		}, "test-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Accept nobody any more, and cut off those whose words are held back: what they have
	 * locked would stay locked else. The others go on.
	 */
	@Override
	public void close() {
		try {
			this.serverSocket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@SuppressWarnings("ArrayRecordComponent") // never compared
	private record Piece(byte[] bytes, long arrival) {

	}

	@FunctionalInterface
	private interface PieceConsumer {

		void accept(Piece piece) throws IOException;

	}

	@FunctionalInterface
	private interface Task {

		void run() throws Exception;

	}

}
