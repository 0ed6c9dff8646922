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

package io.github.advisorylock.jdbc.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.SQLException;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import javax.net.SocketFactory;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;
import org.postgresql.core.SocketFactoryFactory;

/**
 * Lets the library see the sockets of its own connections. PostgreSQL's driver creates it
 * by its name, perhaps on a thread of its own; applications have no use for it. Sockets
 * come from the factory that the application has configured, or are plain ones.
 *
 * @since 0.1.0
 */
public final class LockSocketFactory extends SocketFactory {

	private static final Map<String, LockSocket> EXPECTED = new ConcurrentHashMap<>();

	private final @Nullable LockSocket expected;

	private final SocketFactory delegate;

	/**
	 * Create a factory for one connection.
	 * @param properties what the driver was told
	 * @throws SQLException if the factory of the application can't be created
	 */
	public LockSocketFactory(Properties properties) throws SQLException {
		String token = PGProperty.SOCKET_FACTORY_ARG.getOrDefault(properties);
		this.expected = (token != null) ? EXPECTED.get(token) : null;
		this.delegate = (this.expected != null)
				? SocketFactoryFactory.getSocketFactory(this.expected.driverProperties()) : SocketFactory.getDefault();
	}

	/**
	 * Expect a connection.
	 * @return what the driver must be told for the socket to be found
	 */
	static String expect(LockSocket socket) {
		String token = UUID.randomUUID().toString();
		EXPECTED.put(token, socket);
		return token;
	}

	static void forget(String token) {
		EXPECTED.remove(token);
	}

	@Override
	public Socket createSocket() throws IOException {
		return note(this.delegate.createSocket());
	}

	@Override
	public Socket createSocket(String host, int port) throws IOException {
		return note(this.delegate.createSocket(host, port));
	}

	@Override
	public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
		return note(this.delegate.createSocket(host, port, localHost, localPort));
	}

	@Override
	public Socket createSocket(InetAddress host, int port) throws IOException {
		return note(this.delegate.createSocket(host, port));
	}

	@Override
	public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
			throws IOException {
		return note(this.delegate.createSocket(address, port, localAddress, localPort));
	}

	private Socket note(Socket socket) throws IOException {
		if (this.expected != null) {
			this.expected.created(socket);
		}
		return socket;
	}

}
