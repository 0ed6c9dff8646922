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

import io.github.advisorylock.actuate.page.PageRequest.CsrfHeader;

import org.springframework.core.io.ClassPathResource;

/**
 * The document around a view, with its style and its script. Its policy lets the browser
 * run these two and nothing else.
 */
final class PageDocument {

	private final String document = read("page.html");

	private final Html style = new Html(read("page.css"));

	private final Html script = new Html(read("page.js"));

	private final String styleHash = hash(this.style.markup());

	private final String scriptHash = hash(this.script.markup());

	/**
	 * Write the document.
	 * @param view what it shows
	 * @param query what was asked for
	 * @param endpoint where to send writes to
	 * @param refresh how often it shows what is new
	 * @param token what a write must carry
	 */
	String write(View view, PageQuery query, String endpoint, Duration refresh, CsrfHeader token) {
		Html links = Html.each(PageQuery.VIEWS.entrySet(), (one) -> link(one.getKey(), one.getValue(), query));
		String namespace = view.about().namespace();
		return Html
			.of(this.document, this.styleHash, this.scriptHash, view.title(), namespace, this.style, endpoint,
					refresh.toMillis(), token.name(), token.value(), links, refresh.toSeconds(), view.title(),
					view.about().write(), view.content(), this.script)
			.markup();
	}

	private static Html link(String view, String name, PageQuery query) {
		boolean shown = view.equals(query.view()) || (view.equals("jobs") && query.view().equals("job"));
		return Html.of("<a href=\"?view=%s\"%s>%s</a>", view, shown ? new Html(" aria-current=\"page\"") : Html.NONE,
				name);
	}

	private static String read(String name) {
		try {
			return new ClassPathResource(name, PageDocument.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Failed to read '" + name + "'", ex);
		}
	}

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
