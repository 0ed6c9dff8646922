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
package io.github.advisorylock.benchmarks;

/**
 * What is called, in an order of its own each time.
 */
enum CostCall {

	PLAIN, PLAIN_AGAIN, PLAIN_SESSION, PLAIN_SKIP, PLAIN_SESSION_SKIP, PLAIN_TICK, PLAIN_RECORDED, PLAIN_LOOK,
	PLAIN_KEPT,

	TRANSACTION, TRANSACTION_ANNOTATION, TRANSACTION_PERMITS, SESSION, SESSION_ANNOTATION, SESSION_PERMITS,

	TICK, TICK_SESSION, INTERVAL, PER_TICK, PER_TICK_SESSION, PER_KEY, KEPT_RESULT, ALREADY_RAN,

	SKIP_HERE, SKIP_ELSEWHERE, SKIP_ELSEWHERE_SESSION,

	SHEDLOCK, SHEDLOCK_BY_KEY, SHEDLOCK_SKIP, INTEGRATION, INTEGRATION_SKIP

}
