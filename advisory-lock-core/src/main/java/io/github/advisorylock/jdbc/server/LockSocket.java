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
import java.net.Socket;
import java.net.SocketException;
import java.util.Properties;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * What lies beneath a connection of our own, known from before the driver has logged in:
 * it can be closed while the driver still waits for an answer, and can be asked whether
 * the server has said something, which costs the driver a read that times out.
 *
 * @since 0.1.0
 */
public final class LockSocket {

	private static final Log logger = LogFactory.getLog(LockSocket.class);

	private final Properties driverProperties;

	private final boolean plain;

	private volatile @Nullable Socket socket;

	private volatile @Nullable String abortReason;

	private volatile boolean opened;

	/**
	 * Create what will know a socket.
	 * @param driverProperties what the driver is told, with the socket factory of the
	 * application if it has one
	 * @param plain whether the socket is one of Java's own, whose answers can be trusted
	 */
	LockSocket(Properties driverProperties, boolean plain) {
		this.driverProperties = driverProperties;
		this.plain = plain;
	}

	Properties driverProperties() {
		return this.driverProperties;
	}

	/**
	 * Note a socket that the driver has asked for. It may ask for several, one after the
	 * other, and for others when the connection is open, to cancel statements.
	 */
	void created(Socket created) throws IOException {
		if (this.opened) {
			return;
		}
		this.socket = created;
		String reason = this.abortReason;
		if (reason != null) {
			created.close();
			throw new SocketException(reason);
		}
	}

	/**
	 * Note that the connection is open, and can be ended as any other.
	 */
	public void opened() {
		this.opened = true;
	}

	/**
	 * End a connection that is still being opened. Does nothing to one that is open.
	 * @param reason why
	 */
	public void abort(String reason) {
		this.abortReason = reason;
		Socket current = this.socket;
		if (!this.opened && current != null) {
			try {
				current.close();
			}
			catch (IOException ex) {
				logger.debug("Closing a socket failed", ex);
			}
		}
	}

	/**
	 * Return whether {@link #hasInput()} knows.
	 * @return whether it does
	 */
	public boolean seesInput() {
		return this.plain && this.socket != null;
	}

	/**
	 * Return whether something has arrived that nobody has read, encrypted or not. A
	 * connection that the other side has closed has nothing.
	 * @return {@code true} also if that is not known
	 */
	public boolean hasInput() {
		Socket current = this.socket;
		if (current == null || !this.plain) {
			return true;
		}
		try {
			return current.getInputStream().available() > 0;
		}
		catch (IOException ex) {
			return true;
		}
	}

}
