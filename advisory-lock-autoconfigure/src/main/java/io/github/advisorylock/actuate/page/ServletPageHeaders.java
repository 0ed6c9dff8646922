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

import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * {@link PageHeaders} of the current request of a servlet.
 *
 * @since 0.1.0
 */
public class ServletPageHeaders implements PageHeaders {

	@Override
	public void send() {
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
