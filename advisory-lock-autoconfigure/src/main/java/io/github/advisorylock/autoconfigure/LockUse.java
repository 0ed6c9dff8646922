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

import java.util.List;
import java.util.Set;

import io.github.advisorylock.LockScope;
import io.github.advisorylock.leader.LeaderOnlyMethods;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Another way to take locks than by annotated methods of this library: what the doctor
 * has to know of it, once all beans are there.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface LockUse {

	/**
	 * Return the scopes in which locks are taken that way.
	 * @return the scopes, none if it is not used
	 */
	Set<LockScope> scopes();

	/**
	 * Return methods that are annotated for it, and that nothing guards.
	 * @return the methods, as a message names them
	 */
	default List<String> unguarded() {
		return List.of();
	}

	/**
	 * Return whether the application takes locks, or leads, other than by guarded
	 * methods.
	 * @param beans the container
	 * @return whether it does
	 */
	static boolean isAny(ConfigurableListableBeanFactory beans) {
		boolean used = isInjected(beans, "advisoryLockOperations", LockDatabaseConfiguration.TEMPLATE);
		for (LeaderOnlyMethods roles : beans.getBeanProvider(LeaderOnlyMethods.class)) {
			used |= !roles.getRoles().isEmpty();
		}
		for (LockUse use : beans.getBeanProvider(LockUse.class)) {
			used |= !use.scopes().isEmpty();
		}
		return used;
	}

	/**
	 * Return whether the container has given one of our beans to a bean of the
	 * application, or of another library.
	 * @param beans the container
	 * @param names the names of our beans
	 * @return whether one of them is injected
	 */
	static boolean isInjected(ConfigurableListableBeanFactory beans, String... names) {
		boolean injected = false;
		for (String name : names) {
			for (String dependent : beans.getDependentBeans(name)) {
				injected |= !dependent.startsWith("advisoryLock");
			}
		}
		return injected;
	}

}
