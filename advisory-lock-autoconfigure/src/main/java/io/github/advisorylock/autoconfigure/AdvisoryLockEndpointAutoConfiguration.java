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

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.actuate.AdvisoryLocksEndpoint;
import io.github.advisorylock.actuate.AdvisoryLocksEndpointWebExtension;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the endpoint
 * {@code advisorylocks}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PostgresAdvisoryLockTemplate.class)
@ConditionalOnAvailableEndpoint(AdvisoryLocksEndpoint.class)
@Import(EndpointSourceConfiguration.class)
public final class AdvisoryLockEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	AdvisoryLocksEndpoint advisoryLocksEndpoint(AdvisoryLocksSource source) {
		return new AdvisoryLocksEndpoint(source);
	}

	@Bean
	@ConditionalOnMissingBean
	AdvisoryLocksEndpointWebExtension advisoryLocksEndpointWebExtension(AdvisoryLocksSource source,
			ObjectProvider<LeaderElection> election, ApplicationEventPublisher eventPublisher,
			AdvisoryLocksEndpointProperties properties) {
		return new AdvisoryLocksEndpointWebExtension(source, election::getObject, eventPublisher,
				properties.showValues(), properties.roles());
	}

	@Bean
	OperationInvokerAdvisor advisoryLocksEndpointRequests() {
		return AdvisoryLocksEndpointWebExtension.pathOnly();
	}

}
