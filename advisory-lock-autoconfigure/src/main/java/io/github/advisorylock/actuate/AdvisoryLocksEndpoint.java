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

import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.JobDetailsDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * {@link Endpoint @Endpoint} for the jobs of the application and the advisory locks of
 * its database. Over the web, it can also pause, resume and run jobs, where
 * {@code management.endpoint.advisorylocks.access} is {@code unrestricted}.
 *
 * @since 0.1.0
 * @see AdvisoryLocksEndpointWebExtension
 */
@Endpoint(id = "advisorylocks", defaultAccess = Access.READ_ONLY)
class AdvisoryLocksEndpoint {

	private final AdvisoryLocksSource source;

	/**
	 * Create an endpoint.
	 * @param source knows jobs and locks
	 */
	AdvisoryLocksEndpoint(AdvisoryLocksSource source) {
		this.source = source;
	}

	/**
	 * Return jobs, values hidden.
	 * @param q what keys or methods of the jobs must contain
	 * @param state the state the jobs must have
	 * @param sort their order
	 * @param page which page of the jobs, from 1
	 * @param size how many jobs are on a page, 100 unless set, 1000 at most
	 * @param transactionManager the transaction manager of the database they are in
	 * @return jobs
	 */
	@ReadOperation
	AdvisoryLocksDescriptor advisoryLocks(@Nullable String q, @Nullable String state, @Nullable String sort,
			@Nullable Integer page, @Nullable Integer size, @Nullable String transactionManager) {
		return this.source.getLocks(transactionManager, q, state, sort, page, size, false);
	}

	/**
	 * Return one job with its last runs, values hidden.
	 * @param namespace the namespace of its key
	 * @param transactionManager the transaction manager of the database it is in
	 * @param key its key, or what stands for it in addresses
	 * @return the job, {@code null} if there is none of that key
	 */
	@ReadOperation
	@Nullable JobDetailsDescriptor job(@Nullable String namespace, @Nullable String transactionManager,
			@Selector(match = Selector.Match.ALL_REMAINING) String... key) {
		return this.source.in(transactionManager).getJob(namespace, String.join("/", key), false).orElse(null);
	}

}
