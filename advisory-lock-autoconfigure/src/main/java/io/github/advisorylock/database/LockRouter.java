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

package io.github.advisorylock.database;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.HeldLock;
import io.github.advisorylock.LockCallback;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockResult;
import io.github.advisorylock.TwoPhaseLockOperations;
import io.github.advisorylock.jdbc.PostgresAdvisoryLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Passes each request on to what takes locks in the database that it is for: that of the
 * transaction manager it names, else the default one.
 *
 * @since 0.1.0
 */
public final class LockRouter implements TwoPhaseLockOperations {

	private final PostgresAdvisoryLockTemplate template;

	private final LockDatabases databases;

	private final Map<String, TwoPhaseLockOperations> others = new ConcurrentHashMap<>();

	/**
	 * Create a router.
	 * @param template takes locks in the default database
	 * @param databases knows the other ones
	 */
	public LockRouter(PostgresAdvisoryLockTemplate template, LockDatabases databases) {
		this.template = template;
		this.databases = databases;
	}

	@Override
	public <T extends @Nullable Object, X extends Exception> LockResult<T> execute(LockRequest request,
			LockCallback<T, X> action) throws X {
		return of(request).execute(request, action);
	}

	@Override
	public Admission admit(LockRequest request) {
		return of(request).admit(request);
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		return of(request).tryAcquire(request);
	}

	private TwoPhaseLockOperations of(LockRequest request) {
		Assert.notNull(request, "'request' must not be null");
		String manager = request.transactionManager();
		if (manager == null) {
			return this.template;
		}
		TwoPhaseLockOperations known = this.others.get(manager);
		return (known != null) ? known : this.others.computeIfAbsent(manager, this::find);
	}

	private TwoPhaseLockOperations find(String manager) {
		LockDatabases.Place place = this.databases.place(manager);
		PostgresAdvisoryLockTemplate other = place.database().template().get();
		return ((other != null) ? other : this.template).with(place.manager());
	}

}
