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

import java.util.Set;

import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@link ConfigurationProperties @ConfigurationProperties} of the endpoint
 * {@code advisorylocks}, beside its {@code access}, as those of Spring Boot's endpoints
 * are.
 *
 * @param showValues When to show statements of holders and messages of failures.
 * @param roles Roles that may see them. When empty, all authenticated users may.
 */
@ConfigurationProperties("management.endpoint.advisorylocks")
public record AdvisoryLocksEndpointProperties(@DefaultValue("never") Show showValues, @DefaultValue Set<String> roles) {

}
