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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.advisorylock.actuate.page.PageRequest.CsrfHeader;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.Assert;
import org.springframework.web.util.HtmlUtils;

/**
 * {@link WebEndpoint @WebEndpoint} with a page for operators. It is the same whatever is
 * asked for: its script reads the endpoint {@code advisorylocks}, so that there is a page
 * to say so while the database does not answer.
 *
 * @since 0.1.0
 */
@WebEndpoint(id = "advisorylockspage", defaultAccess = Access.READ_ONLY)
public class AdvisoryLocksPageEndpoint {

	private final Settings settings;

	private final Supplier<@Nullable String> endpoint;

	private final BooleanSupplier writable;

	private final String document;

	/**
	 * Create an endpoint.
	 * @param settings how the page looks
	 * @param endpoint where the endpoint that it reads is, relative to the page,
	 * {@code null} if that is not exposed; asked for each time
	 * @param writable whether that endpoint allows writes
	 */
	public AdvisoryLocksPageEndpoint(Settings settings, Supplier<@Nullable String> endpoint, BooleanSupplier writable) {
		this.settings = settings;
		this.endpoint = endpoint;
		this.writable = writable;
		String style = read("page.css");
		String script = read("page.js");
		this.document = read("page.html").replace("{style-hash}", hash(style))
			.replace("{script-hash}", hash(script))
			.replace("{style}", style)
			.replace("{script}", script);
	}

	/**
	 * Return the page.
	 * @return an HTML document
	 */
	@ReadOperation(produces = "text/html;charset=UTF-8")
	public String page() {
		PageRequest.sendHeaders();
		String endpoint = this.endpoint.get();
		boolean writable = endpoint != null && this.writable.getAsBoolean();
		CsrfHeader token = writable ? PageRequest.csrfHeader() : CsrfHeader.NONE;
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("endpoint", (endpoint != null) ? endpoint : "");
		data.put("writable", writable);
		data.put("refresh", this.settings.refresh().toMillis());
		data.put("rows", this.settings.rows());
		data.put("log", this.settings.links().log());
		data.put("trace", this.settings.links().trace());
		data.put("csrf-header", token.name());
		data.put("csrf-token", token.value());
		return this.document.replace("{settings}", data.entrySet()
			.stream()
			.map((one) -> " data-" + one.getKey() + "=\"" + HtmlUtils.htmlEscape(one.getValue().toString()) + "\"")
			.collect(Collectors.joining()));
	}

	private static String read(String name) {
		try {
			return new ClassPathResource(name, AdvisoryLocksPageEndpoint.class)
				.getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Failed to read '" + name + "'", ex);
		}
	}

	/**
	 * The policy of the page lets the browser use its style and its script and no other.
	 */
	private static String hash(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return Base64.getEncoder().encodeToString(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Failed to hash the page", ex);
		}
	}

	/**
	 * How the page looks.
	 *
	 * @param refresh how often it shows what is new
	 * @param rows how many jobs are in its table at a time
	 * @param links where to find more of a run
	 */
	public record Settings(Duration refresh, int rows, Links links) {

	}

	/**
	 * Where to find more of a run: addresses with <code>{traceId}</code>,
	 * <code>{instance}</code>, <code>{key}</code>, <code>{startedAt}</code> or
	 * <code>{finishedAt}</code> in them.
	 *
	 * @param log the address of its log, empty for none
	 * @param trace the address of its trace, empty for none
	 */
	public record Links(String log, String trace) {

		private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w*)}");

		private static final Set<String> KNOWN = Set.of("traceId", "instance", "key", "startedAt", "finishedAt");

		/**
		 * Create addresses.
		 * @param log the address of its log
		 * @param trace the address of its trace
		 * @throws IllegalArgumentException if one is none of the web, or asks for what is
		 * not known of a run
		 */
		public Links {
			check(log);
			check(trace);
		}

		private static void check(String address) {
			Assert.isTrue(address.isEmpty() || address.matches("https?://[^\\s/{].*"),
					"must begin with https:// or http://");
			PLACEHOLDER.matcher(address)
				.results()
				.map((placeholder) -> placeholder.group(1))
				.forEach((name) -> Assert.isTrue(KNOWN.contains(name), () -> "has the unknown placeholder '{" + name
						+ "}': known are " + KNOWN.stream().sorted().toList()));
		}

	}

}
