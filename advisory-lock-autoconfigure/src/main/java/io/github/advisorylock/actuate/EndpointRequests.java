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

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.actuate.AdvisoryLocksDescriptor.ErrorDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * {@link OperationInvokerAdvisor} that lets the path alone say which job a request to the
 * endpoint is for. Actuator puts the fields of the body and of the query over the
 * variables of the path, in one map; only those of the path come as an array.
 */
final class EndpointRequests implements OperationInvokerAdvisor {

	private static final EndpointId ENDPOINT = EndpointId.of("advisorylocks");

	private static final String KEY = "key";

	private static final String STATE = "state";

	@Override
	public OperationInvoker apply(EndpointId endpointId, OperationType operationType, OperationParameters parameters,
			OperationInvoker invoker) {
		if (!endpointId.equals(ENDPOINT)
				|| parameters.stream().noneMatch((parameter) -> parameter.getType() == SecurityContext.class)) {
			return invoker;
		}
		Set<String> known = parameters.stream()
			.filter((parameter) -> parameter.getType() != SecurityContext.class)
			.map(OperationParameter::getName)
			.collect(Collectors.toSet());
		return (context) -> {
			String reason = findMistake(context.getArguments(), known, operationType == OperationType.WRITE);
			return (reason != null)
					? new WebEndpointResponse<>(new ErrorDescriptor(reason), WebEndpointResponse.STATUS_BAD_REQUEST)
					: invoker.invoke(context);
		};
	}

	private static @Nullable String findMistake(Map<String, Object> arguments, Set<String> known, boolean write) {
		if (known.contains(KEY) && !(arguments.get(KEY) instanceof String[])) {
			return "'key' must stand in the path only";
		}
		if (!write) {
			return null;
		}
		for (String name : arguments.keySet()) {
			if (!known.contains(name)) {
				return "Unknown field '" + AdvisoryLockKey.display(name) + "': only 'state' is known";
			}
		}
		return (arguments.get(STATE) instanceof String) ? null : "'state' must be a text";
	}

}
