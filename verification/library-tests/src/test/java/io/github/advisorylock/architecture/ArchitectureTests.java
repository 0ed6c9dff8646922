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

package io.github.advisorylock.architecture;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.domain.properties.HasOwner;
import com.tngtech.archunit.core.domain.properties.HasParameterTypes;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.github.advisorylock.AdvisoryLockKey;
import io.github.advisorylock.AdvisoryLockOperations;
import io.github.advisorylock.actuate.page.AdvisoryLockPageAutoConfiguration;
import io.github.advisorylock.autoconfigure.AdvisoryLockAutoConfiguration;
import io.github.advisorylock.integration.AdvisoryLockRegistry;
import io.github.advisorylock.jdbc.server.JdbcUrl;
import io.github.advisorylock.ledger.AdvisoryLockLedger;
import io.github.advisorylock.shedlock.AdvisoryLockProvider;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.stereotype.Component;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the architecture of the library: who may know whom.
 */
@Tag("gate")
class ArchitectureTests {

	private static final String ROOT = "io.github.advisorylock";

	/**
	 * Stands beside what it wires, which is hidden so.
	 */
	private static final String WIRING_BESIDE = ".*\\.(\\w+AutoConfiguration|ShedLockVersionCondition|\\w+Properties)(\\$.*)?";

	/**
	 * From the lowest to the highest.
	 */
	private static final List<String> ROOMS_OF_JDBC = List.of(ROOT + ".jdbc.server", ROOT + ".jdbc.thread",
			ROOT + ".jdbc");

	private static final JavaClasses LIBRARY = new ClassFileImporter().importUrls(Stream
		.of(AdvisoryLockKey.class, AdvisoryLockLedger.class, AdvisoryLockAutoConfiguration.class,
				AdvisoryLockPageAutoConfiguration.class, AdvisoryLockProvider.class, AdvisoryLockRegistry.class)
		.map((type) -> type.getProtectionDomain().getCodeSource().getLocation())
		.toList());

	@Test
	void packagesAreFreeOfCycles() {
		// the root package is a slice of its own
		check(slices().matching("io.github.(**)").should().beFreeOfCycles());
	}

	@Test
	void classesAreFreeOfCycles() {
		check(slices().assignedFrom(new TopLevelClasses()).should().beFreeOfCycles());
	}

	@Test
	void domainKnowsNoneOfItsSubPackagesAndLittleOfSpring() {
		check(classes().that()
			.resideInAPackage(ROOT)
			.should()
			.onlyDependOnClassesThat()
			.resideInAnyPackage(ROOT, "java..", "org.jspecify.annotations", "org.springframework.util",
					"org.springframework.dao", "org.springframework.transaction",
					"org.springframework.transaction.support"));
		check(noClasses().that().resideInAPackage(ROOT).should().dependOnClassesThat().resideInAPackage("java.sql"));
	}

	/**
	 * What implementations of the operations need, users never name.
	 */
	@Test
	void domainHoldsNoServicesForImplementations() {
		check(noClasses().that()
			.resideInAPackage(ROOT)
			.and()
			.areNotAssignableFrom(AdvisoryLockOperations.class)
			.should()
			.beAssignableTo(AdvisoryLockOperations.class));
		check(noMethods().that().areDeclaredInClassesThat().resideInAPackage(ROOT).should().haveName("bind"));
	}

	@Test
	void packagesOfCoreKnowWhatIsBelowThem() {
		check(noDependency("support", "log", "jdbc", "interceptor", "annotation", "leader"));
		check(noDependency("jdbc", "interceptor", "annotation", "leader"));
		check(noDependency("interceptor", "jdbc", "annotation"));
		check(noDependency("annotation", "jdbc"));
		check(noDependency("log", "jdbc", "interceptor", "annotation"));
	}

