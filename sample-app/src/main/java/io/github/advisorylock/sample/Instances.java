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

package io.github.advisorylock.sample;

import java.time.Duration;
import java.util.List;

import io.github.advisorylock.annotation.EveryInstance;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * All instances and where they answer. Each says every now and then that it is alive; one
 * that is killed just falls silent.
 */
@Component
public class Instances {

	private static final int MOST_SHOWN = 8;

	private final JdbcClient jdbc;

	private final Instance self;

	private final Duration silence;

	Instances(JdbcClient jdbc, Instance self, @Value("${sample.instances.say-every}") Duration period) {
		this.jdbc = jdbc;
		this.self = self;
		this.silence = period.multipliedBy(3);
	}

	/**
	 * In a container, one that is started again may have the name of the one before it.
	 */
	@EventListener(ApplicationStartedEvent.class)
	void sayThatThisOneStarts() {
		this.jdbc.sql("""
				INSERT INTO sample_instance (name, port) VALUES (?, ?) ON CONFLICT (name, port)
				DO UPDATE SET started_at = now(), seen_at = now(), stopped_at = NULL
				""").params(this.self.name(), this.self.port()).update();
	}

	@EveryInstance
	@Scheduled(fixedRateString = "${sample.instances.say-every}")
	void sayThatThisOneIsAlive() {
		this.jdbc.sql("UPDATE sample_instance SET seen_at = now() WHERE name = ? AND port = ?")
			.params(this.self.name(), this.self.port())
			.update();
	}

	@EventListener(ContextClosedEvent.class)
	void sayThatThisOneStops() {
		this.jdbc.sql("UPDATE sample_instance SET stopped_at = now() WHERE name = ? AND port = ?")
			.params(this.self.name(), this.self.port())
			.update();
	}

	/**
	 * Return the instances that are known, those that are alive first.
	 * @return some of the last ones
	 */
	public List<Known> all() {
		return this.jdbc.sql("""
				SELECT name, port, chr(65 + ((row_number() OVER (ORDER BY started_at, name, port) - 1) % 26)::integer)
				AS letter, self, CASE WHEN self THEN 'alive' WHEN stopped_at IS NOT NULL THEN 'stopped'
				WHEN seen_at > now() - make_interval(secs => :silence) THEN 'alive' ELSE 'gone' END AS state,
				extract(epoch FROM now() - coalesce(stopped_at, seen_at))::integer AS seconds_ago
				FROM sample_instance, LATERAL (SELECT name = :self AND port = :port AS self) AS mine
				ORDER BY state, self DESC, started_at DESC LIMIT :most
				""")
			.param("self", this.self.name())
			.param("port", this.self.port())
			.param("silence", this.silence.toSeconds())
			.param("most", MOST_SHOWN)
			.query(Known.class)
			.list();
	}

	/**
	 * One instance.
	 *
	 * @param name its name
	 * @param port the port that it answers on
	 * @param letter what stands for it in pictures, the same on the pages of all
	 * @param self whether it is this one
	 * @param state {@code alive}, {@code gone} without a word, or {@code stopped}
	 * @param secondsAgo when it said so last
	 */
	public record Known(String name, int port, String letter, boolean self, String state, int secondsAgo) {

		/**
		 * Return whether it can be asked something.
		 * @return {@code true} if it is alive
		 */
		public boolean alive() {
			return this.state.equals("alive");
		}

	}

}
