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

import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.LockLostEvent;
import io.github.advisorylock.SingleRunnerFinishedEvent;
import io.github.advisorylock.SingleRunnerSkippedEvent;
import io.github.advisorylock.actuate.AdvisoryLocksEndpoint;
import io.github.advisorylock.actuate.AdvisoryLocksEndpointWebExtension;
import io.github.advisorylock.actuate.AdvisoryLocksSource;
import io.github.advisorylock.actuate.CallCounts;
import io.github.advisorylock.actuate.EndpointRequests;
import io.github.advisorylock.actuate.GuardedApplication;
import io.github.advisorylock.actuate.JobActions;
import io.github.advisorylock.actuate.RoleActions;
import io.github.advisorylock.actuate.page.AdvisoryLocksPageEndpoint;
import io.github.advisorylock.actuate.page.CsrfHeader;
import io.github.advisorylock.actuate.page.PageHeaders;
import io.github.advisorylock.actuate.page.ServletCsrfHeaderSource;
import io.github.advisorylock.actuate.page.ServletPageHeaders;
import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.SingleRunnerSettings;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import io.github.advisorylock.ledger.PostgresAdvisoryLockLedger;
import io.github.advisorylock.monitor.LockMonitor;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.util.StringUtils;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the endpoint
 * {@code advisorylocks}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = AdvisoryLockAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnBean(PostgresAdvisoryLockTemplate.class)
@Conditional(AdvisoryLockEndpointAutoConfiguration.OnEndpointOrPage.class)
@EnableConfigurationProperties({ AdvisoryLocksEndpointProperties.class, AdvisoryLocksPageProperties.class })
public final class AdvisoryLockEndpointAutoConfiguration {

	private static final EndpointId ENDPOINT = EndpointId.of("advisorylocks");

	private static final EndpointId PAGE = EndpointId.of("advisorylockspage");

	@Bean
	@ConditionalOnAvailableEndpoint
	@ConditionalOnMissingBean
	AdvisoryLocksEndpoint advisoryLocksEndpoint(AdvisoryLocksSource source) {
		return new AdvisoryLocksEndpoint(source);
	}

	@Bean
	@ConditionalOnBean(AdvisoryLocksEndpoint.class)
	@ConditionalOnMissingBean
	AdvisoryLocksEndpointWebExtension advisoryLocksEndpointWebExtension(AdvisoryLocksSource source, JobActions actions,
			RoleActions leaders, AdvisoryLocksEndpointProperties properties) {
		return new AdvisoryLocksEndpointWebExtension(source, actions, leaders, properties.getShowValues(),
				properties.getRoles());
	}

	@Bean
	EndpointRequests advisoryLocksEndpointRequests() {
		return new EndpointRequests();
	}

	@Bean
	CallCounts callCounts() {
		return new CallCounts();
	}

	@Bean
	ApplicationListener<PayloadApplicationEvent<SingleRunnerFinishedEvent>> finishedCallListener(CallCounts counts) {
		return ApplicationListener.forPayload(counts::finished);
	}

	@Bean
	ApplicationListener<PayloadApplicationEvent<SingleRunnerSkippedEvent>> skippedCallListener(CallCounts counts) {
		return ApplicationListener.forPayload(counts::skipped);
	}

	@Bean
	ApplicationListener<PayloadApplicationEvent<LockLostEvent>> lossListener(CallCounts counts) {
		return ApplicationListener.forPayload(counts::lost);
	}

