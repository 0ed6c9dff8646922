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
import java.util.List;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.RunDescriptor;

/**
 * The last runs of one job.
 *
 * @param times tells times
 */
record RunRows(Times times) {

	Html table(String name, List<RunDescriptor> runs) {
		return Html.of(
				"""
						<section id="job"><h2>Last runs of %s</h2><table id="runs"><thead><tr><th scope="col">Started</th>
						<th scope="col">Tick</th><th scope="col">Attempt</th><th scope="col">Took</th><th scope="col">Outcome</th><th scope="col">Instance</th>
						<th scope="col">Token</th><th scope="col">Error</th></tr></thead><tbody>%s</tbody></table></section>
						""",
				name, runs.stream().map(this::row).collect(Html.joining()));
	}

	private Html row(RunDescriptor run) {
		Duration duration = run.duration();
		String outcome = (run.outcome() != null) ? run.outcome() : "RUNNING";
		return Html.of("""
				<tr data-outcome="%s"><td data-label="Started">%s</td><td data-label="Tick">%s</td>
				<td data-label="Attempt">%s</td>
				<td data-label="Took">%s</td><td data-label="Outcome"><span class="badge %s">%s</span></td>
				<td data-label="Instance">%s</td><td data-label="Token">%s</td><td data-label="Error">%s</td></tr>
				""", outcome, this.times.at(run.startedAt()), this.times.at(run.tick()), run.attempt(),
				(duration != null) ? Times.text(duration) : "", outcome, outcome, run.instance(), run.fencingToken(),
				run.error());
	}

}
