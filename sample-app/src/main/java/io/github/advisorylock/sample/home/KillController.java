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

import java.time.Duration;

import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Kills this instance, as {@code kill -9} does: nothing is shut down, released or rolled
 * back by it. A page of another site can't ask for that, because it may not send the
 * header.
 */
@RestController
class KillController {

	private static final Log logger = LogFactory.getLog(KillController.class);

	private static final Duration TIME_TO_ANSWER = Duration.ofMillis(300);

	private static final int EXIT_STATUS_OF_KILL = 137;

	private final Instance instance;

	private final Pace pace;

	KillController(Instance instance, Pace pace) {
		this.instance = instance;
		this.pace = pace;
	}

	@PostMapping(path = "/try/kill", headers = "X-Requested-With")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void kill() {
		logger.warn("Instance " + this.instance + " kills itself, as its home page was asked to");
		new Thread(() -> {
			this.pace.pause(TIME_TO_ANSWER);
			Runtime.getRuntime().halt(EXIT_STATUS_OF_KILL);
		}, "kill").start();
	}

}
