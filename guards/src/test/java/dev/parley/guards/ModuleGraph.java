package dev.parley.guards;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toUnmodifiableMap;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Modules of the build by their directories, and the rules for the arrows between them. A module states its arrows in {@code
 * module-info.java}, and a module without this file in {@code pom.xml}.
 */
final class ModuleGraph {
    private static final Pattern NAME = Pattern.compile("^module ([\\w.]+) \\{", Pattern.MULTILINE);
    private static final Pattern REQUIRES =
            Pattern.compile("^ *requires ((?:static |transitive )*)(dev\\.parley\\.[\\w.]+);", Pattern.MULTILINE);
    private static final Pattern QUALIFIED =
            Pattern.compile("^ *exports (dev\\.parley[\\w.]*)\\s+to\\s", Pattern.MULTILINE);
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<dependency>\\s*<groupId>dev\\.parley</groupId>\\s*<artifactId>([\\w-]+)</artifactId>.*?</dependency>",
            Pattern.DOTALL);

    private final Map<String, ProductModule> modules;
    private final Map<String, String> owners = new HashMap<>();

    /** Returns the packages that a {@code module-info.java} exports to named modules only. */
    static List<String> qualified(String declaration) {
        return QUALIFIED
                .matcher(declaration)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    ModuleGraph(Map<String, ProductModule> modules) {
        this.modules = new TreeMap<>(modules);
        modules.forEach((name, module) -> module.packages().forEach(each -> owners.put(each, name)));
    }

    /**
     * @param requires names of the modules that its classes may use
     * @param passed those of them that the classes of a module that requires this one may use as well
     */
    record ProductModule(Set<String> packages, Set<String> requires, Set<String> passed) {}

    /** Name of a class and name of another one on which it depends. */
    record Use(String type, String target) {}

    static ModuleGraph read(Path root) throws IOException {
        List<String> directories;
        try (Stream<Path> paths = Files.list(root)) {
            directories = paths.filter(path -> Files.isDirectory(path.resolve("src/main/java")))
                    .map(path -> root.relativize(path).toString())
                    .toList();
        }
        var directoriesByName = new HashMap<String, String>();
        for (String directory : directories) {
            Matcher name = NAME.matcher(descriptor(root, directory));
            if (name.find()) {
                directoriesByName.put(name.group(1), directory);
            }
        }
        var modules = new HashMap<String, ProductModule>();
        for (String directory : directories) {
            String descriptor = descriptor(root, directory);
            Set<String> packages = packages(root.resolve(directory).resolve("src/main/java"));
            modules.put(
                    directory,
                    descriptor.isEmpty()
                            ? new ProductModule(packages, dependencies(root.resolve(directory)), Set.of())
                            : new ProductModule(
                                    packages,
                                    required(descriptor, "", directoriesByName),
                                    required(descriptor, "transitive ", directoriesByName)));
        }
        return new ModuleGraph(modules);
    }

    private static String descriptor(Path root, String directory) throws IOException {
        Path file = root.resolve(directory).resolve("src/main/java/module-info.java");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    private static Set<String> packages(Path sources) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(
                            file -> file.toString().endsWith(".java") && !file.endsWith(Path.of("module-info.java")))
                    .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
                    .collect(toCollection(TreeSet::new));
        }
    }

    private static Set<String> required(String descriptor, String modifier, Map<String, String> directories) {
        return REQUIRES.matcher(descriptor)
                .results()
                .filter(each -> each.group(1).contains(modifier))
                .map(each -> each.group(2))
                .map(name -> directories.getOrDefault(name, name))
                .collect(toCollection(TreeSet::new));
    }

    private static Set<String> dependencies(Path module) throws IOException {
        return DEPENDENCY
                .matcher(Files.readString(module.resolve("pom.xml")))
                .results()
                .filter(each -> !each.group().contains("<scope>test</scope>"))
                .map(ModuleGraph::directory)
                .collect(toCollection(TreeSet::new));
    }

    /** Directory of an artifact. */
    private static String directory(MatchResult dependency) {
        String artifact = dependency.group(1);
        return artifact.equals("parley") ? "hub" : artifact.replaceFirst("^parley-", "");
    }

    /** Dependencies of classes on classes of the product. */
    static Set<Use> uses(JavaClasses classes) {
        return classes.stream()
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream()
                        .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                        .map(JavaClass::getName)
                        .filter(target -> target.startsWith("dev.parley."))
                        .map(target -> new Use(type.getName(), target)))
                .collect(toCollection(
                        () -> new TreeSet<>(Comparator.comparing(Use::type).thenComparing(Use::target))));
    }

    /** Modules without a floor, and floors without a module. */
    List<String> withoutFloor(Map<String, Integer> floors) {
        Stream<String> missing = modules.entrySet().stream()
                .filter(module -> !floors.containsKey(module.getKey()))
                .map(module -> "module \"" + module.getKey()
                        + "\": no floor (expected: a floor in ARCHITECTURE.md, "
                        + module.getValue().requires().stream()
                                .mapToInt(each -> floors.getOrDefault(each, -1) + 1)
                                .max()
                                .orElse(0)
                        + " at least, as it must be above the modules that this one requires)");
        Stream<String> unknown = floors.keySet().stream()
                .filter(name -> !modules.containsKey(name))
                .sorted()
                .map(name -> "floor of \"" + name + "\": no such module");
        return Stream.concat(missing, unknown).toList();
    }

    /** Arrows to a module that is not on a lower floor. */
    List<String> upward(Map<String, Integer> floors) {
        return modules.entrySet().stream()
                .flatMap(module -> module.getValue().requires().stream()
                        .filter(required -> floor(floors, required) >= floor(floors, module.getKey()))
                        .map(required -> "module \"" + module.getKey() + "\" on floor "
                                + floor(floors, module.getKey()) + ": requires \"" + required + "\" on floor "
                                + floor(floors, required) + " (expected: a lower floor)"))
                .toList();
    }

    private static int floor(Map<String, Integer> floors, String module) {
        return floors.getOrDefault(module, Integer.MAX_VALUE);
    }

    /** Uses of classes of modules that the module of the user does not require. */
    List<String> unstated(Collection<Use> uses) {
        Map<String, Set<String>> readable =
                modules.keySet().stream().collect(toUnmodifiableMap(name -> name, this::readable));
        return outside(uses, readable, "requires");
    }

    /** Uses of classes of modules other than those that a table allows to the module of the user. */
    List<String> beyond(Map<String, Set<String>> allowed, Collection<Use> uses) {
        return outside(uses, allowed, "may use");
    }

    private List<String> outside(Collection<Use> uses, Map<String, Set<String>> allowed, String verb) {
        return uses.stream()
                .filter(use -> {
                    String from = moduleOf(use.type());
                    String to = moduleOf(use.target());
                    return !from.equals(to)
                            && allowed.containsKey(from)
                            && !allowed.get(from).contains(to);
                })
                .map(use -> use.type() + ": uses " + use.target() + " of module \"" + moduleOf(use.target())
                        + "\" (expected: a module that \"" + moduleOf(use.type()) + "\" " + verb + ")")
                .toList();
    }

    private Set<String> readable(String module) {
        var readable = new TreeSet<String>();
        named(module).requires().forEach(required -> addWithPassed(required, readable));
        return readable;
    }

    private void addWithPassed(String module, Set<String> readable) {
        if (readable.add(module)) {
            named(module).passed().forEach(passed -> addWithPassed(passed, readable));
        }
    }

    /** Modules with all that they require. Names of directories without classes stay as they are. */
    Set<String> withRequired(Collection<String> names) {
        var all = new TreeSet<String>();
        var open = new ArrayDeque<>(names);
        while (!open.isEmpty()) {
            String name = open.remove();
            if (all.add(name) && modules.containsKey(name)) {
                open.addAll(named(name).requires());
            }
        }
        return all;
    }

    private ProductModule named(String module) {
        return requireNonNull(modules.get(module), module);
    }

    /** The module that has the package of a class or, for generated classes, the nearest package around it. */
    private String moduleOf(String type) {
        int end = type.lastIndexOf('.');
        while (end > 0) {
            String owner = owners.get(type.substring(0, end));
            if (owner != null) {
                return owner;
            }
            end = type.lastIndexOf('.', end - 1);
        }
        throw new IllegalStateException("class " + type + ": in a package of no module");
    }
}
