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

package io.github.advisorylock.sample.relay;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Places sixteen orders, two for each shard; the home page has a button for it.
 */
@RestController
class OrderController {

	private final OrderMessages messages;

	OrderController(OrderMessages messages) {
		this.messages = messages;
	}

	@PostMapping(path = "/try/orders", headers = "X-Requested-With")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void place() {
		this.messages.place(2 * OrderRelay.SHARDS);
	}

}
