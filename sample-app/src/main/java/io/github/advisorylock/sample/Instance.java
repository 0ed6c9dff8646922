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

package io.github.advisorylock.sample;

import io.github.advisorylock.LockInstance;
import io.github.advisorylock.sample.environment.PortReservation;

import org.springframework.stereotype.Component;

/**
 * This instance of the application, as logs and tables name it.
 */
@Component
public class Instance {

	private final PortReservation port;

	private final LockInstance instance;

	Instance(PortReservation port, LockInstance instance) {
		this.port = port;
		this.instance = instance;
	}

	/**
	 * Return the port that this instance answers on.
	 * @return the port
	 */
	public int port() {
		return this.port.port();
	}

	/**
	 * Return where this instance answers.
	 * @return the address, without a slash at its end
	 */
	public String address() {
		return "http://localhost:" + port();
	}

	/**
	 * Return the name that the library has for this instance, in the ledger and on the
	 * operators' page.
	 * @return the name, host and process id unless it is set
	 */
	public String name() {
		return this.instance.name();
	}

	@Override
	public String toString() {
		return name();
	}

}
