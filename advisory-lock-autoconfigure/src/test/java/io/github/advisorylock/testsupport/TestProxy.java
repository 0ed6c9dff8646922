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
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A TCP proxy in front of the test's PostgreSQL. Counts how often a client had to wait
 * for the server, and can delay each answer.
 */
public final class TestProxy implements AutoCloseable {

	private final ServerSocket serverSocket;

	private final AtomicInteger waits = new AtomicInteger();

	private final long delayNanos;

	/**
	 * Open a proxy.
	 * @param delayNanos how long each answer of the server is held back
	 */
	public TestProxy(long delayNanos) {
		this.delayNanos = delayNanos;
		try {
			this.serverSocket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
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
		return TestPostgres.url().replaceFirst("//[^/]+/", "//127.0.0.1:" + this.serverSocket.getLocalPort() + "/");
	}

	/**
	 * Return how often clients have waited for an answer so far.
	 */
	public int waits() {
		return this.waits.get();
	}

	private void acceptConnections() {
		while (!this.serverSocket.isClosed()) {
			try {
				Socket client = this.serverSocket.accept();
				Socket server = TestPostgres.socket();
				client.setTcpNoDelay(true);
				server.setTcpNoDelay(true);
				start(() -> forward(client, server, false));
				start(() -> forward(server, client, true));
			}
			catch (IOException ex) {
				return;
			}
		}
	}

	private void forward(Socket from, Socket to, boolean answers) {
		try (from; to) {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			byte[] buffer = new byte[65536];
			for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
				if (answers) {
					this.waits.incrementAndGet();
					LockSupport.parkNanos(this.delayNanos);
				}
				out.write(buffer, 0, length);
				out.flush();
			}
		}
		catch (IOException ex) {
			// one side has gone, and so does the other
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "test-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() {
		try {
			this.serverSocket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
