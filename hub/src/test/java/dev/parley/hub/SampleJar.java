package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Compiles a class of a page of the documentation, in the package {@code example}, into a jar of its own. */
final class SampleJar {
    private final String page;
    private final String type;
    private final Path directory;
    private final List<String> sources = new ArrayList<>();

    private SampleJar(String page, String type, Path directory) {
        this.page = page;
        this.type = type;
        this.directory = directory;
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

    SampleJar and(String name, String source) throws IOException {
        Path file = Files.createDirectories(directory.resolve("source")).resolve(name + ".java");
        Files.writeString(file, source);
        sources.add(file.toString());
        return this;
    }

    /** Writes the jar, in which the class provides services that the page names. */
    Path write(Class<?>... services) throws IOException {
        Path classes = Files.createDirectories(directory.resolve("classes"));
        var arguments = new ArrayList<>(
                List.of("-proc:none", "-cp", System.getProperty("java.class.path"), "-d", classes.toString()));
        arguments.addAll(sources);
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(status).isZero();
        Path jar = directory.resolve("sample.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                var out = new JarOutputStream(file);
                Stream<Path> compiled = Files.list(classes.resolve("example"))) {
            for (Path one : compiled.toList()) {
                out.putNextEntry(new JarEntry("example/" + one.getFileName()));
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
