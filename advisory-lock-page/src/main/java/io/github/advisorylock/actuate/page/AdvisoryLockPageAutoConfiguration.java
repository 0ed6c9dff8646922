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

import java.util.List;
import java.util.regex.Pattern;

import io.github.advisorylock.actuate.AdvisoryLockEndpointAutoConfiguration;
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
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the page
 * {@code advisorylockspage}, which reads the endpoint {@code advisorylocks}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockEndpointAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PostgresAdvisoryLockTemplate.class)
@ConditionalOnAvailableEndpoint(AdvisoryLocksPageEndpoint.class)
@EnableConfigurationProperties(AdvisoryLocksPageProperties.class)
public final class AdvisoryLockPageAutoConfiguration {

	private static final EndpointId ENDPOINT = EndpointId.of("advisorylocks");

	private static final EndpointId PAGE = EndpointId.of("advisorylockspage");

	private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w*)}");

	private static final List<String> KNOWN = List.of("finishedAt", "instance", "key", "startedAt", "traceId");

	@Bean
	@ConditionalOnMissingBean
	AdvisoryLocksPageEndpoint advisoryLocksPageEndpoint(AdvisoryLocksPageProperties properties,
			EndpointAccessResolver access, ObjectProvider<PathMappedEndpoints> paths) {
		AdvisoryLocksPageProperties.Links links = checked(properties.links());
		return new AdvisoryLocksPageEndpoint(links.log(), links.trace(), () -> pathFromPage(paths.getIfAvailable()),
				() -> access.accessFor(ENDPOINT, Access.READ_ONLY) == Access.UNRESTRICTED);
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

	/**
	 * Return addresses that links can be made of.
	 */
	static AdvisoryLocksPageProperties.Links checked(AdvisoryLocksPageProperties.Links links) {
		check("log", links.log());
		check("trace", links.trace());
		return links;
	}

	private static void check(String name, String address) {
		require(address.isEmpty() || address.matches("https?://[^\\s/{].*"), name, address,
				"It must begin with https:// or http://.");
		PLACEHOLDER.matcher(address)
			.results()
			.map((placeholder) -> placeholder.group(1))
			.forEach((known) -> require(KNOWN.contains(known), name, address,
					"It has the unknown placeholder '{" + known + "}': known are " + KNOWN + "."));
	}

	private static void require(boolean valid, String name, String address, String rule) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException("advisory-lock.page.links." + name, address, rule);
		}
	}

}
