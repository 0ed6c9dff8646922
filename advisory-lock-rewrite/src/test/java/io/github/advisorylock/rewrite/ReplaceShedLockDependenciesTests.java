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

package io.github.advisorylock.rewrite;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openrewrite.groovy.Assertions;
import org.openrewrite.java.JavaParser;
import org.openrewrite.test.RecipeSpec;
import org.openrewrite.test.RewriteTest;
import org.openrewrite.test.SourceSpecs;

/**
 * Tests for {@link ReplaceShedLockDependencies}.
 */
@Tag("gate")
class ReplaceShedLockDependenciesTests implements RewriteTest {

	@Override
	public void defaults(RecipeSpec spec) {
		spec.recipe(new ReplaceShedLockDependencies("1.2.3"));
	}

	@Test
	void pomGetsTheStarterAndLosesTheRest() {
		rewriteRun(pom("""
				<project>
					<properties>
						<shedlock.version>7.0.0</shedlock.version>
					</properties>
					<dependencyManagement>
						<dependencies>
							<dependency>
								<groupId>net.javacrumbs.shedlock</groupId>
								<artifactId>shedlock-bom</artifactId>
								<version>${shedlock.version}</version>
								<type>pom</type>
								<scope>import</scope>
							</dependency>
						</dependencies>
					</dependencyManagement>
					<dependencies>
						<!-- Locks -->
						<dependency>
							<groupId>net.javacrumbs.shedlock</groupId>
							<artifactId>shedlock-spring</artifactId>
						</dependency>
						<dependency>
							<groupId>net.javacrumbs.shedlock</groupId>
							<artifactId>shedlock-provider-inmemory</artifactId>
							<scope>test</scope>
						</dependency>
						<dependency>
							<groupId>org.postgresql</groupId>
							<artifactId>postgresql</artifactId>
						</dependency>
					</dependencies>
				</project>
				""", """
				<project>
					<dependencies>
						<!-- Locks -->
						<dependency>
							<groupId>io.github.advisorylock</groupId>
							<artifactId>advisory-lock-starter</artifactId>
							<version>1.2.3</version>
						</dependency>
						<dependency>
							<groupId>org.postgresql</groupId>
							<artifactId>postgresql</artifactId>
						</dependency>
					</dependencies>
				</project>
				"""));
	}

	@Test
	void propertiesThatAreNotOfShedLockAloneStay() {
		rewriteRun(pom("""
				<project>
					<properties>
						<locks.version>7.0.0</locks.version>
						<shedlock.table>locks</shedlock.table>
						<shedlock-and-more.version>7.0.0</shedlock-and-more.version>
					</properties>
					<dependencies>
						<dependency>
							<groupId>net.javacrumbs.shedlock</groupId>
							<artifactId>shedlock-spring</artifactId>
							<version>${locks.version}</version>
						</dependency>
						<dependency>
							<groupId>net.javacrumbs.shedlock</groupId>
							<artifactId>shedlock-provider-jdbc-template</artifactId>
							<version>${shedlock-and-more.version}</version>
						</dependency>
						<dependency>
							<groupId>shop</groupId>
							<artifactId>more</artifactId>
							<version>${shedlock-and-more.version}</version>
						</dependency>
					</dependencies>
				</project>
				""", """
				<project>
					<properties>
						<shedlock.table>locks</shedlock.table>
						<shedlock-and-more.version>7.0.0</shedlock-and-more.version>
					</properties>
					<dependencies>
						<dependency>
							<groupId>io.github.advisorylock</groupId>
							<artifactId>advisory-lock-starter</artifactId>
							<version>1.2.3</version>
						</dependency>
						<dependency>
							<groupId>shop</groupId>
							<artifactId>more</artifactId>
							<version>${shedlock-and-more.version}</version>
						</dependency>
					</dependencies>
				</project>
				"""));
	}

	@Test
	void projectOfWhichNothingIsTranslatedGetsNoStarter() {
		rewriteRun((spec) -> spec.parser(JavaParser.fromJavaVersion().classpath("shedlock-core")), java("""
				import net.javacrumbs.shedlock.core.LockingTaskExecutor;

				class Jobs {

					LockingTaskExecutor executor;

				}
				"""), org.openrewrite.xml.Assertions.xml("""
				<project>
					<dependencies>
						<dependency>
							<groupId>net.javacrumbs.shedlock</groupId>
							<artifactId>shedlock-core</artifactId>
						</dependency>
					</dependencies>
				</project>
				""", (spec) -> spec.path("pom.xml")));
	}

