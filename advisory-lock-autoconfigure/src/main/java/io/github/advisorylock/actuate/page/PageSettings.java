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

package io.github.advisorylock.actuate.page;

import java.time.Duration;
import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;

/**
 * How the page looks.
 *
 * @param refresh how often it shows what is new
 * @param timeline how far its timeline goes back
 * @param rows how many jobs are in its table at a time
 * @param showValues to whom values are shown
 * @param roles which roles may see values, empty for any user that is logged in
 * @since 0.1.0
 */
public record PageSettings(Duration refresh, Duration timeline, int rows, Show showValues, Set<String> roles) {

}
