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

import java.util.List;

import io.github.advisorylock.sample.Calls;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Announces five parcels at the same moment, on the instances in turn.
 */
@RestController
class ParcelRush {

	private final Calls calls;

	ParcelRush(Calls calls) {
		this.calls = calls;
	}

	@PostMapping(path = "/try/courier", headers = "X-Requested-With")
	List<Calls.Answer> announceFive() {
		return this.calls.post(List.of("/parcels/1", "/parcels/2", "/parcels/3", "/parcels/4", "/parcels/5"), "");
	}

}