	@Test
	void roomsOfJdbcKnowThoseBelowThem() {
		for (int i = 0; i < ROOMS_OF_JDBC.size(); i++) {
			check(noClasses().that()
				.resideInAPackage(ROOMS_OF_JDBC.get(i))
				.should()
				.dependOnClassesThat()
				.resideInAnyPackage(ROOMS_OF_JDBC.subList(i + 1, ROOMS_OF_JDBC.size()).toArray(String[]::new)));
		}
		// a failed task is told without the secrets of a URL
		check(noClasses().that()
			.resideInAPackage(ROOT + ".jdbc.thread")
			.should()
			.dependOnClassesThat(JavaClass.Predicates.resideInAPackage(ROOT + ".jdbc.server")
				.and(DescribedPredicate.not(JavaClass.Predicates.type(JdbcUrl.class)))));
	}

	@Test
	void promisedTypesOfLedgerKnowNothingOfItsRoom() {
		check(noClasses().that()
			.resideInAPackage(ROOT + ".ledger")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(ROOT + ".ledger.jdbc", ROOT + ".jdbc.."));
	}

	/**
	 * Two are constants, which leave no trace where they are used; the driver creates one
	 * by its name; conventions of users name another, and tests the last.
	 */
	@Test
	void typesThatAreNotPromisedAreHiddenUnlessTheyCross() {
		assertThat(LIBRARY.stream()
			.filter((type) -> !PromisedPackages.NAMES.contains(type.getPackageName()))
			.filter((type) -> !type.isAnnotatedWith(AutoConfiguration.class))
			.filter((type) -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
			.filter((type) -> LIBRARY.stream()
				.filter((part) -> (part.getName() + "$").startsWith(type.getName() + "$"))
				.flatMap((part) -> part.getDirectDependenciesToSelf().stream())
				.allMatch((use) -> use.getOriginClass().getPackageName().equals(type.getPackageName())))
			.map(JavaClass::getSimpleName)).containsExactlyInAnyOrder("ApplicationRole", "FencingTokens",
					"LockSocketFactory", "LockExecutionObservationContext", "AdvisoryLocksEndpointProperties");
	}

	@Test
	void featuresDoNotKnowEachOther() {
		check(noDependency("ledger", "leader"));
		List<String> features = List.of("doctor", "monitor", "metrics", "health");
		features.forEach((feature) -> check(noDependency(feature,
				Stream
					.concat(Stream.of("actuate", "ledger", "leader"),
							features.stream().filter((other) -> !other.equals(feature)))
					.toArray(String[]::new))));
		// the endpoint shows what ledger, leader and monitor tell, in a place for each
		check(noDependency("actuate", "doctor", "metrics", "health"));
		for (String bridge : List.of("shedlock", "integration")) {
			check(noDependency(bridge, "leader", "connection", "database", "doctor", "monitor", "metrics", "health",
					"actuate"));
		}
		check(noDependency("integration", "interceptor", "annotation"));
	}

	@Test
	void wiringIsKnownToWiringOnly() {
		check(noClasses().that()
			.resideOutsideOfPackage(ROOT + ".autoconfigure")
			.and()
			.haveNameNotMatching(WIRING_BESIDE)
			.should()
			.dependOnClassesThat()
			.resideInAPackage(ROOT + ".autoconfigure"));
	}

	/**
	 * What knows a feature goes with it; the page is a jar of its own, roles of leaders
	 * are part of the core, and endpoint and health are wired in their packages.
	 */
	@ParameterizedTest
	@CsvSource({ "doctor,Doctor", "monitor,Metrics", "metrics,Metrics", "ledger,Ledger" })
	void featureIsWiredInPlaceOfItsOwn(String feature, String names) {
		check(noClasses().that()
			.resideInAPackage(ROOT + ".autoconfigure")
			.and()
			.haveNameNotMatching(".*\\.\\w*(" + names + ")\\w*(\\$.*)?")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(ROOT + "." + feature + ".."));
	}

	@Test
	void openingOfConnectionsIsKnownToWiringOnly() {
		check(noDependency("connection", "interceptor", "annotation", "ledger", "leader", "doctor", "monitor"));
		check(noClasses().that()
			.resideOutsideOfPackages(ROOT + ".connection", ROOT + ".autoconfigure")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(ROOT + ".connection"));
	}

	/**
	 * Spring reads each member class of a configuration, so that what is no bean method
	 * has a file of its own.
	 */
	@Test
	void wiringHoldsNoServices() {
		check(classes().that()
			.resideInAPackage(ROOT + ".autoconfigure")
			.and()
			.areTopLevelClasses()
			.and()
			.areNotInterfaces()
			.should()
			.beMetaAnnotatedWith(Configuration.class)
			.orShould()
			.haveSimpleNameEndingWith("Properties")
			.orShould()
			.beAssignableTo(FailureAnalyzer.class)
			.orShould()
			.beAssignableTo(Condition.class)
			.orShould()
			.beAssignableTo(RuntimeHintsRegistrar.class)
			.orShould()
			.haveSimpleNameEndingWith("Overrides")
			.orShould()
			.haveSimpleNameEndingWith("Parts")
			.orShould()
			.beAssignableTo(BeanFactoryPostProcessor.class)
			.orShould()
			.haveSimpleNameEndingWith("StartupCheck"));
	}

	@Test
	void jdbcIsKnownToLocksAndFeaturesOnlyAndDataSourceToWiringToo() {
		check(noClasses().that()
			.resideOutsideOfPackages(ROOT + ".jdbc..", ROOT + ".ledger..", ROOT + ".leader..", ROOT + ".doctor..",
					ROOT + ".monitor..", ROOT + ".connection..", ROOT + ".database..", ROOT + ".autoconfigure..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("java.sql", "javax.sql", "org.springframework.jdbc..", "org.postgresql.."));
		check(noClasses().that()
			.resideInAPackage(ROOT + ".autoconfigure..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("java.sql", "org.springframework.jdbc.core..", "org.postgresql.."));
	}

	@Test
	void statementsHaveFetchSizeOfTheirOwn() {
		check(noClasses().should()
			.callConstructorWhere(JavaCall.Predicates
				.target(HasOwner.Predicates.With
					.owner(JavaClass.Predicates.assignableTo(NamedParameterJdbcTemplate.class)))
				.and(JavaCall.Predicates.target(HasParameterTypes.Predicates.rawParameterTypes(DataSource.class)))
				.and(JavaCall.Predicates.target(
						HasOwner.Predicates.With.owner(JavaClass.Predicates.resideOutsideOfPackage(ROOT + ".."))))));
		check(classes().that(new DescribedPredicate<>("create a JdbcTemplate") {

			@Override
			public boolean test(JavaClass type) {
				return type.getConstructorCallsFromSelf()
					.stream()
					.anyMatch((call) -> call.getTargetOwner().isEquivalentTo(JdbcTemplate.class));
			}

		}).should().callMethod(JdbcTemplate.class, "setFetchSize", int.class));
	}

	@Test
	void springBootIsKnownToWiringOnly() {
		check(noClasses().that()
			.resideOutsideOfPackages(ROOT + ".autoconfigure..", ROOT + ".health..", ROOT + ".actuate..",
					ROOT + ".connection..")
			.and()
			.haveNameNotMatching(WIRING_BESIDE)
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.springframework.boot.."));
		// which makes DataSources, and knows what is behind them
		check(noClasses().that()
			.resideInAPackage(ROOT + ".connection..")
			.should()
			.dependOnClassesThat(JavaClass.Predicates.resideInAPackage("org.springframework.boot..")
				.and(DescribedPredicate
					.not(JavaClass.Predicates.resideInAPackage("org.springframework.boot.jdbc..")))));
	}

	@Test
	void micrometerIsKnownToMetricsOnly() {
		check(noClasses().that()
			.resideOutsideOfPackages(ROOT + ".metrics..", ROOT + ".autoconfigure..")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("io.micrometer.."));
	}

	@Test
	void fieldsOfStructuredLoggingAreKnownToLogOnly() {
		check(noClasses().that()
			.resideOutsideOfPackage(ROOT + ".log")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.slf4j.."));
	}

	@Test
	void autoConfigurationsArePublicAndFinalAndTheirBeansAreNot() {
		check(classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.andShould()
			.haveModifier(JavaModifier.FINAL));
		check(methods().that().areAnnotatedWith(Bean.class).should().bePackagePrivate());
	}

	@Test
	void postProcessorsAreStaticBeans() {
		check(methods().that()
			.areAnnotatedWith(Bean.class)
			.and()
			.haveRawReturnType(JavaClass.Predicates.assignableTo(BeanPostProcessor.class)
				.or(JavaClass.Predicates.assignableTo(BeanFactoryPostProcessor.class)))
			.should()
			.beStatic());
	}

	@Test
	void analyzersAndConditionsArePackagePrivate() {
		check(classes().that()
			.areAssignableTo(FailureAnalyzer.class)
			.or()
			.areAssignableTo(Condition.class)
			.should()
			.bePackagePrivate()
			.allowEmptyShould(true));
	}

	@Test
	void nothingIsScannedOrInjectedIntoFields() {
		check(noClasses().that()
			.areNotAnnotatedWith(Configuration.class)
			.and()
			.areNotAnnotatedWith(AutoConfiguration.class)
			.should()
			.beMetaAnnotatedWith(Component.class));
		check(noClasses().should().beMetaAnnotatedWith(ComponentScan.class));
		check(noFields().should()
			.beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired")
			.orShould()
			.beAnnotatedWith("org.springframework.beans.factory.annotation.Value")
			.orShould()
			.beAnnotatedWith("jakarta.inject.Inject")
			.orShould()
			.beAnnotatedWith("jakarta.annotation.Resource"));
	}

	@Test
	void nobodySleepsOrPrints() {
		check(noClasses().should().callMethod(Thread.class, "sleep", long.class));
		check(noClasses().should().callMethod(Thread.class, "sleep", Duration.class));
		check(noClasses().should().accessField(System.class, "out").orShould().accessField(System.class, "err"));
		check(noClasses().should()
			.callMethodWhere(JavaCall.Predicates.target(HasName.Predicates.name("printStackTrace"))));
		check(noClasses().should().dependOnClassesThat().resideInAPackage("java.util.logging"));
	}

	@Test
	void caseChangesNameTheirLocale() {
		check(noClasses().should()
			.callMethod(String.class, "toLowerCase")
			.orShould()
			.callMethod(String.class, "toUpperCase"));
	}

	@Test
	void loggersArePrivateStaticAndFinal() {
		check(fields().that()
			.haveRawType("org.apache.commons.logging.Log")
			.should()
			.bePrivate()
			.andShould()
			.beStatic()
			.andShould()
			.beFinal()
			.andShould()
			.haveName("logger"));
	}

	@Test
	void everyPackageIsNullMarked() {
		Set<String> packages = LIBRARY.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
		List<String> marked = LIBRARY.stream()
			.filter((type) -> type.getSimpleName().equals("package-info"))
			.filter((type) -> type.isAnnotatedWith(NullMarked.class))
			.map(JavaClass::getPackageName)
			.toList();
		assertThat(marked).containsExactlyInAnyOrderElementsOf(packages);
	}

	private static ArchRule noDependency(String from, String... to) {
		String[] packages = Arrays.stream(to).map((name) -> ROOT + "." + name + "..").toArray(String[]::new);
		return noClasses().that()
			.resideInAPackage(ROOT + "." + from + "..")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(packages);
	}

	private static void check(ArchRule rule) {
		rule.check(LIBRARY);
	}

	/**
	 * A slice for each file: nested classes belong to the class around them.
	 */
	private static final class TopLevelClasses implements SliceAssignment {

		@Override
		public SliceIdentifier getIdentifierOf(JavaClass type) {
			return SliceIdentifier.of(type.getName().replaceAll("\\$.*", ""));
		}

		@Override
		public String getDescription() {
			return "top-level classes";
		}

	}

}
