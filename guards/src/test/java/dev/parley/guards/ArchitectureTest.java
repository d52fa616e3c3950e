package dev.parley.guards;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameStartingWith;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.JavaParameterizedType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.parley.dialect.spi.WireFace;
import dev.parley.extension.Handlers;
import dev.parley.guards.ModuleGraph.ProductModule;
import dev.parley.guards.ModuleGraph.Use;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.OwnMethod;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The arrows that ARCHITECTURE.md draws and module-info.java states. */
final class ArchitectureTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** Floors of the modules as ARCHITECTURE.md has them. Each module requires modules of lower floors only. */
    private static final Map<String, Integer> FLOORS = floors();

    /**
     * Classes that take a document of others as a map: an agent's own methods, the faces of the registry in other protocols, MCP, and documents of
     * workflows; and one that takes names of entries by their ids. The list only becomes shorter.
     */
    private static final Set<String> TAKE_MAPS =
            Set.of("Definitions", "FaceOperations", "LookAlikes", "McpOperations", "OwnMethod");

    /** Classes that read members of requests without a codec, and the documents of others that these are. The list only becomes shorter. */
    private static final Map<String, String> READ_MEMBERS = Map.ofEntries(
            entry("CatalogReader", "catalogs of ARD"),
            entry("Definitions", "documents of workflows, which users write"),
            entry("FaceOperations", "requests of ARD"),
            entry("McpOperations", "requests of the MCP registry"),
            entry("PeerOperations", "the manifest of a peer, which is ARD's"),
            entry("Subscriptions", "metadata that the extension for knowledge graphs leaves to callers and servers"),
            entry("UpdateExecutor", "metadata that the extension for knowledge graphs leaves to callers and servers"),
            entry("Updates", "metadata that the extension for knowledge graphs leaves to callers and servers"),
            entry("WorkflowSource", "documents of runs, which users write"));

    /** Methods of maps that read a member. */
    private static final Set<String> READS = Set.of("get", "getOrDefault", "containsKey", "remove");

    /** Modules that may use less than all lower floors, because users take them without the others. */
    private static final Map<String, Set<String>> ALLOWED = Map.of(
            "agents", Set.of("protocol", "engine", "knowledge-api"),
            "client", Set.of("protocol", "dialect", "outbound"),
            "command", Set.of("protocol", "client"),
            "extension", Set.of("protocol", "dialect", "engine", "store"),
            "hub",
                    Set.of(
                            "protocol",
                            "dialect",
                            "engine",
                            "store",
                            "extension",
                            "server",
                            "trust",
                            "client",
                            "outbound"),
            "knowledge-extension",
                    Set.of(
                            "protocol",
                            "dialect",
                            "engine",
                            "store",
                            "client",
                            "command",
                            "extension",
                            "knowledge",
                            "knowledge-api"),
            "load", Set.of("protocol", "dialect", "command"),
            "server", Set.of("protocol", "dialect", "dialect-grpc"),
            "testkit", Set.of("protocol", "dialect", "engine"),
            "trust", Set.of("protocol", "dialect", "outbound", "store"));

    private static final ArchRule ONLY_REPAIRS_SEE_HELIDON = noClasses()
            .that()
            .resideOutsideOfPackages("dev.parley.server.helidon..", "dev.parley.bench..") // servers for comparison
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.helidon..");

    private static final ArchRule ONLY_WHO_HAS_THE_CONNECTION_SEES_GRPC = noClasses()
            .that()
            .resideOutsideOfPackages("dev.parley.dialect.grpc..", "dev.parley.knowledge.grpc..", "dev.parley.server..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.parley.dialect.grpc..", "io.grpc..", "com.google.protobuf..");

    private static final ArchRule NO_SERIALIZED_OBJECTS =
            noClasses().should().dependOnClassesThat().areAssignableTo(ObjectInputStream.class);

    private static final ArchRule NO_NAMES_SCRIPTS_OR_XML = noClasses()
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
                    "org.w3c.dom..");

    private static final ArchRule ONLY_WHO_HAS_TO_BUILDS_PROCESSES = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.parley.client.keys.Subprocess") // the keyrings of systems
            .and()
            .doNotHaveFullyQualifiedName("dev.parley.cli.host.ConformanceCommand") // the suite that the user names
            .and()
            .doNotHaveFullyQualifiedName("dev.parley.mcp.client.StdioTransport") // servers that the operator names
            .and()
            .doNotHaveFullyQualifiedName("dev.parley.cli.host.RunCommand") // Java's launcher of source files
            .should()
            .dependOnClassesThat()
            .areAssignableTo(ProcessBuilder.class);

    private static final ArchRule NOTHING_EXECUTES = noClasses()
            .should()
            .callMethodWhere(target(owner(assignableTo(Runtime.class))).and(target(nameStartingWith("exec"))));

    /** Locks with conditions do not keep the carrier of a virtual thread (docs/adr/0115). */
    private static final ArchRule NOTHING_WAITS_FOR_A_MONITOR = noClasses()
            .should()
            .callMethodWhere(target(owner(type(Object.class)))
                    .and(target(name("wait")).or(target(name("notify"))).or(target(name("notifyAll")))));

    private static final ArchRule ONLY_WHO_HAS_TO_LOADS_CLASSES = noClasses()
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
            .callMethodWhere(target(owner(type(Class.class))).and(target(name("forName"))));

    private static final JavaClasses CLASSES = ProductClasses.ALL;

    private static final JavaClasses FORBIDDEN =
            new ClassFileImporter().importPackages("dev.parley.guards.planted.forbidden");

    private static final Set<Use> USES = ModuleGraph.uses(CLASSES);

    private final ModuleGraph graph = ModuleGraph.read(ROOT);

    ArchitectureTest() throws IOException {}

    private static Map<String, Integer> floors() {
        var floors = new TreeMap<String, Integer>();
        int floor = 0;
        for (String line : lines(ROOT.resolve("ARCHITECTURE.md"))) {
            String modules = line;
            if (line.matches("floor \\d+ .*")) {
                String[] parts = line.split(" +", 3);
                floor = Integer.parseInt(parts[1]);
                modules = parts[2];
            } else if (line.isBlank() || line.startsWith("`")) {
                floor = 0;
            }
            if (floor > 0) {
                for (String module : modules.strip().split(" +", -1)) {
                    floors.put(module, floor);
                }
            }
        }
        return floors;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Test
    void everyModuleHasAFloor() {
        assertThat(graph.withoutFloor(FLOORS)).isEmpty();
    }

    @Test
    void everyArrowPointsToALowerFloor() {
        assertThat(graph.upward(FLOORS)).isEmpty();
    }

    @Test
    void everyModuleUsesOnlyWhatItRequires() {
        assertThat(graph.unstated(USES)).isEmpty();
    }

    @Test
    void modulesForUseWithoutTheOthersUseFewModules() {
        assertThat(graph.beyond(ALLOWED, USES)).isEmpty();
    }

    @Test
    void theTableHasThePackagesOfAllModules() throws IOException {
        assertThat(listedPackages(lines(ROOT.resolve("ARCHITECTURE.md")))).isEqualTo(packagesOfModules(ROOT));
    }

    @Test
    void aPlantedPackageThatTheTableLacksIsFound(@TempDir Path root) throws IOException {
        for (String file : List.of("First.java", "inner/Inner.java", "other/Other.java")) {
            Path source = root.resolve("first/src/main/java/dev/parley/first").resolve(file);
            Files.createDirectories(requireNonNull(source.getParent()));
            Files.createFile(source);
        }

        assertThat(packagesOfModules(root)).isEqualTo(Map.of("first", List.of("inner", "other")));
        assertThat(listedPackages(List.of("| module | packages of concerns |", "|---|---|", "| `first` | `inner` |")))
                .isEqualTo(Map.of("first", List.of("inner")));
    }

    private static Map<String, List<String>> packagesOfModules(Path root) throws IOException {
        var packages = new TreeMap<String, List<String>>();
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.toList()) {
                List<String> concerns = concerns(module.resolve("src/main/java"));
                if (!concerns.isEmpty()) {
                    packages.put(module.getFileName().toString(), concerns);
                }
            }
        }
        return packages;
    }

    private static Map<String, List<String>> listedPackages(List<String> document) {
        var listed = new TreeMap<String, List<String>>();
        boolean inTable = false;
        for (String line : document) {
            inTable = line.equals("| module | packages of concerns |") || inTable && line.startsWith("|");
            if (inTable && line.startsWith("| `")) {
                String[] cells = line.replace("`", "").split(" *\\| *", -1);
                listed.put(cells[1], List.of(cells[2].split(", ", -1)));
            }
        }
        return listed;
    }

    /** Packages of a module, relative to the one that all have in common, without that one. */
    private static List<String> concerns(Path sources) throws IOException {
        if (!Files.isDirectory(sources)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(sources)) {
            List<Path> packages = files.filter(file -> file.toString().endsWith(".java"))
                    .map(Path::getParent)
                    .filter(directory -> !directory.equals(sources))
                    .distinct()
                    .sorted()
                    .toList();
            Path common = packages.getFirst();
            while (!packages.getLast().startsWith(common)) {
                common = requireNonNull(common.getParent());
            }
            Path root = common;
            return packages.stream()
                    .filter(directory -> !directory.equals(root))
                    .map(directory -> root.relativize(directory).toString().replace('/', '.'))
                    .toList();
        }
    }

    @Test
    void everyPackageIsExportedToAllModulesOrToNone() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            assertThat(modules.map(module -> module.resolve("src/main/java/module-info.java"))
                            .filter(Files::exists)
                            .flatMap(file -> ModuleGraph.qualified(String.join("\n", lines(file))).stream()))
                    .as(
                            "packages that only named modules may use (expected: exported to all, so that extensions of others"
                                    + " have what ours have, or to none)")
                    .isEmpty();
        }
    }

    /** A suppressed warning would hide an export to a module that does not exist, or of an API that others cannot use. */
    @Test
    void noModuleSuppressesWarnings() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            assertThat(modules.map(module -> module.resolve("src/main/java/module-info.java"))
                            .filter(Files::exists)
                            .filter(file -> String.join("\n", lines(file)).contains("@SuppressWarnings")))
                    .isEmpty();
        }
    }

    @Test
    void aPlantedExportToANamedModuleIsFound() {
        assertThat(ModuleGraph.qualified("""
                module dev.parley.first {
                    exports dev.parley.first;
                    exports dev.parley.first.inner to
                            dev.parley.second;
                }
                """)).containsExactly("dev.parley.first.inner");
    }

    @Test
    void aPlantedModuleWithoutFloorIsFound() {
        var planted = new ModuleGraph(Map.of(
                "first", new ProductModule(Set.of(), Set.of("second"), Set.of()),
                "second", new ProductModule(Set.of(), Set.of(), Set.of())));

        assertThat(planted.withoutFloor(Map.of("second", 3, "third", 4)))
                .containsExactly(
                        "module \"first\": no floor (expected: a floor in ARCHITECTURE.md, 4 at least,"
                                + " as it must be above the modules that this one requires)",
                        "floor of \"third\": no such module");
    }

    @Test
    void aPlantedArrowUpIsFound() {
        var planted = new ModuleGraph(Map.of(
                "first", new ProductModule(Set.of(), Set.of("second"), Set.of()),
                "second", new ProductModule(Set.of(), Set.of(), Set.of())));

        assertThat(planted.upward(Map.of("first", 1, "second", 0))).isEmpty();
        assertThat(planted.upward(Map.of("first", 1, "second", 1)))
                .containsExactly(
                        "module \"first\" on floor 1: requires \"second\" on floor 1" + " (expected: a lower floor)");
    }

    @Test
    void aPlantedUseOfAModuleThatIsNotRequiredIsFound() {
        Set<Use> uses = ModuleGraph.uses(new ClassFileImporter()
                .importPackages("dev.parley.guards.planted.first", "dev.parley.guards.planted.second"));

        assertThat(planted(Set.of(), Set.of()).unstated(uses))
                .contains(
                        "dev.parley.guards.planted.first.First: uses dev.parley.guards.planted.second.Second of module"
                                + " \"second\" (expected: a module that \"first\" requires)");
        assertThat(planted(Set.of("middle"), Set.of()).unstated(uses)).isNotEmpty();
        assertThat(planted(Set.of("middle"), Set.of("second")).unstated(uses)).isEmpty();
        assertThat(planted(Set.of("second"), Set.of()).unstated(uses)).isEmpty();
        assertThat(planted(Set.of("second"), Set.of()).beyond(Map.of("first", Set.of("middle")), uses))
                .containsExactly(
                        "dev.parley.guards.planted.first.First: uses dev.parley.guards.planted.second.Second of"
                                + " module \"second\" (expected: a module that \"first\" may use)");
    }

    /** Two modules of planted classes, and one between them. The second one requires the first one. */
    private static ModuleGraph planted(Set<String> required, Set<String> passedByMiddle) {
        return new ModuleGraph(Map.of(
                "first", new ProductModule(Set.of("dev.parley.guards.planted.first"), required, Set.of()),
                "middle", new ProductModule(Set.of(), passedByMiddle, passedByMiddle),
                "second", new ProductModule(Set.of("dev.parley.guards.planted.second"), Set.of("first"), Set.of())));
    }

    @Test
    void onlyTheRepairsOfHelidonSeeHelidon() {
        ONLY_REPAIRS_SEE_HELIDON.check(CLASSES);
        independent("dev.parley.server", "dev.parley.server.helidon..", "dev.parley.server.limits..")
                .check(CLASSES);
    }

    private static ArchRule independent(String target, String... packages) {
        return noClasses()
                .that()
                .resideInAnyPackage(packages)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(target);
    }

    @Test
    void onlyWhoHasTheConnectionUsesGrpc() {
        ONLY_WHO_HAS_THE_CONNECTION_SEES_GRPC.check(CLASSES);
    }

    @Test
    void aPlantedUseOfForbiddenClassesIsFound() {
        assertFound(ONLY_REPAIRS_SEE_HELIDON, "seesHelidon");
        assertFound(ONLY_WHO_HAS_THE_CONNECTION_SEES_GRPC, "seesGrpc");
        assertFound(NO_SERIALIZED_OBJECTS, "readsObjects");
        assertFound(NO_NAMES_SCRIPTS_OR_XML, "readsXml");
        assertFound(ONLY_WHO_HAS_TO_BUILDS_PROCESSES, "buildsAProcess");
        assertFound(NOTHING_EXECUTES, "executes");
        assertFound(ONLY_WHO_HAS_TO_LOADS_CLASSES, "loadsAClass");
        assertFound(NOTHING_WAITS_FOR_A_MONITOR, "waitsForAMonitor");
    }

    private static void assertFound(ArchRule rule, String method) {
        assertThatThrownBy(() -> rule.check(FORBIDDEN))
                .as(method)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("dev.parley.guards.planted.forbidden.Forbidden." + method + "(");
    }

    @Test
    void modulesHaveNoCycles() {
        noCycles("dev.parley.(*)..").check(CLASSES);
    }

    private static ArchRule noCycles(String modules) {
        return slices().matching(modules).should().beFreeOfCycles();
    }

    @Test
    void plantedArrowsBetweenPackagesAreFound() {
        JavaClasses planted = new ClassFileImporter()
                .importPackages("dev.parley.guards.planted.first", "dev.parley.guards.planted.second");

        for (ArchRule rule : List.of(
                noCycles("dev.parley.guards.planted.(*).."),
                independent("dev.parley.guards.planted.second", "dev.parley.guards.planted.first.."))) {
            assertThatThrownBy(() -> rule.check(planted))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("dev.parley.guards.planted.first.First");
        }
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(CLASSES.stream().map(JavaClass::getPackageName))
                .contains("dev.parley.protocol", "dev.parley.engine.spi");
        assertThat(notNullMarked(CLASSES)).isEmpty();
    }

    @Test
    void aPlantedPackageThatIsNotNullMarkedIsFound() {
        assertThat(notNullMarked(new ClassFileImporter().importPackages("dev.parley.guards")))
                .contains("dev.parley.guards.planted.first")
                .doesNotContain("dev.parley.guards", "dev.parley.guards.locks");
    }

    private static Set<String> notNullMarked(JavaClasses classes) {
        return classes.stream()
                .map(JavaClass::getPackage)
                .filter(each -> !each.isAnnotatedWith(NullMarked.class))
                .map(JavaPackage::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void conditionsAreThoseOfLocks() {
        NOTHING_WAITS_FOR_A_MONITOR.check(CLASSES);
    }

    @Test
    void nothingReadsSerializedObjects() {
        NO_SERIALIZED_OBJECTS.check(CLASSES);
    }

    /** Files of RDF/XML are read by Jena, which resolves no entities: RdfFilesTest shows it. */
    @Test
    void nothingLooksUpNamesRunsScriptsOrReadsXml() {
        NO_NAMES_SCRIPTS_OR_XML.check(CLASSES);
    }

    /** Handlers get records, which their codec has read and checked. */
    @Test
    void onlyTheNamedClassesTakeDocumentsOfOthersAsMaps() {
        assertThat(takersOfMaps(CLASSES)).isEqualTo(TAKE_MAPS);
    }

    @Test
    void aPlantedHandlerOfAMapIsFound() {
        assertThat(takersOfMaps(new ClassFileImporter().importPackages("dev.parley.guards.planted.maps")))
                .containsExactly("BodyFace", "MapHandler");
    }

    /** Codecs read members once, with their types, for all bindings; a handler gets a record. */
    @Test
    void onlyCodecsReadMembersOfRequests() {
        assertThat(readersOfMembers(CLASSES)).isEqualTo(READ_MEMBERS.keySet());
    }

    @Test
    void aPlantedReaderOfARequestIsFound() {
        assertThat(readersOfMembers(new ClassFileImporter().importPackages("dev.parley.guards.planted.maps")))
                .containsExactly("BodyFace", "DocumentHandler", "MapHandler");
    }

    /**
     * Names of the classes with a method that reads members of a map of a request: of one that it takes together with the caller, or within a
     * handler, or of one that a member of an operation returns. Rows are codecs.
     */
    private static Set<String> readersOfMembers(JavaClasses classes) {
        return classes.stream()
                .filter(each -> !each.isAssignableTo(ExtensionProtocol.Provider.class))
                .flatMap(each -> each.getCodeUnits().stream())
                .filter(unit -> unit.getMethodCallsFromSelf().stream()
                        .anyMatch(call ->
                                call.getTargetOwner().isEquivalentTo(Map.class) && READS.contains(call.getName())))
                .filter(unit -> takesMembers(unit) || asksForMembers(unit))
                .map(ArchitectureTest::outermost)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean takesMembers(JavaCodeUnit unit) {
        boolean isOfCaller =
                unit.getRawParameterTypes().stream().anyMatch(type -> type.isEquivalentTo(CallContext.class));
        return (isOfCaller || isHandler(unit.getOwner()))
                && unit.getParameterTypes().stream()
                        .anyMatch(type -> type instanceof JavaParameterizedType map
                                && map.toErasure().isEquivalentTo(Map.class)
                                && map.getActualTypeArguments()
                                        .getLast()
                                        .toErasure()
                                        .isEquivalentTo(Object.class));
    }

    private static boolean isHandler(JavaClass type) {
        return type.isAssignableTo(AgentEndpoint.class)
                || type.isAssignableTo(WireFace.class)
                || type.isAssignableTo(OwnMethod.class)
                || type.getMethodCallsFromSelf().stream()
                        .anyMatch(call -> call.getTargetOwner().isEquivalentTo(Handlers.class));
    }

    private static boolean asksForMembers(JavaCodeUnit unit) {
        return unit.getMethodCallsFromSelf().stream()
                .anyMatch(call -> call.getTarget().getRawReturnType().isEquivalentTo(Map.class)
                        && call.getTargetOwner().isAssignableTo(Operation.Extension.class)
                        && !call.getTargetOwner().equals(unit.getOwner()));
    }

    private static String outermost(JavaMember member) {
        return member.getOwner().getFullName().replaceAll("^.*\\.([^.$]*).*$", "$1");
    }

    /** Names of the classes with a method that takes a map and a caller. */
    private static Set<String> takersOfMaps(JavaClasses classes) {
        return classes.stream()
                .flatMap(each -> each.getMethods().stream())
                .filter(method -> !method.getName().startsWith("lambda$"))
                .filter(method -> method.getRawParameterTypes().stream()
                        .map(JavaClass::getFullName)
                        .toList()
                        .equals(List.of(Map.class.getName(), CallContext.class.getName())))
                .map(ArchitectureTest::outermost)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void onlyWhoHasToStartsProgramsAndLoadsClasses() {
        ONLY_WHO_HAS_TO_BUILDS_PROCESSES.check(CLASSES);
        NOTHING_EXECUTES.check(CLASSES);
        ONLY_WHO_HAS_TO_LOADS_CLASSES.check(CLASSES);
    }
}
