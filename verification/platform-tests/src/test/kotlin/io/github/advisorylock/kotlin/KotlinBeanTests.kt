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

package io.github.advisorylock.kotlin

import io.github.advisorylock.AdvisoryLockConfigurationException
import io.github.advisorylock.AdvisoryLockKey
import io.github.advisorylock.LockOutcome
import io.github.advisorylock.LockResult
import io.github.advisorylock.annotation.Once
import io.github.advisorylock.annotation.SingleRunner
import io.github.advisorylock.annotation.WhenBusy
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration
import io.github.advisorylock.autoconfigure.AdvisoryLockLedgerAutoConfiguration
import io.github.advisorylock.testsupport.TestPostgres
import java.util.concurrent.atomic.AtomicInteger
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.getBean
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration
import org.springframework.stereotype.Component

/**
 * Tests for beans that are written in Kotlin.
 */
class KotlinBeanTests {

	private val runner = ApplicationContextRunner()
		.withConfiguration(
			AutoConfigurations.of(
				PropertyPlaceholderAutoConfiguration::class.java, AopAutoConfiguration::class.java,
				TransactionAutoConfiguration::class.java, DataSourceAutoConfiguration::class.java,
				DataSourceTransactionManagerAutoConfiguration::class.java, AdvisoryLockAutoConfiguration::class.java))
		.withPropertyValues(
			"spring.application.name=kotlin", "spring.datasource.url=" + TestPostgres.url(),
			"spring.datasource.hikari.maximum-pool-size=2")

	@Test
	fun functionOfClassThatTheSpringPluginOpensIsGuarded() {
		this.runner.withBean(Reports::class.java).run { context ->
			assertThat(context.getBean<Reports>().create("ada")).containsExactly(lock("report:ada"))
		}
	}

	@Test
	fun defaultArgumentIsPartOfTheKey() {
		this.runner.withBean(Reports::class.java).run { context ->
			assertThat(context.getBean<Reports>().create()).containsExactly(lock("report:everybody"))
		}
	}

	@Test
	fun propertyOfDataClassIsPartOfTheKey() {
		this.runner.withBean(Reports::class.java).run { context ->
			assertThat(context.getBean<Reports>().order(Order("42"))).containsExactly(lock("order:42"))
		}
	}

	@Test
	fun functionThatFailsWhenBusyMayReturnWhatIsNeverNull() {
		this.runner.withBean(Reports::class.java).run { context ->
			assertThat(context.getBean<Reports>().count()).isEqualTo(1)
		}
	}

	@Test
	fun functionThatIsSkippedMustNotPromiseAValue() {
		val refusal = refusal(PromisingReports::class.java)
		assertThat(refusal).hasMessageContaining("method 'create'")
			.hasMessageContaining("on bean 'promisingReports'")
			.hasMessageContaining("the type 'java.lang.String', which is not nullable in Kotlin, with attribute 'whenBusy' set to SKIP")
			.extracting { (it as AdvisoryLockConfigurationException).action }.asString()
			.contains("an object that may be null", "set 'whenBusy' to FAIL")
	}

	@Test
	fun functionThatTheLedgerSkipsMustNotPromiseAValue() {
		assertThat(refusal(RememberingReports::class.java)).hasMessageContaining("on bean 'rememberingReports'")
			.hasMessageContaining("which is not nullable in Kotlin, with attribute 'once' or 'minInterval'")
	}

	@Test
	fun skippedFunctionReturnsNullWhereItsTypeIsNullable() {
		this.runner.withBean(Reports::class.java).run { context ->
			busy("report:ada") { assertThat(context.getBean<Reports>().create("ada")).isNull() }
		}
	}

	@Test
	fun skippedFunctionWithoutResultReturns() {
		this.runner.withBean(Reports::class.java).run { context ->
			val reports = context.getBean<Reports>()
			busy("unit") { reports.unit() }
			assertThat(reports.runs()).isZero()
			reports.unit()
			assertThat(reports.runs()).isEqualTo(1)
		}
	}

