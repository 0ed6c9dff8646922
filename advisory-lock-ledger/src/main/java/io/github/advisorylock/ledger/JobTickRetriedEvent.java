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

package io.github.advisorylock.ledger;

/**
 * Published as an application event when an operator has ended the wait of a tick that
 * was tried and not completed, so that it is tried again: on the instance that was asked
 * to, on the thread that asked, after the commit and before the next attempt.
 *
 * @param namespace the namespace of the job's key, empty if there is none
 * @param key the name of the job's key
 * @param by who wants it tried again
 * @since 0.1.0
 */
public record JobTickRetriedEvent(String namespace, String key, String by) {

}
