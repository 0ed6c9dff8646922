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

import java.security.Principal;
import java.util.Optional;
import java.util.Set;

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ErrorDescriptor;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.context.annotation.ImportRuntimeHints;

/**
 * {@link EndpointWebExtension @EndpointWebExtension} of the
 * {@link AdvisoryLocksEndpoint}: who asks, and statuses.
 *
 * @since 0.1.0
 */
@EndpointWebExtension(endpoint = AdvisoryLocksEndpoint.class)
@ImportRuntimeHints(AdvisoryLocksRuntimeHints.class)
public class AdvisoryLocksEndpointWebExtension {

	private static final String ANONYMOUS = "anonymous";

	private final AdvisoryLocksSource source;

	private final JobActions actions;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Create an extension.
	 * @param source knows jobs and locks
	 * @param actions does what operators ask for
	 * @param showValues to whom values are shown
	 * @param roles which roles may see values, empty for any user that is logged in
	 */
	public AdvisoryLocksEndpointWebExtension(AdvisoryLocksSource source, JobActions actions, Show showValues,
			Set<String> roles) {
		this.source = source;
		this.actions = actions;
		this.showValues = showValues;
		this.roles = roles;
	}

	/**
	 * Return all jobs and locks.
	 * @param securityContext who asks
	 * @return jobs and locks
	 */
	@ReadOperation
	public WebEndpointResponse<AdvisoryLocksDescriptor> advisoryLocks(SecurityContext securityContext) {
		return new WebEndpointResponse<>(this.source.getLocks(isShown(securityContext)));
	}

	/**
	 * Return one job with its last runs.
	 * @param securityContext who asks
	 * @param key its key, or its namespace, a slash and its key
	 * @return the job, or status 404 if there is none of that key
	 */
	@ReadOperation
	public WebEndpointResponse<JobDetailsDescriptor> job(SecurityContext securityContext,
			@Selector(match = Match.ALL_REMAINING) String... key) {
		return this.source.getJob(String.join("/", key), isShown(securityContext))
			.map(WebEndpointResponse::new)
			.orElseGet(() -> new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND));
	}

	/**
	 * Pause, resume or run a job.
	 * @param securityContext who asks
	 * @param state what is asked for: {@code paused}, {@code resumed} or {@code running}
	 * @param key its key, or its namespace, a slash and its key
	 * @return what was done; status 404 if there is no job of that key, 400 if that can't
	 * be done with it
	 */
	@WriteOperation
	public WebEndpointResponse<Object> act(SecurityContext securityContext, String state,
			@Selector(match = Match.ALL_REMAINING) String... key) {
		boolean shown = isShown(securityContext);
		Optional<JobDetailsDescriptor> job = this.source.getJob(String.join("/", key), shown);
		if (job.isEmpty()) {
			return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
		}
		try {
			return new WebEndpointResponse<>(this.actions.act(job.get().job(), state, user(securityContext), shown));
		}
		catch (IllegalArgumentException ex) {
			return new WebEndpointResponse<>(new ErrorDescriptor(String.valueOf(ex.getMessage())),
					WebEndpointResponse.STATUS_BAD_REQUEST);
		}
	}

	private boolean isShown(SecurityContext securityContext) {
		return this.showValues.isShown(securityContext, this.roles);
	}

	private static String user(SecurityContext securityContext) {
		Principal principal = securityContext.getPrincipal();
		return (principal != null) ? principal.getName() : ANONYMOUS;
	}

}
