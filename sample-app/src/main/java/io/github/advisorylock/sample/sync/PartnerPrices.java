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

package io.github.advisorylock.sample.sync;

import java.net.http.HttpClient;
import java.time.Duration;

import io.github.advisorylock.sample.Instance;
import org.jspecify.annotations.Nullable;

import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.util.Assert;
import org.springframework.web.client.RestClient;

/**
 * Asks the partner for changes over HTTP.
 */
@Component
class PartnerPrices {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private final Instance instance;

	private final RestClient client;

	PartnerPrices(Instance instance) {
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(
				HttpClient.newBuilder().connectTimeout(TIMEOUT).build());
		requests.setReadTimeout(TIMEOUT);
		this.instance = instance;
		this.client = RestClient.builder().requestFactory(requests).build();
	}

	PriceChanges since(@Nullable String token) {
		String address = this.instance.address() + "/partner/prices";
		PriceChanges changes = this.client.get()
			.uri((token != null) ? address + "?since=" + token : address)
			.retrieve()
			.body(PriceChanges.class);
		Assert.state(changes != null, "'changes' must not be null");
		return changes;
	}

}
