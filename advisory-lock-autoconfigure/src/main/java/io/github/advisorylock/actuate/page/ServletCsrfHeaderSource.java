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

import java.util.function.Supplier;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Finds the token that Spring Security has for the current request of a servlet.
 *
 * @since 0.1.0
 */
public class ServletCsrfHeaderSource implements Supplier<CsrfHeader> {

	@Override
	public CsrfHeader get() {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		Object token = (request != null)
				? request.getAttribute(CsrfToken.class.getName(), RequestAttributes.SCOPE_REQUEST) : null;
		return (token instanceof CsrfToken csrf) ? new CsrfHeader(csrf.getHeaderName(), csrf.getToken())
				: CsrfHeader.NONE;
	}

}
