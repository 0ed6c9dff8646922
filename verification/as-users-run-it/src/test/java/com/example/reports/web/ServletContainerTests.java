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

package com.example.reports.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipFile;

import io.github.advisorylock.testsupport.FreePort;
import io.github.advisorylock.testsupport.JavaProcess;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the application as an executable WAR, in Tomcat with its own pool and its own
 * copy of the driver, and started by itself.
 */
class ServletContainerTests {

	private static final Path CONTAINER = Path.of(System.getProperty("container"));

	private static final String SERVER = """
			<Server port="-1">
			  <Listener className="org.apache.catalina.core.JreMemoryLeakPreventionListener"/>
			  <Listener className="org.apache.catalina.core.ThreadLocalLeakPreventionListener"/>
			  <Service name="Catalina">
			    <Connector address="127.0.0.1" port="%d"/>
			    <Engine name="Catalina" defaultHost="localhost">
			      <Host name="localhost" appBase="webapps" autoDeploy="false"/>
			    </Engine>
			  </Service>
			</Server>
			""";

	private static final String CONTEXT = """
			<Context>
			  <Resource name="jdbc/reports" auth="Container" type="javax.sql.DataSource" maxTotal="8"
			      driverClassName="org.postgresql.Driver" url="%s"/>
			</Context>
			""";

	private final Database database = Database.create();

	@TempDir
	private Path folder;

	static List<Jdk> jdks() {
		return Jdk.all();
	}

	@Test
	void applicationBringsACopyOfTheDriver() throws IOException {
		try (ZipFile war = new ZipFile(Instance.WAR.toFile())) {
			assertThat(war.stream()).anyMatch((entry) -> entry.getName().startsWith("WEB-INF/lib/postgresql-"));
		}
	}

	@ParameterizedTest
	@MethodSource("jdks")
	void swallowedErrorIsAFailedRunAndTicksAreSharedWithOneThatWasStartedByItself(Jdk jdk) throws IOException {
		try (Instance deployed = deploy(jdk);
				Instance executed = Instance.start(this.folder, jdk, this.database, "executed",
						List.of("-jar", Instance.WAR.toString()), "server.port=0", "server.address=127.0.0.1",
						"careless=true")) {
			deployed.awaitStart();
			executed.awaitStart();
			long together = this.database.now();
			Awaitility.await().atMost(Instance.PATIENCE).untilAsserted(() -> {
				assertThat(this.database.ticks("nightly-report", together)).isGreaterThanOrEqualTo(3);
				assertThat(this.database.ticks("export", together)).isGreaterThanOrEqualTo(3);
				assertThat(this.database.instances("dispatcher", together)).hasSize(1);
				for (String job : List.of("careless", "careless-transactional")) {
					assertThat(this.database.instances(job + " failed: UnexpectedRollbackException", together)).as(job)
						.contains("deployed");
				}
			});
			for (String job : List.of("careless", "careless-transactional")) {
				assertThat(this.database.count(job)).as(job).isZero();
				assertThat(this.database.count(job + " done")).as(job).isZero();
			}
			assertThat(this.database.doubles("nightly-report")).isEmpty();
			assertThat(this.database.doubles("export")).isEmpty();
			assertThat(deployed.process().lines()).noneMatch((line) -> line.contains("isHeld=true"))
				.anyMatch((line) -> line.contains("isHeld=false"));
			assertThat(deployed.problems().stream().filter((line) -> line.contains("foreign-driver"))).hasSize(1);
			assertThat(executed.problems().stream().filter((line) -> line.contains("foreign-driver"))).isEmpty();
			executed.close();
			long alone = this.database.now();
			Awaitility.await()
				.atMost(Instance.PATIENCE)
				.until(() -> this.database.instances("export", alone).contains("deployed")
						&& this.database.instances("dispatcher", alone).contains("deployed"));
			deployed.close();
			assertThat(deployed.process().lines())
				.noneMatch((line) -> line.contains("failed to stop") && line.contains("[advisory-lock"));
			assertThat(this.database.lockSessions()).isEmpty();
		}
	}

	/**
	 * Start a container with nothing in it but the application, as {@code catalina.sh}
	 * does.
	 */
	private Instance deploy(Jdk jdk) throws IOException {
		Path base = this.folder.resolve("base");
		Path drivers = Files.createDirectories(base.resolve("lib"));
		for (String entry : System.getProperty("java.class.path").split(":")) {
			Path jar = Path.of(entry);
			if (jar.getFileName().toString().startsWith("postgresql-")) {
				Files.copy(jar, drivers.resolve(jar.getFileName()));
			}
		}
		Path settings = Files.createDirectories(base.resolve("conf"));
		Files.writeString(settings.resolve("server.xml"), SERVER.formatted(FreePort.find()));
		Files.writeString(settings.resolve("context.xml"),
				CONTEXT.formatted(this.database.url().replace("&", "&amp;")));
		Files.copy(Instance.WAR, Files.createDirectories(base.resolve("webapps")).resolve("ROOT.war"));
		Files.createDirectories(base.resolve("temp"));
		Files.createDirectories(base.resolve("logs"));
		List<String> command = new ArrayList<>(Instance.command(jdk));
		command.addAll(List.of("-Dcatalina.home=" + CONTAINER, "-Dcatalina.base=" + base,
				"-Djava.io.tmpdir=" + base.resolve("temp"), "-Dspring.datasource.jndi-name=java:comp/env/jdbc/reports",
				"-Dadvisory-lock.session.url=" + this.database.url(), "-Dinstance=deployed", "-Dcareless=true", "-cp",
				CONTAINER.resolve("bin/bootstrap.jar") + ":" + CONTAINER.resolve("bin/tomcat-juli.jar"),
				"org.apache.catalina.startup.Bootstrap", "start"));
		return new Instance("deployed", JavaProcess.run(this.folder.resolve("deployed.log"),
				Map.of("CATALINA_HOME", CONTAINER.toString()), command));
	}

}
