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

import jakarta.servlet.http.HttpServletResponse;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * What a web endpoint can't see of the current request, where that is one of a servlet.
 * Elsewhere nothing is sent, and nothing is known.
 */
final class PageRequest {

	private static final boolean SERVLET = isPresent("jakarta.servlet.http.HttpServletResponse");

	private static final boolean SECURITY = SERVLET && isPresent("org.springframework.security.web.csrf.CsrfToken");

	private PageRequest() {
	}

	/**
	 * Send headers with the page that keep it out of caches and of frames of other pages,
	 * without Spring Security too: markup can't do that.
	 */
	static void sendHeaders() {
		if (SERVLET) {
			Servlet.sendHeaders();
		}
	}

	/**
	 * Return the header that a write must carry where Spring Security defends the
	 * application against cross-site requests.
	 */
	static CsrfHeader csrfHeader() {
		return SECURITY ? Security.csrfHeader() : CsrfHeader.NONE;
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, PageRequest.class.getClassLoader());
	}

	/**
	 * The header that a write must carry.
	 *
	 * @param name the name of the header, empty if none is known
	 * @param value its value
	 */
	record CsrfHeader(String name, String value) {

		static final CsrfHeader NONE = new CsrfHeader("", "");

	}

	/**
	 * Knows the API of servlets.
	 */
	private static final class Servlet {

		static void sendHeaders() {
			if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request
					&& request.getResponse() != null) {
				HttpServletResponse response = request.getResponse();
				response.setHeader("Cache-Control", "no-store");
				response.setHeader("X-Frame-Options", "DENY");
				response.setHeader("Content-Security-Policy", "frame-ancestors 'none'");
				response.setHeader("X-Content-Type-Options", "nosniff");
				response.setHeader("Referrer-Policy", "no-referrer");
			}
		}

	}

	/**
	 * Knows Spring Security.
	 */
	private static final class Security {

		static CsrfHeader csrfHeader() {
			RequestAttributes request = RequestContextHolder.getRequestAttributes();
			Object token = (request != null)
					? request.getAttribute(CsrfToken.class.getName(), RequestAttributes.SCOPE_REQUEST) : null;
			return (token instanceof CsrfToken csrf) ? new CsrfHeader(csrf.getHeaderName(), csrf.getToken())
					: CsrfHeader.NONE;
		}

	}

}
