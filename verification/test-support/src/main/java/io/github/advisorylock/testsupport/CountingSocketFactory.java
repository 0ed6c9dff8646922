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

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import javax.net.SocketFactory;

import org.jspecify.annotations.Nullable;

/**
 * Counts the driver's sockets, their round trips, which is how often something was sent
 * before something was read, and the statements among that. Can also delay the answers.
 * The driver creates it by name.
 */
public class CountingSocketFactory extends SocketFactory {

	private static final AtomicLong ROUND_TRIPS = new AtomicLong();

	private static final AtomicLong SOCKETS = new AtomicLong();

	private static final AtomicLong STATEMENTS = new AtomicLong();

	private static final Map<String, AtomicLong> ROUND_TRIPS_BY_NAME = new ConcurrentHashMap<>();

	private static volatile long delayNanos;

	private final AtomicLong roundTrips;

	/**
	 * Create sockets that are counted together.
	 * @param name whose they are, {@code null} for nobody's
	 */
	public CountingSocketFactory(@Nullable String name) {
		this.roundTrips = (name != null) ? roundTripsBy(name) : new AtomicLong();
	}

	/**
	 * Have the connections of a JDBC URL use such sockets.
	 */
	public static String addTo(String url) {
		return url + (url.contains("?") ? "&" : "?") + "socketFactory=" + CountingSocketFactory.class.getName();
	}

	/**
	 * Have the connections of a JDBC URL use such sockets, and count them by themselves.
	 */
	public static String addTo(String url, String name) {
		return addTo(url) + "&socketFactoryArg=" + name;
	}

	/**
	 * Make each round trip longer from now on.
	 */
	public static void delay(Duration delay) {
		delayNanos = delay.toNanos();
	}

	/**
	 * Return how many round trips there have been in this JVM.
	 */
	public static long roundTrips() {
		return ROUND_TRIPS.get();
	}

	/**
	 * Return how many round trips there have been on the connections of a name.
	 */
	public static long roundTrips(String name) {
		return roundTripsBy(name).get();
	}

	private static AtomicLong roundTripsBy(String name) {
		return ROUND_TRIPS_BY_NAME.computeIfAbsent(name, (key) -> new AtomicLong());
	}

	/**
	 * Return how many statements were executed in this JVM: messages Execute and Query of
	 * the protocol.
	 */
	public static long statements() {
		return STATEMENTS.get();
	}

	/**
	 * Return how many sockets there have been in this JVM.
	 */
	public static long sockets() {
		return SOCKETS.get();
	}

	@Override
	public Socket createSocket() {
		SOCKETS.incrementAndGet();
		return new CountingSocket(this.roundTrips);
	}

	@Override
	public Socket createSocket(String host, int port) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(InetAddress host, int port) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Watches the two directions of one connection.
	 */
	private static final class CountingSocket extends Socket {

		private final AtomicBoolean sent = new AtomicBoolean();

		private final Messages messages = new Messages();

		private final AtomicLong roundTrips;

		private CountingSocket(AtomicLong roundTrips) {
			this.roundTrips = roundTrips;
		}

		@Override
		public OutputStream getOutputStream() throws IOException {
			return new FilterOutputStream(super.getOutputStream()) {

				@Override
				public void write(int data) throws IOException {
					CountingSocket.this.sent.set(true);
					CountingSocket.this.messages.add((byte) data);
					this.out.write(data);
				}

				@Override
				public void write(byte[] data, int offset, int length) throws IOException {
					CountingSocket.this.sent.set(true);
					for (int i = offset; i < offset + length; i++) {
						CountingSocket.this.messages.add(data[i]);
					}
					this.out.write(data, offset, length);
				}

			};
		}

		@Override
		public InputStream getInputStream() throws IOException {
			return new FilterInputStream(super.getInputStream()) {

				@Override
				public int read() throws IOException {
					count();
					return super.read();
				}

				@Override
				public int read(byte[] data, int offset, int length) throws IOException {
					count();
					return super.read(data, offset, length);
				}

			};
		}

		private void count() {
			if (this.sent.getAndSet(false)) {
				ROUND_TRIPS.incrementAndGet();
				this.roundTrips.incrementAndGet();
				Pause.of(Duration.ofNanos(delayNanos));
			}
		}

	}

	/**
	 * Follows what is sent from message to message. Those that open a connection have a
	 * length only, later ones a type before that.
	 */
	private static final class Messages {

		private static final int TLS = 80877103;

		private static final int GSS = 80877104;

		private boolean typed;

		private int position = 1;

		private int length;

		private int code;

		void add(byte data) {
			if (this.position == 0) {
				if (data == 'E' || data == 'Q') {
					STATEMENTS.incrementAndGet();
				}
			}
			else if (this.position <= 4) {
				this.length = (this.length << 8) | (data & 0xff);
			}
			else if (!this.typed && this.position <= 8) {
				this.code = (this.code << 8) | (data & 0xff);
			}
			this.position++;
			if (this.position > 4 && this.position == this.length + 1) {
				// a request for encryption is followed by another message without a type
				this.typed = this.typed || (this.code != TLS && this.code != GSS);
				this.position = this.typed ? 0 : 1;
				this.length = 0;
				this.code = 0;
			}
		}

	}

}
