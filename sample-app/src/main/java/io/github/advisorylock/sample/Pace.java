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

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Slows work down so that one can watch it. Work that still runs when the application
 * stops gets no more pauses.
 */
@Component
public class Pace {

	private static final Log logger = LogFactory.getLog(Pace.class);

	private final CountDownLatch stopping = new CountDownLatch(1);

	/**
	 * Pause for the given time, or until the application stops.
	 * @param duration how long
	 */
	public void pause(Duration duration) {
		try {
			if (this.stopping.await(duration.toMillis(), TimeUnit.MILLISECONDS)) {
				logger.debug("No more pauses: the application stops");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@EventListener
	void stop(ContextClosedEvent event) {
		this.stopping.countDown();
	}

}
