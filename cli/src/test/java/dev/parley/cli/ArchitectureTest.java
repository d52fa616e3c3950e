package dev.parley.cli;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameStartingWith;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import java.io.ObjectInputStream;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The arrows that ARCHITECTURE.md draws and module-info.java states. */
final class ArchitectureTest {
    /** Which modules each one may use. */
    private static final Map<String, Set<String>> ARROWS = Map.ofEntries(
            entry("protocol", Set.of()),
            entry("dialect", Set.of("protocol")),
            entry("engine", Set.of("protocol")),
            entry("store", Set.of("protocol", "dialect", "engine")),
            entry("server", Set.of("protocol", "dialect")),
            entry("trust", Set.of("protocol", "dialect", "store")),
            entry("client", Set.of("protocol", "dialect")),
            entry("agents", Set.of("protocol", "engine", "knowledge")),
            entry("testkit", Set.of("protocol", "dialect", "engine")),
            entry("knowledge", Set.of("protocol", "dialect", "engine", "store", "client", "command", "extension")),
            entry("command", Set.of("protocol", "client")),
            entry("extension", Set.of("protocol", "dialect", "engine", "store")),
            entry("load", Set.of("protocol", "dialect", "command")),
            entry("hub", Set.of("protocol", "dialect", "engine", "store", "extension", "server", "trust", "client")));

    private static final JavaClasses CLASSES = ProductClasses.ALL;

    @TestFactory
    List<DynamicTest> everyModuleUsesOnlyWhatItsArrowsSay() {
        return ARROWS.entrySet().stream()
                .map(arrow -> DynamicTest.dynamicTest(arrow.getKey(), () -> {
                    var others = new LinkedHashSet<>(ARROWS.keySet());
                    others.add("cli");
                    others.remove(arrow.getKey());
                    others.removeAll(arrow.getValue());

                    noClasses()
                            .that()
                            .resideInAPackage("dev.parley." + arrow.getKey() + "..")
                            .should()
                            .dependOnClassesThat()
                            .resideInAnyPackage(others.stream()
                                    .map(module -> "dev.parley." + module + "..")
                                    .toArray(String[]::new))
                            .check(CLASSES);
                }))
                .toList();
    }

    @Test
    void onlyTheRepairsOfHelidonSeeHelidon() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.parley.server.helidon..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.helidon..")
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage("dev.parley.server.helidon..", "dev.parley.server.limits..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.parley.server")
                .check(CLASSES);
    }

    @Test
    void onlyWhoHasTheConnectionUsesGrpc() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "dev.parley.dialect.grpc..", "dev.parley.knowledge.grpc..", "dev.parley.server..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.parley.dialect.grpc..", "io.grpc..", "com.google.protobuf..")
                .check(CLASSES);
    }

    @Test
    void modulesHaveNoCycles() {
        slices().matching("dev.parley.(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(CLASSES.getDefaultPackage().getPackage("dev.parley").getSubpackagesInTree())
                .filteredOn(some -> !some.getClasses().isEmpty())
                .allSatisfy(some -> assertThat(some.isAnnotatedWith(NullMarked.class))
                        .as(some.getName())
                        .isTrue())
                .extracting(JavaPackage::getName)
                .contains("dev.parley.protocol", "dev.parley.engine.spi");
    }

    @Test
    void nothingReadsSerializedObjects() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ObjectInputStream.class)
                .check(CLASSES);
    }

    @Test
    void nothingLooksUpNamesRunsScriptsOrReadsXml() {
        // Files of RDF/XML are read by Jena, which resolves no entities: RdfFilesTest shows it.
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "javax.naming..",
                        "java.rmi..",
                        "javax.management.remote..",
                        "javax.script..",
                        "java.beans..",
                        "javax.xml..",
                        "org.xml..",
                        "org.w3c.dom..")
                .check(CLASSES);
    }

    @Test
    void onlyWhoHasToStartsProgramsAndLoadsClasses() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("dev.parley.client.keys.Child") // the keyrings of systems
                .and()
                .doNotHaveFullyQualifiedName("dev.parley.cli.host.ConformanceCommand") // the suite that the user names
                .and()
                .doNotHaveFullyQualifiedName("dev.parley.mcp.client.StdioTransport") // servers that the operator names
                .and()
                .doNotHaveFullyQualifiedName("dev.parley.cli.host.RunCommand") // Java's launcher of source files
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ProcessBuilder.class)
                .check(CLASSES);
        noClasses()
                .should()
                .callMethodWhere(target(owner(assignableTo(Runtime.class))).and(target(nameStartingWith("exec"))))
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.parley.cli..") // the agents in jars that the user names
                .and()
                .doNotHaveFullyQualifiedName(
                        "dev.parley.knowledge.Libraries") // which libraries are there, by names of its own
                .and()
                .doNotHaveFullyQualifiedName("dev.parley.console.Library") // files of scripts in other jars
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ClassLoader.class)
                .orShould()
                .callMethodWhere(target(owner(type(Class.class))).and(target(name("forName"))))
                .check(CLASSES);
    }
}
