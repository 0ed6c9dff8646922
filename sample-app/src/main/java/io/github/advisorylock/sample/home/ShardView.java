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

package io.github.advisorylock.sample.home;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.advisorylock.sample.Instances;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Who leads which shard of the relay, for the page.
 */
@Component
class ShardView {

	private final JdbcClient jdbc;

	ShardView(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Return all shards, by number. The leader of one is the last that has gained it and
	 * has not lost it since; one that was killed could not say that it has.
	 */
	List<Shard> all(List<Instances.Known> instances) {
		Map<String, Instances.Known> known = instances.stream()
			.collect(Collectors.toMap(Instances.Known::name, Function.identity(), (one, other) -> one));
		return this.jdbc.sql("""
				SELECT shard, instance, (SELECT count(*) FROM order_message WHERE order_no % 8 = shard
				AND sent_at IS NULL) AS waiting FROM generate_series(0, 7) AS shard LEFT JOIN LATERAL (
				SELECT * FROM leadership WHERE role = 'relay#' || shard ORDER BY term DESC LIMIT 1
				) AS last ON until IS NULL ORDER BY shard
				""")
			.query((row, number) -> new Shard(row.getInt("shard"), row.getInt("waiting"),
					known.get(Objects.requireNonNullElse(row.getString("instance"), ""))))
			.list();
	}

	/**
	 * Return the instances that are alive, which of the shards each leads, and what it
	 * has sent.
	 */
	List<Part> parts(List<Instances.Known> instances, List<Shard> shards) {
		Map<String, Integer> sent = this.jdbc
			.sql("SELECT sent_by, count(*)::integer FROM order_message WHERE sent_at IS NOT NULL GROUP BY sent_by")
			.query((row, number) -> Map.entry(row.getString(1), row.getInt(2)))
			.list()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		return instances.stream()
			.filter(Instances.Known::alive)
			.map((one) -> new Part(one,
					shards.stream()
						.filter((shard) -> shard.leader() != null && shard.leader().name().equals(one.name()))
						.map((shard) -> String.valueOf(shard.number()))
						.collect(Collectors.joining(", ")),
					sent.getOrDefault(one.name(), 0)))
			.toList();
	}

	/**
	 * A shard, how many messages wait in it, and who leads it, {@code null} if nobody
	 * does.
	 */
	record Shard(int number, int waiting, Instances.@Nullable Known leader) {

	}

	/**
	 * An instance, the shards that it leads, and how many messages it has sent.
	 */
	record Part(Instances.Known instance, String shards, int sent) {

	}

}
