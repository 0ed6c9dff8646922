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

import java.util.Collection;
import java.util.Map;
import java.util.function.Supplier;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LeaderElection;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ActionDescriptor;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.util.Assert;

/**
 * Hands over a role of this instance when an operator asks for it, and publishes that as
 * an {@link org.springframework.boot.actuate.audit.AuditEvent} of type
 * {@code ADVISORY_LOCK_RESIGNED} with namespace and key.
 *
 * @since 0.1.0
 */
public class RoleActions {

	static final String RESIGNED = "resigned";

	private final Supplier<LeaderElection> election;

	private final Supplier<Collection<String>> roles;

	private final String namespace;

	private final ApplicationEventPublisher eventPublisher;

	/**
	 * Create actions.
	 * @param election knows who leads; asked for when there is a role
	 * @param roles the roles of the methods of this instance
	 * @param namespace the namespace of the application
	 * @param eventPublisher is told what was done
	 */
	public RoleActions(Supplier<LeaderElection> election, Supplier<Collection<String>> roles, String namespace,
			ApplicationEventPublisher eventPublisher) {
		this.election = election;
		this.roles = roles;
		this.namespace = namespace;
		this.eventPublisher = eventPublisher;
	}

	/**
	 * Return whether a key is that of a role of this instance.
	 */
	boolean knows(String key) {
		return key.startsWith(LeaderElection.KEY_PREFIX) && this.roles.get().contains(role(key));
	}

	/**
	 * Do something with a role.
	 * @throws IllegalArgumentException if that can't be done with it
	 */
	ActionDescriptor act(String key, String state, String user) {
		Assert.isTrue(RESIGNED.equals(state), () -> "Unknown state '" + AdvisoryLockKey.display(state)
				+ "' of the role of a leader: choose '" + RESIGNED + "'");
		this.eventPublisher.publishEvent(new AuditApplicationEvent(user, "ADVISORY_LOCK_RESIGNED",
				Map.of("namespace", this.namespace, "key", key)));
		this.election.get().resign(role(key));
		return new ActionDescriptor(key, this.namespace, RESIGNED, user, null, null);
	}

	private static String role(String key) {
		return key.substring(LeaderElection.KEY_PREFIX.length());
	}

}
