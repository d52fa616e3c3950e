package dev.parley.guards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Packages without cycles and of limited size, and classes of a package without large rings. */
final class LayoutTest {
    private static final int LARGEST_RING = 3;
    private static final int LARGEST_PACKAGE = 25;
    private static final int LARGEST_FILE = 600;
    private static final int MOST_PARAMETERS = 7;
    private static final int LONGEST_METHOD = 60;

    /** Files with one hard idea each, which is not divided, and the lines that each may have. */
    private static final Map<String, Integer> LARGER_FILES = Map.of(
            "Codecs.java", 760,
            "EndpointContract.java", 620,
            "LegacyModel.java", 660,
            "ObjectCodec.java", 640,
            "TaskLogContract.java", 860);

    /** Methods whose parameters are the members of a document, in the order of its codec; the list only becomes shorter. */
    private static final Set<String> LONGER_LISTS = Set.of(
            "KernelCard.card",
            "LegacyCard.scheme",
            "LegacyModel.message",
            "LegacyModel.part",
            "LegacyOperations.sendNamed",
            "Model.part");

    /** Records of a document, an answer, or the parameters of an operation: their components are its members. */
    private static final Set<String> DOCUMENTS = Set.of(
            "ActivityOperation.Change",
            "ActivityOperation.FindTasks",
            "ActivityOperation.Span",
            "ActivityOperation.TaskView",
            "AgentCard",
            "AgentCard.Skill",
            "Entry.Resource",
            "EntryOperation.Publication",
            "HubOperation.HubView",
            "InspectionOperation.Inspection",
            "InspectionOperation.InterfaceState",
            "KnowledgeOperation.Query",
            "LoadHold.Result",
            "McpTask",
            "MemberOperation.KeyView",
            "MeshViews.Connection",
            "MeshViews.EventView",
            "MeshViews.Reasons",
            "Message",
            "Operation.ListTasks",
            "PeerOperation.PeerView",
            "Publication",
            "ReportProtocol.Reliability",
            "ReportProtocol.Use",
            "RestParameter",
            "RouteOperation.AddRoute",
            "SearchAnswer.Result",
            "ServersFile.Entry",
            "SettingOperation.SettingView",
            "VaultAccounts.Developer",
            "VaultCards.Query",
            "Workflow.Draft",
            "Workflow.Step",
            "WorkflowOperation.DefinitionView",
            "WorkflowOperation.RunView",
            "WorkflowOperation.StepView");

    /** Records of a row of a table, or of a query of one: their components are its columns. */
    private static final Set<String> ROWS = Set.of(
            "AuditEntry",
            "Changes.Row",
            "Directory.Key",
            "Events.Event",
            "HubTable.LivingHub",
            "McpServerTable.Version",
            "PushStore.Subscription",
            "RelayTable.Relay",
            "Review",
            "SignIns.Row",
            "SqlScan.Row",
            "TaskLog.Query",
            "TaskLog.Selection",
            "TaskRows.Move",
            "TaskRows.NewTask",
            "TaskRows.SegmentRow",
            "WatchedChanges.Newest");

    /** Settings of one part of the program: each component is a setting, which the record or its builder describes. */
    private static final Set<String> SETTINGS = Set.of(
            "AcceptedSockets",
            "ClientFlags.Agent",
            "ClientFlags.Request",
            "ClientSettings",
            "GraphQlLimits",
            "HelidonServer.Settings",
            "HubSettings",
            "LoadPlan",
            "ServerSettings",
            "StoreSettings",
            "Transport.Settings",
            "TrustSettings",
            "UpstreamSettings");

    /** Records of parts that belong together; the list only becomes shorter, as components of one concern become a record. */
    private static final Set<String> PARTS = Set.of(
            "CliEnvironment", "Gate.Incoming", "Persistence", "RequiredCredentials", "ServedAgent", "WebhookDelivery");

