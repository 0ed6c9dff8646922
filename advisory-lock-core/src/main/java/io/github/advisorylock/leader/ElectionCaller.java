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

package io.github.advisorylock.leader;

import java.util.Collection;

import io.github.advisorylock.annotation.SingleRunnerAnnotationBeanPostProcessor;
import io.github.advisorylock.jdbc.thread.SafeTask;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.TaskScheduler;

/**
 * Calls the methods that ask for it when this instance begins to lead their role, through
 * their proxies, as a scheduler would.
 */
final class ElectionCaller {

	private final Collection<LeaderOnlyMethod> methods;

	private final BeanFactory beanFactory;

	private final ObjectProvider<TaskScheduler> schedulers;

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("advisory-lock-on-election-");

	ElectionCaller(Collection<LeaderOnlyMethod> methods, BeanFactory beanFactory,
			ObjectProvider<TaskScheduler> schedulers) {
		this.methods = methods;
		this.beanFactory = beanFactory;
		this.schedulers = schedulers;
		this.threads.setDaemon(true);
	}

	/**
	 * Have the methods of a role called, and return at once.
	 */
	void call(String role) {
		this.methods.stream()
			.filter((method) -> method.onElection() && method.role().equals(LeaderOnlyGate.undivided(role)))
			.forEach((method) -> callLater(method, role));
	}

	@SuppressWarnings("FutureReturnValueIgnored") // the call reports its own failure
	private void callLater(LeaderOnlyMethod method, String role) {
		String name = method.method().getName() + "' of bean '" + method.beanName() + "'";
		Runnable call = new SafeTask("The call of '" + name + " on election failed",
				() -> LeaderOnlyInterceptor.inShard((method.shards() > 0) ? role : null, () -> {
					SingleRunnerAnnotationBeanPostProcessor.call(this.beanFactory.getBean(method.beanName()),
							method.method());
					return null;
				}));
		new SafeTask("Failed to call '" + name + " on election", () -> {
			TaskScheduler available = this.schedulers.getIfUnique();
			if (available != null) {
				available.schedule(call, available.getClock().instant());
			}
			else {
				this.threads.execute(call);
			}
		}).run();
	}

}
