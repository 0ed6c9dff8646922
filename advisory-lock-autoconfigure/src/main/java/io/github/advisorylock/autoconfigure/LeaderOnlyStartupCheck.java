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
import io.github.advisorylock.annotation.InvalidSingleRunnerException;
import io.github.advisorylock.annotation.LeaderOnly;
import io.github.advisorylock.annotation.LeaderOnlyAnnotationBeanPostProcessor;
import io.github.advisorylock.annotation.LeaderOnlyMethod;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Makes this instance a candidate for the roles of its annotated methods, once all beans
 * are there.
 */
final class LeaderOnlyStartupCheck implements SmartInitializingSingleton {

	private final LeaderOnlyAnnotationBeanPostProcessor postProcessor;

	private final ObjectProvider<LeaderElection> election;

	LeaderOnlyStartupCheck(LeaderOnlyAnnotationBeanPostProcessor postProcessor,
			ObjectProvider<LeaderElection> election) {
		this.postProcessor = postProcessor;
		this.election = election;
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (LeaderOnlyMethod method : this.postProcessor.getMethods()) {
			LeaderElection available = this.election.getIfAvailable();
			if (available == null) {
				throw missing(method);
			}
			available.isLeader(method.role());
		}
	}

	private static InvalidSingleRunnerException missing(LeaderOnlyMethod method) {
		return new InvalidSingleRunnerException(LeaderOnly.class, method.beanName(), method.method(),
				"needs a database connection of its own, and there is no DataSource, or it does not tell its URL",
				"Configure 'spring.datasource.url', or set 'advisory-lock.session.url', 'username' and 'password' where "
						+ "there is a DataSource without. In a test, set 'advisory-lock.enabled' to false, which makes "
						+ "every instance the leader.",
				null);
	}

}