	@Bean
	AdvisoryLocksSource advisoryLocksSource(SingleRunnerAnnotationBeanPostProcessor methods,
			ObjectProvider<LeaderRoles> leaders, SingleRunnerSettings settings, Environment environment,
			ObjectProvider<ScheduledTaskHolder> schedulers, LockTransactionManager transactionManager,
			ObjectProvider<PostgresAdvisoryLockLedger> ledgers, CallCounts counts,
			ObjectProvider<SanitizingFunction> sanitizing) {
		GuardedApplication application = new GuardedApplication(settings, methods::getMethods,
				() -> leaders.getIfAvailable(() -> LeaderRoles.NONE).get(), () -> tasks(schedulers),
				environment::resolvePlaceholders);
		PostgresAdvisoryLockLedger ledger = ledgers.getIfAvailable();
		return new AdvisoryLocksSource(application, new LockMonitor(transactionManager.getDataSource()),
				(ledger != null) ? ledger.repository() : null, () -> ledger != null && ledger.isOpen(), counts,
				sanitizer(sanitizing));
	}

	@Bean
	RoleActions roleActions(ObjectProvider<LeaderElection> election, ObjectProvider<LeaderRoles> leaders,
			SingleRunnerSettings settings, ApplicationEventPublisher eventPublisher) {
		return new RoleActions(election::getObject, () -> leaders.getIfAvailable(() -> LeaderRoles.NONE).get(),
				settings.namespace(), eventPublisher);
	}

	@Bean
	JobActions jobActions(ObjectProvider<PostgresAdvisoryLockLedger> ledgers, ApplicationEventPublisher eventPublisher,
			ObjectProvider<SanitizingFunction> sanitizing) {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("advisory-lock-run-now-");
		executor.setDaemon(true);
		return new JobActions(ledgers.getIfAvailable(), executor, eventPublisher, sanitizer(sanitizing));
	}

	@Bean
	@ConditionalOnAvailableEndpoint
	@ConditionalOnMissingBean
	AdvisoryLocksPageEndpoint advisoryLocksPageEndpoint(AdvisoryLocksSource source,
			AdvisoryLocksEndpointProperties endpoint, AdvisoryLocksPageProperties page, EndpointAccessResolver access,
			ObjectProvider<PathMappedEndpoints> paths, ObjectProvider<Supplier<CsrfHeader>> csrfHeader,
			ObjectProvider<PageHeaders> headers) {
		return new AdvisoryLocksPageEndpoint(source, page.toSettings(endpoint),
				() -> (access.accessFor(ENDPOINT, Access.READ_ONLY) == Access.UNRESTRICTED)
						? pathFromPage(paths.getIfAvailable()) : null,
				csrfHeader.getIfAvailable(() -> () -> CsrfHeader.NONE), headers.getIfAvailable(() -> PageHeaders.NONE));
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

	private static Stream<ScheduledTask> tasks(ObjectProvider<ScheduledTaskHolder> schedulers) {
		return schedulers.stream().flatMap((scheduler) -> scheduler.getScheduledTasks().stream());
	}

	private static Sanitizer sanitizer(ObjectProvider<SanitizingFunction> sanitizing) {
		return new Sanitizer(sanitizing.orderedStream().toList());
	}

	/**
	 * Headers of the page, without Spring Security too.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "jakarta.servlet.http.HttpServletResponse")
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	static class HeadersConfiguration {

		@Bean
		@ConditionalOnMissingBean(PageHeaders.class)
		ServletPageHeaders servletPageHeaders() {
			return new ServletPageHeaders();
		}

	}

	/**
	 * The defence of Spring Security against cross-site requests.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.security.web.csrf.CsrfToken")
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	static class CsrfConfiguration {

		@Bean
		ServletCsrfHeaderSource servletCsrfHeaderSource() {
			return new ServletCsrfHeaderSource();
		}

	}

	/**
	 * At least one of the two is exposed.
	 */
	static class OnEndpointOrPage extends AnyNestedCondition {

		OnEndpointOrPage() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		/**
		 * The endpoint is.
		 */
		@ConditionalOnAvailableEndpoint(AdvisoryLocksEndpoint.class)
		static class EndpointExposed {

		}

		/**
		 * The page is.
		 */
		@ConditionalOnAvailableEndpoint(AdvisoryLocksPageEndpoint.class)
		static class PageExposed {

		}

	}

}
