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

package io.github.advisorylock.sample.courier;

import java.time.Duration;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.annotation.WhenBusy;
import io.github.advisorylock.sample.Instance;
import io.github.advisorylock.sample.Pace;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/**
 * Announces parcels to a courier whose service allows two calls at a time. The calls of
 * all instances count together. No transaction is open while the courier takes its time.
 */
@Service
class Courier {

	private static final Log logger = LogFactory.getLog(Courier.class);

	private final Instance instance;

	private final Pace pace;

	private final Duration pause;

	Courier(Instance instance, Pace pace, @Value("${sample.courier.pause}") Duration pause) {
		this.instance = instance;
		this.pace = pace;
		this.pause = pause;
	}

	@SingleRunner(key = "courier-api", permits = 2, scope = LockScope.SESSION, whenBusy = WhenBusy.FAIL)
	String announce(String parcel) {
		logger.info("Instance " + this.instance + " announces parcel '" + parcel + "'");
		this.pace.pause(this.pause);
		return "The courier expects parcel " + parcel;
	}

}
