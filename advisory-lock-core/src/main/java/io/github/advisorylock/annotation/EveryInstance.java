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

package io.github.advisorylock.annotation;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Says that a {@code @Scheduled} method is meant to run on every instance of the
 * application: it looks after something that each instance has of its own.
 *
 * <pre class="code">
 * &#64;Scheduled(fixedRate = 60_000)
 * &#64;EveryInstance
 * void refreshCache() {
 *     // each instance has its own cache
 * }
 * </pre>
 *
 * <p>
 * Changes nothing of how the method runs. With
 * {@code advisory-lock.doctor.unguarded-scheduled} set to {@code warn} or {@code fail}
 * each scheduled method has to say how it runs in a fleet: by this annotation, by
 * {@link SingleRunner} or by {@link LeaderOnly}. One that says two things that exclude
 * each other is a start-up error. Belongs on methods only, so that a method that is added
 * to a class says for itself what it is. May be used as a meta-annotation.
 *
 * @since 0.1.0
 */
@Documented
@Reflective
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
public @interface EveryInstance {

}
