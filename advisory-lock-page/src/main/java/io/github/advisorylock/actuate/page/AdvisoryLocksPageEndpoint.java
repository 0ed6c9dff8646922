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
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.advisorylock.actuate.page.PageRequest.CsrfHeader;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ClassPathResource;
import org.springframework.web.util.HtmlUtils;

/**
 * {@link WebEndpoint @WebEndpoint} with a page for operators. It is the same whatever is
 * asked for: its script reads the endpoint {@code advisorylocks}, so that there is a page
 * to say so while the database does not answer.
 *
 * @since 0.1.0
 */
@WebEndpoint(id = "advisorylockspage", defaultAccess = Access.READ_ONLY)
class AdvisoryLocksPageEndpoint {

	private final String log;

	private final String trace;

	private final Supplier<@Nullable String> endpoint;

	private final BooleanSupplier writable;

	private final String document;

	/**
	 * Create an endpoint.
	 * @param log the address of the log of a run, with placeholders, empty for none
	 * @param trace the address of its trace, empty for none
	 * @param endpoint where the endpoint that it reads is, relative to the page,
	 * {@code null} if that is not exposed; asked for each time
	 * @param writable whether that endpoint allows writes
	 */
	AdvisoryLocksPageEndpoint(String log, String trace, Supplier<@Nullable String> endpoint, BooleanSupplier writable) {
		this.log = log;
		this.trace = trace;
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
	String page() {
		PageRequest.sendHeaders();
		String endpoint = this.endpoint.get();
		boolean writable = endpoint != null && this.writable.getAsBoolean();
		CsrfHeader token = writable ? PageRequest.csrfHeader() : CsrfHeader.NONE;
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("endpoint", (endpoint != null) ? endpoint : "");
		data.put("writable", writable);
		data.put("log", this.log);
		data.put("trace", this.trace);
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

}
