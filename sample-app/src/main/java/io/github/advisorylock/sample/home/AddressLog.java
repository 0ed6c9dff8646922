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

package io.github.advisorylock.sample.home;

import io.github.advisorylock.sample.Instance;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Says where to look, once there is something to see.
 */
@Component
class AddressLog {

	private static final Log logger = LogFactory.getLog(AddressLog.class);

	private final Instance instance;

	AddressLog(Instance instance) {
		this.instance = instance;
	}

	@EventListener(ApplicationReadyEvent.class)
	void tell() {
		String address = this.instance.address();
		logger.info("This is instance " + this.instance + ". Look at " + address + "/ for what to try, and at "
				+ address + "/actuator/advisorylockspage for the operators' page");
	}

}
