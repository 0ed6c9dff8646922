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

package io.github.advisorylock.autoconfigure;

import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.page.AdvisoryLocksPageEndpoint;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.util.StringUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the page
 * {@code advisorylockspage}, with or without the endpoint that takes its writes.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockEndpointAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PostgresAdvisoryLockTemplate.class)
@ConditionalOnAvailableEndpoint(AdvisoryLocksPageEndpoint.class)
@Import(EndpointSourceConfiguration.class)
public final class AdvisoryLockPageAutoConfiguration {

	private static final EndpointId ENDPOINT = EndpointId.of("advisorylocks");

	private static final EndpointId PAGE = EndpointId.of("advisorylockspage");

	@Bean
	@ConditionalOnMissingBean
	AdvisoryLocksPageEndpoint advisoryLocksPageEndpoint(AdvisoryLocksSource source,
			AdvisoryLocksEndpointProperties endpoint, AdvisoryLockProperties properties, EndpointAccessResolver access,
			ObjectProvider<PathMappedEndpoints> paths) {
		return new AdvisoryLocksPageEndpoint(source, properties.page().toSettings(endpoint),
				() -> (access.accessFor(ENDPOINT, Access.READ_ONLY) == Access.UNRESTRICTED)
						? pathFromPage(paths.getIfAvailable()) : null);
	}

	/**
	 * Both endpoints are below the same base path, but either can be mapped to a path of
	 * its own there.
	 */
	private static @Nullable String pathFromPage(@Nullable PathMappedEndpoints paths) {
		String page = (paths != null) ? paths.getRootPath(PAGE) : null;
		String endpoint = (paths != null) ? paths.getRootPath(ENDPOINT) : null;
		return (page != null && endpoint != null) ? "../".repeat(StringUtils.countOccurrencesOf(page, "/")) + endpoint
				: null;
	}

}