    private static final Pattern CLOSES_A_CONSTANT =
            Pattern.compile("^\\s+[A-Z][A-Z_]*\\.(close|shutdown|shutdownNow)\\(\\)", Pattern.MULTILINE);

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Path PLANTED = ROOT.resolve("guards/src/test/java/dev/parley/guards/planted");

    private static final ArchRule NO_CYCLES_OF_PACKAGES = SlicesRuleDefinition.slices()
            .assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    return SliceIdentifier.of(type.getPackageName());
                }

                @Override
                public String getDescription() {
                    return "packages";
                }
            })
            .should()
            .beFreeOfCycles();

    private static final ArchRule ONLY_THE_SESSION_READS_TEXTS = ArchRuleDefinition.noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.parley.store.database.DatabaseSession")
            .should()
            .callMethod(ResultSet.class, "getString", int.class);

    private static final JavaClasses CLASSES = ProductClasses.ALL;

    @Test
    void packagesHaveNoCycles() {
        NO_CYCLES_OF_PACKAGES.check(CLASSES);
    }

    @Test
    void noMoreThanThreeClassesOfAPackageFormARing() throws IOException {
        var constants = new TreeMap<String, Set<String>>();
        for (Path sources : sourceDirectories("src/main/java")) {
            constants.putAll(ConstantUses.below(sources));
        }

        assertThat(rings(CLASSES, constants)).isEmpty();
    }

    @Test
    void noPackageHasMoreThanTwentyFiveFiles() throws IOException {
        var larger = new TreeSet<String>();
        for (Path sources : sourceDirectories("src/main/java")) {
            larger.addAll(largerPackages(sources, LARGEST_PACKAGE));
        }

        assertThat(larger).isEmpty();
    }

    @Test
    void noFileHasMoreThanSixHundredLines() throws IOException {
        var larger = new TreeMap<String, Integer>();
        for (Path sources : sourceDirectories("src/main/java")) {
            larger.putAll(largerFiles(sources));
        }

        assertThat(larger.keySet()).isEqualTo(LARGER_FILES.keySet());
        LARGER_FILES.forEach((file, most) ->
                assertThat(larger.get(file)).as(file + ": lines").isLessThanOrEqualTo(most));
    }

    @Test
    void aPlantedFileOfSixHundredAndOneLinesIsFound(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("Long.java"), "\n".repeat(601));
        Files.writeString(directory.resolve("Short.java"), "\n".repeat(600));

        assertThat(largerFiles(directory)).isEqualTo(Map.of("Long.java", 601));
    }

    /** The lines of each file that has more than {@link #LARGEST_FILE}. */
    private static Map<String, Integer> largerFiles(Path sources) throws IOException {
        var larger = new HashMap<String, Integer>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                int lines = Files.readAllLines(file).size();
                if (lines > LARGEST_FILE) {
                    larger.put(String.valueOf(file.getFileName()), lines);
                }
            }
        }
        return larger;
    }

    @Test
    void noMethodHasMoreThanSevenParameters() {
        assertThat(longerLists(CLASSES)).isEqualTo(new TreeSet<>(LONGER_LISTS));
    }

    @Test
    void aPlantedListOfEightParametersIsFound() {
        assertThat(longerLists(new ClassFileImporter().importPackages("dev.parley.guards.planted.lists")))
                .containsExactly("LongList.eight");
    }

    @Test
    void recordsOfMoreThanSevenComponentsAreListedWithTheirKind() {
        var expected = new TreeSet<String>();
        Stream.of(DOCUMENTS, ROWS, SETTINGS, PARTS).forEach(expected::addAll);

        assertThat(longerRecords(CLASSES)).isEqualTo(expected);
    }

    @Test
    void aPlantedRecordOfEightComponentsIsFound() {
        assertThat(longerRecords(new ClassFileImporter().importPackages("dev.parley.guards.planted.lists")))
                .containsExactly("LongList.Document");
    }

    /** Records with too many components, by their names within their files. */
    private static Set<String> longerRecords(JavaClasses classes) {
        var names = new TreeSet<String>();
        for (JavaClass type : classes) {
            long components = type.getFields().stream()
                    .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                    .count();
            if (type.isRecord() && components > MOST_PARAMETERS) {
                names.add(type.getName()
                        .substring(type.getPackageName().length() + 1)
                        .replace('$', '.'));
            }
        }
        return names;
    }

    /** Methods and constructors with too many parameters, but for records, which have a test of their own. */
    private static Set<String> longerLists(JavaClasses classes) {
        var names = new TreeSet<String>();
        for (JavaClass type : classes) {
            if (type.isRecord() || type.isEnum() || type.isAnonymousClass() || type.isLocalClass()) {
                continue;
            }
            for (JavaCodeUnit unit : type.getCodeUnits()) {
                if (unit.getRawParameterTypes().size() > MOST_PARAMETERS
                        && !unit.getName().contains("$")) {
                    names.add(type.getSimpleName() + "." + unit.getName().replaceAll("[<>]", ""));
                }
            }
        }
        return names;
    }

    @Test
    void noMethodHasMoreThanSixtyLines() throws IOException {
        var files = new ArrayList<Path>();
        for (Path sources : sourceDirectories("src/main/java")) {
            try (Stream<Path> all = Files.walk(sources)) {
                all.filter(each -> each.toString().endsWith(".java")).forEach(files::add);
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            assertThat(longMethods(manager.getJavaFileObjectsFromPaths(files))).isEmpty();
        }
    }

    @Test
    void aPlantedLongMethodIsFound() throws IOException {
        String lines = "\n".repeat(LONGEST_METHOD - 1);
        String text = "class A { void allowed() {" + lines + "} void planted() {" + lines + "\n} }";
        var file = new SimpleJavaFileObject(URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public String getCharContent(boolean ignoreErrors) {
                return text;
            }
        };

        assertThat(longMethods(List.of(file))).containsExactly("A.java planted");
    }

    /** Names of the methods with too many lines, braces included. */
    private static Set<String> longMethods(Iterable<? extends JavaFileObject> files) throws IOException {
        // A diagnostic listener makes the parser keep end positions.
        var task =
                (JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, null, problem -> {}, null, null, files);
        SourcePositions positions = Trees.instance(task).getSourcePositions();
        var found = new TreeSet<String>();
        for (CompilationUnitTree unit : task.parse()) {
            var scanner = new TreeScanner<@Nullable Void, @Nullable Void>() {
                @Override
                public @Nullable Void visitMethod(MethodTree method, @Nullable Void none) {
                    BlockTree body = method.getBody();
                    if (body != null) {
                        long last = unit.getLineMap().getLineNumber(positions.getEndPosition(unit, body));
                        long first = unit.getLineMap().getLineNumber(positions.getStartPosition(unit, body));
                        if (last - first >= LONGEST_METHOD) {
                            found.add(Path.of(unit.getSourceFile().getName()).getFileName() + " " + method.getName());
                        }
                    }
                    return super.visitMethod(method, null);
                }
            };
            scanner.scan(unit, null);
        }
        return found;
    }

    /** A class whose constant is closed at its end fails for good when a failed test of it runs once more. */
    @Test
    void noTestClosesAConstant() throws IOException {
        var closing = new TreeSet<String>();
        for (Path tests : sourceDirectories("src/test/java")) {
            closing.addAll(filesThatCloseConstants(tests));
        }

        assertThat(closing).isEmpty();
    }

    @Test
    void aPlantedConstantThatIsClosedIsFound() throws IOException {
        assertThat(filesThatCloseConstants(Path.of("src/test/java/dev/parley/guards/planted")))
                .containsExactly("ClosedConstant.java");
    }

    /** Failed tests of a class template do not run once more if tags select them, so .ci/run names those that are heavy. */
    @Test
    void everyHeavyClassTemplateIsRunByItsName() throws IOException {
        String stages = Files.readString(ROOT.resolve(".ci/run"));
        var unnamed = new TreeSet<String>();
        for (Path tests : sourceDirectories("src/test/java")) {
            unnamed.addAll(unnamedTemplates(tests, stages));
        }

        assertThat(unnamed).isEmpty();
    }

    @Test
    void aPlantedHeavyClassTemplateIsFound(@TempDir Path directory) throws IOException {
        String heavy = "\n@ParameterizedClass\n@Tag(\"heavy\")\n";
        Files.writeString(directory.resolve("Light.java"), "\n@ParameterizedClass\n");
        Files.writeString(directory.resolve("Untagged.java"), heavy);
        Files.writeString(directory.resolve("Tagged.java"), heavy + "@Tag(\"class-template\")\n");

        assertThat(unnamedTemplates(directory, "./parley test -Dtest=Untagged")).containsExactly("Tagged", "Untagged");
        assertThat(unnamedTemplates(directory, "./parley test -Dtest=Tagged")).containsExactly("Untagged");
    }

    private static Set<String> unnamedTemplates(Path tests, String stages) throws IOException {
        var unnamed = new TreeSet<String>();
        try (Stream<Path> files = Files.walk(tests)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String text = Files.readString(file);
                String name = String.valueOf(file.getFileName()).replace(".java", "");
                if (text.contains("\n@ParameterizedClass")
                        && text.contains("\n@Tag(\"heavy\")")
                        && !(text.contains("\n@Tag(\"class-template\")") && stages.contains("-Dtest=" + name))) {
                    unnamed.add(name);
                }
            }
        }
        return unnamed;
    }

    private static List<Path> sourceDirectories(String kind) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve(kind))
                    .filter(Files::exists)
                    .toList();
        }
    }

    /** Names of the files below a directory in which a statement closes a constant. */
    private static Set<String> filesThatCloseConstants(Path directory) throws IOException {
        var names = new TreeSet<String>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                if (!file.startsWith(PLANTED)
                        && CLOSES_A_CONSTANT.matcher(Files.readString(file)).find()) {
                    names.add(String.valueOf(file.getFileName()));
                }
            }
        }
        return names;
    }

    /** Tables hold U+0000 as other characters, so that PostgreSQL can. */
    @Test
    void textsOfTablesAreReadByTheSessionOnly() {
        ONLY_THE_SESSION_READS_TEXTS.check(CLASSES);
    }

    @Test
    void aPlantedReadOfATextIsFound() {
        JavaClasses planted = new ClassFileImporter().importPackages("dev.parley.guards.planted.forbidden");

        assertThatThrownBy(() -> ONLY_THE_SESSION_READS_TEXTS.check(planted))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Forbidden.readsAText");
    }

    @Test
    void aPlantedCycleOfPackagesIsFound() {
        JavaClasses planted = new ClassFileImporter()
                .importPackages("dev.parley.guards.planted.first", "dev.parley.guards.planted.second");

        assertThatThrownBy(() -> NO_CYCLES_OF_PACKAGES.check(planted))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("planted.first")
                .hasMessageContaining("planted.second");
    }

    @Test
    void aPlantedRingOfClassesIsFound() {
        JavaClasses planted = new ClassFileImporter().importPackages("dev.parley.guards.planted.ring");

        assertThat(rings(planted, Map.of()))
                .containsExactly(Set.of(
                        "dev.parley.guards.planted.ring.North",
                        "dev.parley.guards.planted.ring.East",
                        "dev.parley.guards.planted.ring.South",
                        "dev.parley.guards.planted.ring.West"));
    }

    /** The compiler copies constants, so that class files do not name the classes that have them. */
    @Test
    void aPlantedRingOfConstantsIsFound() throws IOException {
        JavaClasses planted = new ClassFileImporter().importPackages("dev.parley.guards.planted.constants");

        assertThat(rings(planted, Map.of())).isEmpty();
        assertThat(rings(planted, ConstantUses.below(ROOT.resolve("guards/src/test/java"))))
                .containsExactly(Set.of(
                        "dev.parley.guards.planted.constants.North",
                        "dev.parley.guards.planted.constants.East",
                        "dev.parley.guards.planted.constants.South",
                        "dev.parley.guards.planted.constants.West"));
    }

    @Test
    void aPlantedLargePackageIsFound() throws IOException {
        Path planted = Path.of("src/test/java/dev/parley/guards/planted");

        assertThat(largerPackages(planted, 3))
                .containsExactly(
                        "guards/src/test/java/dev/parley/guards/planted/constants",
                        "guards/src/test/java/dev/parley/guards/planted/ring");
        assertThat(largerPackages(planted, 4)).isEmpty();
    }

    /** Directories with more than {@code limit} source files below a directory, not counting {@code package-info}. */
    private static Set<String> largerPackages(Path directory, int limit) throws IOException {
        var files = new TreeMap<String, Integer>();
        try (Stream<Path> sources = Files.walk(directory)) {
            sources.filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                    .map(file -> ROOT.relativize(file.toAbsolutePath().getParent()))
                    .forEach(source -> files.merge(source.toString(), 1, Integer::sum));
        }
        files.values().removeIf(count -> count <= limit);
        return files.keySet();
    }

    /**
     * Classes of one package that all depend on each other, nested classes counted as their outermost one.
     *
     * @param constants names of the classes of whose constants a class makes use, by its name
     */
    private static List<Set<String>> rings(JavaClasses classes, Map<String, Set<String>> constants) {
        var uses = new TreeMap<String, Set<String>>();
        for (JavaClass type : classes) {
            JavaClass from = outermost(type);
            Set<String> used = uses.computeIfAbsent(from.getName(), name -> new TreeSet<>());
            Stream<JavaClass> inClassFile = type.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> outermost(dependency.getTargetClass()));
            Stream<JavaClass> byConstants =
                    constants.getOrDefault(type.getName(), Set.of()).stream().map(classes::get);
            Stream.concat(inClassFile, byConstants)
                    .filter(to -> !to.equals(from) && to.getPackageName().equals(from.getPackageName()))
                    .filter(to -> !isOwnPart(to, from))
                    .forEach(to -> used.add(to.getName()));
        }
        return new Rings(uses).largerThan(LARGEST_RING);
    }

    /** Whether a class is an implementation of a type, or its builder: the type may know them. */
    private static boolean isOwnPart(JavaClass part, JavaClass type) {
        return part.isAssignableTo(type.getName()) || part.getSimpleName().equals(type.getSimpleName() + "Builder");
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(LayoutTest::outermost).orElse(type);
    }

    /** Strongly connected components, by Tarjan's algorithm. */
    private static final class Rings {
        private final Map<String, Set<String>> uses;
        private final Map<String, Integer> order = new HashMap<>();
        private final Map<String, Integer> lowest = new HashMap<>();
        private final Deque<String> path = new ArrayDeque<>();
        private final List<Set<String>> rings = new ArrayList<>();

        Rings(Map<String, Set<String>> uses) {
            this.uses = uses;
        }

        List<Set<String>> largerThan(int size) {
            for (String type : uses.keySet()) {
                if (!order.containsKey(type)) {
                    visit(type);
                }
            }
            return rings.stream().filter(ring -> ring.size() > size).toList();
        }

        private void visit(String type) {
            int number = order.size();
            order.put(type, number);
            lowest.put(type, number);
            path.push(type);
            for (String next : uses.getOrDefault(type, Set.of())) {
                if (!order.containsKey(next)) {
                    visit(next);
                    lowest.merge(type, lowest.getOrDefault(next, number), Math::min);
                } else if (path.contains(next)) {
                    lowest.merge(type, order.getOrDefault(next, number), Math::min);
                }
            }
            if (lowest.getOrDefault(type, number) == number) {
                var ring = new TreeSet<String>();
                String last;
                do {
                    last = path.pop();
                    ring.add(last);
                } while (!last.equals(type));
                rings.add(ring);
            }
        }
    }
}
