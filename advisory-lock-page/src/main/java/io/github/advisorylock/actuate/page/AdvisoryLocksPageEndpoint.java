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

import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.page.PageRequest.CsrfHeader;
import io.github.advisorylock.monitor.LockMonitor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.dao.DataAccessException;

/**
 * {@link WebEndpoint @WebEndpoint} with a page for operators. What can be done from it is
 * what the endpoint {@code advisorylocks} allows.
 *
 * @since 0.1.0
 */
@WebEndpoint(id = "advisorylockspage", defaultAccess = Access.READ_ONLY)
public class AdvisoryLocksPageEndpoint {

	private static final Log logger = LogFactory.getLog(AdvisoryLocksPageEndpoint.class);

	private static final String UNAVAILABLE = "<!DOCTYPE html><html lang=\"en\"><head><title>Advisory locks</title></head>"
			+ "<body><h1>Advisory locks</h1><p>%s</p></body></html>";

	private final AdvisoryLocksSource source;

	private final Settings settings;

	private final Supplier<@Nullable String> writableEndpoint;

	private final RunLinks links;

	private final PageDocument document = new PageDocument();

	/**
	 * Create an endpoint.
	 * @param source knows jobs and locks
	 * @param settings how the page looks
	 * @param writableEndpoint where writes go to, relative to the page, {@code null} if
	 * they are not allowed; asked for each time
	 */
	public AdvisoryLocksPageEndpoint(AdvisoryLocksSource source, Settings settings,
			Supplier<@Nullable String> writableEndpoint) {
		this.source = source;
		this.settings = settings;
		this.links = new RunLinks(settings.links().log(), settings.links().trace());
		this.writableEndpoint = writableEndpoint;
	}

	/**
	 * Return a view of the page.
	 * @param securityContext who asks
	 * @param view the view: {@code overview}, {@code jobs}, {@code job},
	 * {@code timeline}, {@code instances}, {@code leaders} or {@code locks}
	 * @param key the one job to show, by its id or its name
	 * @param manager the transaction manager of the database that job is in, where there
	 * are several
	 * @param q what keys or methods of the jobs must contain
	 * @param state the state the jobs must have
	 * @param outcome the outcome the runs must have
	 * @param sort the order of jobs or runs
	 * @param range how far the timeline goes back
	 * @param page the page of the table, from 1
	 * @return an HTML document; with status 503 if the database can't be asked
	 */
	@ReadOperation(produces = "text/html;charset=UTF-8")
	public WebEndpointResponse<String> page(SecurityContext securityContext, @Nullable String view,
			@Nullable String key, @Nullable String manager, @Nullable String q, @Nullable String state,
			@Nullable String outcome, @Nullable String sort, @Nullable String range, @Nullable Integer page) {
		PageRequest.sendHeaders();
		PageQuery query = PageQuery.of(view, key, manager, q, state, outcome, sort, range, page);
		boolean shown = this.settings.showValues().isShown(securityContext, this.settings.roles());
		String endpoint = this.writableEndpoint.get();
		try {
			View content = view(new View.Context(this.source, query, this.settings.rows(), this.settings.timeline(),
					this.links, endpoint != null, shown));
			return new WebEndpointResponse<>(this.document.write(content, query, (endpoint != null) ? endpoint : "",
					this.settings.refresh(), (endpoint != null) ? PageRequest.csrfHeader() : CsrfHeader.NONE));
		}
		catch (DataAccessException ex) {
			logger.debug("The database could not be asked", ex);
			return new WebEndpointResponse<>(Html.of(UNAVAILABLE, LockMonitor.explain(ex)).markup(),
					WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

	private static View view(View.Context context) {
		return switch (context.query().view()) {
			case "jobs" -> JobsView.of(context);
			case "job" -> JobView.of(context);
			case "timeline" -> TimelineView.of(context);
			case "instances" -> InstancesView.of(context);
			case "leaders" -> LeadersView.of(context);
			case "locks" -> LocksView.of(context);
			default -> OverviewView.of(context);
		};
	}

	/**
	 * How the page looks.
	 *
	 * @param refresh how often it shows what is new
	 * @param timeline how far its timeline goes back
	 * @param rows how many jobs are in its table at a time
	 * @param showValues to whom values are shown
	 * @param roles which roles may see values, empty for any user that is logged in
	 * @param links where to find more of a run
	 */
	public record Settings(Duration refresh, Duration timeline, int rows, Show showValues, Set<String> roles,
			Links links) {

	}

	/**
	 * Where to find more of a run: addresses with <code>{traceId}</code>,
	 * <code>{instance}</code>, <code>{key}</code>, <code>{startedAt}</code> or
	 * <code>{finishedAt}</code> in them.
	 *
	 * @param log the address of its log, empty for none
	 * @param trace the address of its trace, empty for none
	 */
	public record Links(String log, String trace) {

		/**
		 * Create addresses.
		 * @param log the address of its log
		 * @param trace the address of its trace
		 * @throws IllegalArgumentException if one is none of the web, or asks for what is
		 * not known of a run
		 */
		public Links {
			RunLinks.check(log);
			RunLinks.check(trace);
		}

	}

}
