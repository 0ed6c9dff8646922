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

package io.github.advisorylock;

/**
 * Who may hold a key together with whom.
 *
 * @since 0.1.0
 */
public enum LockMode {

	/**
	 * Nobody else holds the key.
	 */
	EXCLUSIVE,

	/**
	 * Other shared holders are welcome, an exclusive one is not. A shared lock can't be
	 * upgraded.
	 * <p>
	 * Within an application an exclusive request that waits holds up new shared ones, in
	 * both scopes, so that shared holders who overlap do not keep it waiting for ever;
	 * only a thread that holds the key already is let in. Across applications a request
	 * asks again and again, in no queue: shared holders of other applications who overlap
	 * can keep an exclusive one waiting to its end.
	 */
	SHARED

}
