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

package io.github.advisorylock.faults;

import java.util.List;

/**
 * What the checker has found.
 *
 * @param violations what should not be
 * @param runs how many runs there were
 * @param executed how many ticks and keys were executed
 * @param overlaps runs that went on beside the next one
 * @param pairs how many runs followed another one of their key
 * @param excusable how many of these pairs would have had an excuse
 */
record Findings(List<String> violations, int runs, int executed, List<Overlap> overlaps, int pairs, int excusable) {

}
