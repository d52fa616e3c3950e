package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Compiles a class of a page of the documentation, in the package {@code example}, as the module that the page declares for it, into a
 * jar of its own. So it uses exported packages of the modules that it requires, and nothing else.
 */
final class SampleJar {
    private final String page;
    private final String type;
    private final Path directory;
    private final List<String> sources = new ArrayList<>();
    private String module;

    private SampleJar(String page, String type, Path directory) {
        this.page = page;
        this.type = type;
        this.directory = directory;
        Matcher declared = Pattern.compile(
                        "```java\n((?:/\\*\\*[^`]*?)?module example\\." + type.toLowerCase(Locale.ROOT) + " \\{.*?)```",
                        Pattern.DOTALL)
                .matcher(page);
        assertThat(declared.find()).as("module of " + type).isTrue();
        module = declared.group(1);
    }

    static SampleJar of(String file, String type, Path directory) throws IOException {
        var sample = new SampleJar(Files.readString(Path.of(file)), type, directory);
        Matcher code = Pattern.compile("```java\n(package example;.*?)```", Pattern.DOTALL)
                .matcher(sample.page);
        while (code.find()) {
            if (code.group(1).contains("public final class " + type + " ")) {
                return sample.and(type, code.group(1));
            }
        }
        throw new AssertionError(file + " has no class " + type);
    }

    /** Adds a class, which may use another module. */
    SampleJar and(String name, String source, String... modules) throws IOException {
        for (String each : modules) {
            module = module.replace("{\n", "{\n    requires " + each + ";\n");
        }
        sources.add(source(name, source));
        return this;
    }

    private String source(String name, String text) throws IOException {
        Path file = Files.createDirectories(directory.resolve("source")).resolve(name + ".java");
        Files.writeString(file, text);
        return file.toString();
    }

    /** Compiles, and returns the errors of the compiler. */
    String compile() throws IOException {
        String classes = Files.createDirectories(directory.resolve("classes")).toString();
        var arguments = new ArrayList<>(List.of(
                "-proc:none",
                "--module-path",
                modulePath(),
                "--class-path",
                classes, // and not that of the tests
                "-d",
                classes,
                source("module-info", module)));
        arguments.addAll(sources);
        var errors = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, errors, arguments.toArray(String[]::new));
        return status == 0 ? "" : errors.toString(StandardCharsets.UTF_8);
    }

    /** The modules of the class path, without jars that have packages of others, such as those of tests. */
    private static String modulePath() {
        List<ModuleReference> modules = Stream.of(
                        System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> entry.endsWith(".jar") || Files.exists(Path.of(entry, "module-info.class")))
                .flatMap(entry -> ModuleFinder.of(Path.of(entry)).findAll().stream())
                .sorted(Comparator.comparing(module -> module.descriptor().isAutomatic()))
                .toList();
        var packages = new HashSet<String>();
        var places = new ArrayList<String>();
        for (ModuleReference module : modules) {
            if (Collections.disjoint(packages, module.descriptor().packages())) {
                packages.addAll(module.descriptor().packages());
                places.add(Path.of(module.location().orElseThrow()).toString());
            }
        }
        return String.join(File.pathSeparator, places);
    }

    /** Writes the jar, in which the class provides services that the page names. */
    Path write(Class<?>... services) throws IOException {
        assertThat(compile()).isEmpty();
        Path jar = directory.resolve("sample.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                var out = new JarOutputStream(file);
                Stream<Path> compiled = Files.walk(directory.resolve("classes"))) {
            for (Path one : compiled.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(
                        directory.resolve("classes").relativize(one).toString()));
                Files.copy(one, out);
            }
            for (Class<?> service : services) {
                assertThat(page).contains("META-INF/services/" + service.getName());
                out.putNextEntry(new JarEntry("META-INF/services/" + service.getName()));
                out.write(("example." + type + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        return jar;
    }
}
