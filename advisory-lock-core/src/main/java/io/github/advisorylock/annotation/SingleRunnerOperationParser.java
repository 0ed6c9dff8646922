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

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.LockRequest;
import io.github.advisorylock.LockScope;
import io.github.advisorylock.annotation.InvalidSingleRunnerException.InvalidAttributeException;
import io.github.advisorylock.interceptor.LedgerOperation.ResultFormat;
import io.github.advisorylock.interceptor.SingleRunnerOperation;
import io.github.advisorylock.interceptor.SkippedValue;
import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * Turns the attributes of an annotation into an operation.
 */
final class SingleRunnerOperationParser {

	private final SingleRunnerSettings settings;

	private final StringValueResolver placeholders;

	private final LedgerOperationParser ledger;

	private final FixedKeys fixedKeys = new FixedKeys();

	private final AnnotationTransactionAttributeSource transactionAttributes = new AnnotationTransactionAttributeSource(
			false);

	private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	SingleRunnerOperationParser(SingleRunnerSettings settings, StringValueResolver placeholders) {
		this.settings = settings;
		this.placeholders = placeholders;
		this.ledger = new LedgerOperationParser(settings.ledger(), this::resolve);
		this.transactionAttributes.setEmbeddedValueResolver(placeholders);
	}

	FixedKeys fixedKeys() {
		return this.fixedKeys;
	}

	/**
	 * Parse an annotation. What is kept of each method is no more than it needs, as there
	 * may be many: neither the annotation nor the text of a key that is fixed.
	 * @throws InvalidAttributeException if one of its attributes is unusable
	 */
	SingleRunnerOperation parse(SingleRunner annotation, Method method, Class<?> targetClass) {
		KeyTemplate template = parseKey(annotation, method);
		KeyTemplate namespace = parseTemplate("namespace", namespace(annotation), method);
		boolean allowShared = annotation.allowSharedKey();
		AdvisoryLockKey fixedKey = (template.isFixed() && namespace.isFixed())
				? createFixedKey(namespace.text(), template.text()) : null;
		SingleRunnerSettings.Job job = this.settings.job(template.text());
		LockScope scope = (job.scope() != null) ? job.scope() : annotation.scope();
		Duration waitFor = (job.waitFor() != null) ? job.waitFor() : parseWaitFor(annotation.waitFor());
		String name = name(ClassUtils.getUserClass(targetClass), method);
		int permits = job.permits(annotation);
		checkPermits(permits);
		return new SingleRunnerOperation(name, SkippedValue.of(method), template.text(), fixedKey,
				(fixedKey != null) ? (arguments) -> fixedKey
						: (arguments) -> createKey(namespace, template, allowShared, method, arguments),
				scope, permits, waitFor, this.ledger.duration("maxRun", annotation.maxRun(), job.maxRun()),
				annotation.whenBusy() == WhenBusy.FAIL, job.paused(),
				this.ledger.parse(annotation, method, fixedKey != null, job, results(annotation, method, targetClass)),
				this.ledger.autoTicks(annotation, method, permits, this.settings.rememberTicks()),
				transactionManager(annotation, method, targetClass));
	}

	private static void checkPermits(int permits) {
		if (permits < 1 || permits > AdvisoryLockKey.MAX_PERMITS) {
			throw new InvalidAttributeException("permits",
					"is " + permits + ": it must be from 1 to " + AdvisoryLockKey.MAX_PERMITS,
					"Set it to how many may run at a time.", null);
		}
	}

	/**
	 * Return how results of a method are kept, which must be of a type that can be told
	 * from its declaration.
	 */
	private @Nullable ResultFormat results(SingleRunner annotation, Method method, Class<?> targetClass) {
		if (!annotation.keepResult()) {
			return null;
		}
		if (annotation.once() != Once.PER_KEY) {
			throw new InvalidAttributeException("keepResult", "needs attribute 'once' to be PER_KEY",
					"Set 'once' to PER_KEY, or remove 'keepResult'.", null);
		}
		ResolvableType type = SkippedValue.contentType(method, targetClass);
		Class<?> resolved = type.resolve(Object.class);
		if (resolved == Object.class || resolved == void.class || resolved == Void.class
				|| type.hasUnresolvableGenerics()) {
			throw new InvalidAttributeException("keepResult",
					"needs a type that a kept result can be read as, and the method returns '"
							+ method.getGenericReturnType().getTypeName() + "'",
					"Declare the type that the method returns, or remove 'keepResult'.", null);
		}
		ResultFormat format = this.settings.results().apply(type);
		if (format == null) {
			throw new InvalidAttributeException("keepResult", "needs Jackson, of which there is no 'JsonMapper' bean",
					"Add 'spring-boot-starter-jackson', or remove 'keepResult'.", null);
		}
		return format;
	}

	/**
	 * Return the name of a method in logs, which that of its task ends with.
	 */
	static String name(Class<?> type, Method method) {
		return (type.isAnonymousClass() ? StringUtils.unqualify(type.getName()) : type.getSimpleName()) + "."
				+ method.getName();
	}

	/**
	 * Return what the {@code @Transactional} of a method says.
	 */
	@Nullable TransactionAttribute transaction(Method method, Class<?> targetClass) {
		return this.transactionAttributes.getTransactionAttribute(method, targetClass);
	}

	/**
	 * What the lock lives in is for the annotation of the transaction to say, where the
	 * other does not.
	 */
	private @Nullable String transactionManager(SingleRunner annotation, Method method, Class<?> targetClass) {
		String name = resolve("transactionManager", annotation.transactionManager());
		if (!StringUtils.hasText(name)) {
			TransactionAttribute transaction = transaction(method, targetClass);
			name = (transaction != null) ? transaction.getQualifier() : null;
		}
		return StringUtils.hasText(name) ? name : null;
	}