	@Test
	void gradleGetsTheStarterAndLosesTheRest() {
		rewriteRun(
				gradle("""
						plugins {
						    id 'java'
						}
						dependencies {
						    implementation platform('net.javacrumbs.shedlock:shedlock-bom:7.0.0')
						    implementation 'net.javacrumbs.shedlock:shedlock-spring'
						    implementation group: 'net.javacrumbs.shedlock', name: 'shedlock-provider-jdbc-template', version: '7.0.0'
						    runtimeOnly "org.postgresql:postgresql:42.7.7"
						}
						""",
						"""
								plugins {
								    id 'java'
								}
								dependencies {
								    implementation 'io.github.advisorylock:advisory-lock-starter:1.2.3'
								    runtimeOnly "org.postgresql:postgresql:42.7.7"
								}
								"""));
	}

	@Test
	void lastStatementOfGradleIsReplacedToo() {
		rewriteRun(gradle("""
				dependencies {
				    runtimeOnly("org.postgresql:postgresql:42.7.7")
				    implementation("net.javacrumbs.shedlock:shedlock-spring:${shedlockVersion}")
				}
				""", """
				dependencies {
				    runtimeOnly("org.postgresql:postgresql:42.7.7")
				    implementation("io.github.advisorylock:advisory-lock-starter:1.2.3")
				}
				"""));
	}

	@Test
	void providerIsReplacedWhileCodeTakesLocks() {
		rewriteRun(
				(spec) -> spec.parser(JavaParser.fromJavaVersion()
					.classpath("shedlock-core", "shedlock-spring", "shedlock-provider-jdbc-template",
							"shedlock-sql-support", "spring-context", "spring-jdbc")),
				java("""
						import net.javacrumbs.shedlock.core.LockConfiguration;
						import net.javacrumbs.shedlock.core.LockProvider;
						import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
						import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
						import org.springframework.context.annotation.Bean;

						class Jobs {

							@Bean
							LockProvider provider(javax.sql.DataSource dataSource) {
								return new JdbcTemplateLockProvider(dataSource);
							}

							@SchedulerLock(name = "stock")
							public void count() {
							}

							void run(LockProvider provider, LockConfiguration configuration) {
								provider.lock(configuration);
							}

						}
						"""),
				pom("""
						<project>
							<dependencies>
								<dependency><groupId>net.javacrumbs.shedlock</groupId><artifactId>shedlock-spring</artifactId><version>7.0.0</version></dependency>
								<dependency>
									<groupId>net.javacrumbs.shedlock</groupId>
									<artifactId>shedlock-provider-jdbc-template</artifactId>
									<version>7.0.0</version>
								</dependency>
							</dependencies>
						</project>
						""",
						"""
								<project>
									<dependencies>
										<dependency><groupId>io.github.advisorylock</groupId><artifactId>advisory-lock-starter</artifactId><version>1.2.3</version></dependency>
										<dependency><groupId>net.javacrumbs.shedlock</groupId><artifactId>shedlock-spring</artifactId><version>7.0.0</version></dependency>
										<dependency>
											<groupId>io.github.advisorylock</groupId>
											<artifactId>advisory-lock-shedlock</artifactId>
											<version>1.2.3</version>
										</dependency>
									</dependencies>
								</project>
								"""),
				gradle("""
						dependencies {
						    implementation 'net.javacrumbs.shedlock:shedlock-spring:7.0.0'
						    implementation 'net.javacrumbs.shedlock:shedlock-provider-jdbc-template:7.0.0'
						    testImplementation 'net.javacrumbs.shedlock:shedlock-provider-inmemory:7.0.0'
						}
						""", """
						dependencies {
						    implementation 'io.github.advisorylock:advisory-lock-starter:1.2.3'
						    implementation 'net.javacrumbs.shedlock:shedlock-spring:7.0.0'
						    implementation 'io.github.advisorylock:advisory-lock-shedlock:1.2.3'
						    testImplementation 'net.javacrumbs.shedlock:shedlock-provider-inmemory:7.0.0'
						}
						"""));
	}

	@Test
	void dependencyOnOneLineStaysOnOneLine() {
		rewriteRun(
				pom("""
						<project>
							<dependencies>
								<dependency><groupId>net.javacrumbs.shedlock</groupId><artifactId>shedlock-spring</artifactId><version>7.0.0</version></dependency>
							</dependencies>
						</project>
						""",
						"""
								<project>
									<dependencies>
										<dependency><groupId>io.github.advisorylock</groupId><artifactId>advisory-lock-starter</artifactId><version>1.2.3</version></dependency>
									</dependencies>
								</project>
								"""),
				gradle("""
						dependencies { implementation 'net.javacrumbs.shedlock:shedlock-spring:7.0.0' }
						""", """
						dependencies { implementation 'io.github.advisorylock:advisory-lock-starter:1.2.3' }
						"""));
	}

	private static SourceSpecs java(String source) {
		return org.openrewrite.java.Assertions.java(source);
	}

	private static SourceSpecs pom(String before, String after) {
		return org.openrewrite.xml.Assertions.xml(before, after, (spec) -> spec.path("pom.xml"));
	}

	private static SourceSpecs gradle(String before, String after) {
		return Assertions.groovy(before, after, (spec) -> spec.path("build.gradle"));
	}

}
