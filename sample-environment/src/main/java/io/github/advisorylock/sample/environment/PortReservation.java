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

package io.github.advisorylock.sample.environment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.web.server.servlet.ConfigurableServletWebServerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.Ordered;
import org.springframework.stereotype.Component;

/**
 * Gives this instance the configured port, or another one when that is taken. The port is
 * held until the web server binds it, so that instances that start together don't choose
 * the same one.
 */
@Component
public class PortReservation
		implements WebServerFactoryCustomizer<ConfigurableServletWebServerFactory>, SmartLifecycle, Ordered {

	private static final Log logger = LogFactory.getLog(PortReservation.class);

	private static final int DEFAULT_PORT = 8080;

	private final ServerSocket reserved;

	private final int port;

	PortReservation(ServerProperties properties) {
		Integer wanted = properties.getPort();
		this.reserved = reserve((wanted != null) ? wanted : DEFAULT_PORT, properties.getAddress());
		this.port = this.reserved.getLocalPort();
	}

	private static ServerSocket reserve(int wanted, @Nullable InetAddress address) {
		try {
			return new ServerSocket(wanted, 0, address);
		}
		catch (BindException ex) {
			ServerSocket other = reserve(0, address);
			logger.info("Port " + wanted + " is taken: this instance is at port " + other.getLocalPort());
			return other;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Failed to reserve port " + wanted, ex);
		}
	}

	/**
	 * Return the port that this instance answers on.
	 * @return the port
	 */
	public int port() {
		return this.port;
	}

	@Override
	public void customize(ConfigurableServletWebServerFactory factory) {
		factory.setPort(this.port);
	}

	@Override
	public void start() {
		try {
			this.reserved.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Failed to hand port " + this.port + " over", ex);
		}
	}

	@Override
	public void stop() {
		// the port is the web server's since
	}

	@Override
	public boolean isRunning() {
		return this.reserved.isClosed();
	}

	@Override
	public int getPhase() {
		return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 1;
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