	/**
	 * Return the text of the namespace, with its expressions as they are.
	 */
	String namespace(SingleRunner annotation) {
		String namespace = resolve("namespace", annotation.namespace());
		checkEnds("namespace", namespace);
		return namespace.isEmpty() ? this.settings.namespace() : namespace;
	}

	private KeyTemplate parseKey(SingleRunner annotation, Method method) {
		String text = resolve("key", annotation.key());
		checkNotEmpty(text);
		checkAllowed(text);
		checkEnds("key", text);
		KeyTemplate template = parseTemplate("key", text, method);
		checkNotEmpty(template.text());
		return template;
	}

	private KeyTemplate parseTemplate(String attribute, String text, Method method) {
		try {
			@Nullable String @Nullable [] names = this.parameterNames.getParameterNames(method);
			KeyTemplate template = KeyTemplate.parse(text, names);
			if (!template.isFixed()) {
				template.checkProperties((index) -> ResolvableType.forMethodParameter(method, index));
			}
			return template;
		}
		catch (RuntimeException ex) {
			throw new InvalidAttributeException(attribute, "can't be parsed: '" + text + "': " + ex.getMessage(),
					"Write arguments as '#{#name}', by the names of the method's parameters, and compile with "
							+ "'-parameters'.",
					ex);
		}
	}

	private static void checkNotEmpty(String key) {
		if (!StringUtils.hasText(key)) {
			throw new InvalidAttributeException("key", "is empty", "Set it to a name that identifies the job.", null);
		}
	}

	/**
	 * Nobody sees a blank at the end of a line, and it makes another lock.
	 */
	private static void checkEnds(String attribute, String text) {
		if (!text.equals(text.strip())) {
			throw new InvalidAttributeException(attribute,
					"begins or ends with a blank: '" + AdvisoryLockKey.display(text) + "'",
					"Remove it, here or where a placeholder gets its value.", null);
		}
	}

	private static void checkAllowed(String text) {
		try {
			LockRequest.of(text);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAttributeException("key", StringUtils.delete(String.valueOf(ex.getMessage()), "'key' "),
					"Choose another name, such a start is kept for the locks of leaders and of the library.", ex);
		}
	}

	private AdvisoryLockKey createFixedKey(String namespace, String name) {
		try {
			return createKey(namespace, name);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAttributeException("namespace", "is unusable: " + ex.getMessage(),
					"Change it, or 'advisory-lock.namespace' where the annotation does not set one.", ex);
		}
	}

	private AdvisoryLockKey createKey(KeyTemplate namespace, KeyTemplate template, boolean allowShared, Method method,
			@Nullable Object[] arguments) {
		AdvisoryLockKey key;
		try {
			key = createKey(namespace.evaluate(arguments), template.evaluate(arguments));
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(ex.getMessage() + ", in a call of " + this.fixedKeys.describe(method),
					ex.getCause());
		}
		return this.fixedKeys.check(key, template.text(), allowShared);
	}

	private AdvisoryLockKey createKey(String namespace, String name) {
		return LockRequest.of(name).key(namespace, this.settings.keyFactory());
	}

	private Duration parseWaitFor(String attribute) {
		String text = resolve("waitFor", attribute);
		if (!StringUtils.hasText(text)) {
			return this.settings.waitFor();
		}
		return LedgerOperationParser.parseDuration("waitFor", text, "zero or more");
	}

	private String resolve(String attribute, String text) {
		try {
			String resolved = this.placeholders.resolveStringValue(text);
			return (resolved != null) ? resolved : "";
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAttributeException(attribute, "can't be resolved: " + ex.getMessage(),
					"Set the property, or give the placeholder a default."
							+ (attribute.equals("key") ? " An argument of the method is written '#{#name}'." : ""),
					ex);
		}
	}

	/**
	 * The keys that every call of some method has. What arguments make of the key of
	 * another method must not be one of them, or a caller could keep that method from
	 * running.
	 */
	static final class FixedKeys {

		private final Map<AdvisoryLockKey, SingleRunnerMethod> methods = new ConcurrentHashMap<>();

		/**
		 * The methods whose keys depend on arguments are remembered to be named.
		 */
		private final Map<Method, SingleRunnerMethod> others = new ConcurrentHashMap<>();

		void add(SingleRunnerMethod method) {
			if (method.fixedKey() != null) {
				this.methods.put(method.fixedKey(), method);
			}
			else {
				this.others.put(method.method(), method);
			}
		}

		String describe(Method method) {
			SingleRunnerMethod registered = this.others.get(method);
			return (registered != null) ? registered.toString() : "method '" + method + "'";
		}

		/**
		 * Check a key that arguments made.
		 * @param template the text that the key was made from
		 * @param allowShared whether the method may have the key of another one that
		 * allows that too
		 * @throws IllegalArgumentException if it is the key of another method
		 */
		AdvisoryLockKey check(AdvisoryLockKey key, String template, boolean allowShared) {
			SingleRunnerMethod other = this.methods.get(key);
			if (other != null && !(allowShared && other.allowSharedKey())) {
				throw new IllegalArgumentException(
						"Failed to evaluate key '" + AdvisoryLockKey.display(template) + "': '" + key
								+ "' is the key of " + other + "; give keys with arguments a text of their own, or set "
								+ "'allowSharedKey' on both methods if they are meant to exclude each other");
			}
			return key;
		}

	}

}
