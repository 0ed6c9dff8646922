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

package io.github.advisorylock.metrics;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observation of a call of a guarded method.
 *
 * @since 0.1.0
 */
public enum LockExecutionObservationDocumentation implements ObservationDocumentation {

	/**
	 * A call, from the moment it has the lock until it has released it. A skip is in the
	 * timer of the same name.
	 */
	EXECUTION {

		@Override
		public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
			return DefaultLockExecutionObservationConvention.class;
		}

		@Override
		public KeyName[] getLowCardinalityKeyNames() {
			return LowCardinalityKeyNames.values();
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return HighCardinalityKeyNames.values();
		}

	},

	/**
	 * A skip, if it was asked for: it has no length.
	 */
	SKIP {

		@Override
		public String getName() {
			return LockSkipObservationConvention.NAME;
		}

		@Override
		public KeyName[] getLowCardinalityKeyNames() {
			return LowCardinalityKeyNames.values();
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return new KeyName[] { HighCardinalityKeyNames.LOCK_KEY };
		}

	};

	/**
	 * Tags of meters and spans.
	 */
	public enum LowCardinalityKeyNames implements KeyName {

		/**
		 * The key as it stands in the annotation: expressions are not evaluated.
		 */
		KEY {

			@Override
			public String asString() {
				return "key";
			}

		},

		/**
		 * How long the lock lives.
		 */
		SCOPE {

			@Override
			public String asString() {
				return "scope";
			}

		},

		/**
		 * How the call ended: executed, busy, already-ran, too-soon, paused or error;
		 * none as long as it is under way.
		 */
		OUTCOME {

			@Override
			public String asString() {
				return "outcome";
			}

		}

	}

	/**
	 * Tags of spans only.
	 */
	public enum HighCardinalityKeyNames implements KeyName {

		/**
		 * The key of this call.
		 */
		LOCK_KEY {

			@Override
			public String asString() {
				return "lock.key";
			}

		},

		/**
		 * The fencing token of this run.
		 */
		FENCING_TOKEN {

			@Override
			public String asString() {
				return "fencing.token";
			}

		}

	}

}
