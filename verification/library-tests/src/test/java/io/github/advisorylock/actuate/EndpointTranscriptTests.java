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

package io.github.advisorylock.actuate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.SingleRunner;
import io.github.advisorylock.testsupport.Tool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the transcripts of the document on the {@link AdvisoryLocksEndpoint}: their
 * commands are run, in the order of the document, and answer what it shows. With
 * {@code -Dtranscripts=write} the answers are written into the document instead.
 */
@Tag("slow")
class EndpointTranscriptTests {

	private static final Path DOCUMENT = Path.of("../../docs/endpoint.md");

	private static final Pattern TRANSCRIPT = Pattern.compile("(?ms)^```console\n(.*?)^```$");

	private static final String EXPOSED = "management.endpoints.web.exposure.include=advisorylocks";

	/**
	 * The three applications are one instance, which is there when the first of them is.
	 */
	private static final String ALONE = "advisory-lock.ledger.instances=false";

	private static final String UNRESTRICTED = "management.endpoint.advisorylocks.access=unrestricted";

	@Test
	void commandsOfDocumentAnswerWhatItShows() throws IOException {
		// curl 7.82 or later
		Tool.assumeRuns("curl", "--json", "{}", "--version");
		OperatedApplication.dropTables();
		String document = Files.readString(DOCUMENT);
		String actual = runCommands(document);
		if ("write".equals(System.getProperty("transcripts"))) {
			Files.writeString(DOCUMENT, actual);
		}
		else {
			assertThat(actual).isEqualTo(document);
		}
	}

	/**
	 * Run what the document asks of port 8080, where operators may write, of 8081, where
	 * they may not, and of 8082, where they log in.
	 */
	private static String runCommands(String document) {
		try (OperatedApplication open = OperatedApplication.start(Jobs.class, EXPOSED, UNRESTRICTED, ALONE);
				OperatedApplication readOnly = OperatedApplication.start(Jobs.class, EXPOSED, ALONE);
				OperatedApplication secured = OperatedApplication.startSecured(Jobs.class, EXPOSED, UNRESTRICTED, ALONE,
						"spring.security.user.name=anna", "spring.security.user.password=secret");
				Gate gate = Jobs.close()) {
			List<OperatedApplication> applications = List.of(open, readOnly, secured);
			return TRANSCRIPT.matcher(document)
				.replaceAll((block) -> Matcher
					.quoteReplacement("```console\n" + transcript(block.group(1), applications) + "```"));
		}
	}

	private static String transcript(String block, List<OperatedApplication> applications) {
		return block.lines()
			.filter((line) -> line.startsWith("$ "))
			.map((line) -> line + "\n" + TranscriptText.of(run(line.substring(2), applications)) + "\n")
			.collect(Collectors.joining());
	}

	private static String run(String command, List<OperatedApplication> applications) {
		String addressed = command;
		for (int i = 0; i < applications.size(); i++) {
			URI address = applications.get(i).request("").build().uri();
			addressed = addressed.replace("localhost:808" + i, address.getAuthority());
		}
		return shell(addressed.replace("curl ", "curl -s "));
	}

	private static String shell(String command) {
		try {
			Process process = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
			return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Guarded methods.
	 */
	static class Jobs {

		private static volatile Gate gate = Gate.opened();

		static Gate close() {
			gate = new Gate();
			return gate;
		}

		@Scheduled(cron = "0 0 3 * * *", zone = "Europe/Berlin")
		@SingleRunner("nightly-report")
		void report() {
		}

		@SingleRunner(key = "order-export", scope = LockScope.SESSION)
		void export() {
			gate.pass();
		}

	}

}