	@Test
	fun skippedFunctionReturnsItsOutcome() {
		this.runner.withBean(Reports::class.java).run { context ->
			busy("result") { assertThat(context.getBean<Reports>().result().outcome()).isEqualTo(LockOutcome.BUSY) }
			assertThat(context.getBean<Reports>().result().value()).isEqualTo("done")
		}
	}

	@Test
	fun secondCallGetsTheDataClassThatTheFirstOneReturned() {
		TestPostgres.execute("DROP SCHEMA IF EXISTS kotlin_tests CASCADE; CREATE SCHEMA kotlin_tests")
		this.runner.withConfiguration(
			AutoConfigurations.of(AdvisoryLockLedgerAutoConfiguration::class.java, JacksonAutoConfiguration::class.java))
			.withPropertyValues("advisory-lock.ledger.initialize-schema=always",
				"advisory-lock.ledger.table-prefix=kotlin_tests.ledger_")
			.withBean(KeepingReports::class.java)
			.run { context ->
				val reports = context.getBean<KeepingReports>()
				val first = reports.receive(Order("42"))
				assertThat(first).isEqualTo(Receipt(Order("42"), 1))
				assertThat(reports.receive(Order("42"))).isEqualTo(first).isNotSameAs(first)
				assertThat(reports.receive(Order("43"))).isEqualTo(Receipt(Order("43"), 2))
			}
	}

	@Test
	fun finalClassIsRefused() {
		assertThat(refusal(FinalReports::class.java)).hasMessageContaining("must not be final")
			.extracting { (it as AdvisoryLockConfigurationException).action }.asString().contains("Kotlin Spring plugin")
	}

	@Test
	fun suspendFunctionIsRefused() {
		assertThat(refusal(SuspendedReports::class.java)).hasMessageContaining("must not be asynchronous")
	}

	private fun refusal(type: Class<*>): Throwable {
		lateinit var failure: Throwable
		this.runner.withUserConfiguration(type).run { context ->
			assertThat(context).hasFailed()
			failure = generateSequence(context.startupFailure) { it.cause }.last()
		}
		return failure
	}

	private fun busy(name: String, call: () -> Unit) {
		TestPostgres.open().use { holder ->
			holder.createStatement().use { statement ->
				statement.execute("SELECT pg_advisory_lock(${AdvisoryLockKey.of("kotlin", name).value()})")
				call()
				// a server that is only told to close releases later
				statement.execute("SELECT pg_advisory_unlock_all()")
			}
		}
	}

	private fun lock(name: String): String {
		val number = AdvisoryLockKey.of("kotlin", name).value()
		return "${number ushr 32}/${number and 0xffffffffL}/1"
	}

}

data class Order(val id: String)

data class Receipt(val order: Order, val number: Int)

@Component
class Reports {

	private val runs = AtomicInteger()

	@SingleRunner("report:#{#user}")
	fun create(user: String = "everybody"): List<String>? = TestPostgres.locks()

	@SingleRunner("order:#{#order.id}")
	fun order(order: Order): List<String>? = TestPostgres.locks()

	@SingleRunner("unit")
	fun unit() {
		this.runs.incrementAndGet()
	}

	@SingleRunner("result")
	fun result(): LockResult<String> = LockResult.executed("done")

	fun runs(): Int = this.runs.get()

	@SingleRunner("count", whenBusy = WhenBusy.FAIL)
	fun count(): Int = TestPostgres.locks().size

}

@Component("promisingReports")
class PromisingReports {

	@SingleRunner("promise")
	fun create(): String = "report"

}

@Component("rememberingReports")
class RememberingReports {

	@SingleRunner("promise", whenBusy = WhenBusy.FAIL, minInterval = "10m")
	fun create(): String = "report"

}

@Component
class KeepingReports {

	private val runs = AtomicInteger()

	@SingleRunner("receive:#{#order.id}", once = Once.PER_KEY, keepResult = true)
	fun receive(order: Order): Receipt? = Receipt(order, this.runs.incrementAndGet())

}

class FinalReports {

	@SingleRunner("final")
	fun create() {
		// without a lock
	}

}

@Component
class SuspendedReports {

	@SingleRunner("suspended")
	suspend fun create() {
		// returns before it is done
	}

}
