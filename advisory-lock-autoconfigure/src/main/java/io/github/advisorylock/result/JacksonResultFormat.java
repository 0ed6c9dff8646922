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

package io.github.advisorylock.result;

import io.github.advisorylock.interceptor.LedgerOperation.ResultFormat;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.util.Assert;

/**
 * Keeps results as JSON, as the application's mapper writes it, in ASCII: databases of
 * any encoding can store that.
 *
 * @since 0.1.0
 */
public final class JacksonResultFormat implements ResultFormat {

	private static final int LARGEST = 1 << 20;

	private final ObjectWriter writer;

	private final ObjectReader reader;

	private final ResolvableType type;

	private JacksonResultFormat(JsonMapper mapper, ResolvableType type) {
		JavaType javaType = mapper.constructType(type.getType());
		this.writer = mapper.writerFor(javaType).with(JsonWriteFeature.ESCAPE_NON_ASCII);
		this.reader = mapper.readerFor(javaType);
		this.type = type;
	}

	/**
	 * Return how results of a type are kept.
	 * @param beans has the application's mapper
	 * @param type the type
	 * @return the format, {@code null} where the application has no mapper
	 */
	public static @Nullable ResultFormat of(BeanFactory beans, ResolvableType type) {
		JsonMapper mapper = beans.getBeanProvider(JsonMapper.class).getIfUnique();
		return (mapper != null) ? new JacksonResultFormat(mapper, type) : null;
	}

	@Override
	public String write(@Nullable Object result) {
		String json = this.writer.writeValueAsString(result);
		Assert.state(json.length() <= LARGEST, () -> "Failed to keep a result of type '" + this.type + "': it has "
				+ json.length() + " bytes as JSON, more than " + LARGEST + "; return less");
		return json;
	}

	@Override
	public @Nullable Object read(String text) {
		return this.reader.readValue(text);
	}

}
