package dev.parley.cli;

import dev.parley.engine.AgentSource;
import dev.parley.engine.ExtensionSource;
import dev.parley.extension.HubExtensionSource;
import dev.parley.protocol.extension.ExtensionProtocol;
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
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Makes a jar with an agent and an extension in it, as somebody else would. */
final class TestAgents {
    private static final String SOURCE = """
            package example;

            import dev.parley.engine.Agent;
            import dev.parley.engine.AgentExtension;
            import dev.parley.extension.HubExtension;
            import dev.parley.extension.HubExtensionSource;
            import dev.parley.extension.HubPage;
            import dev.parley.extension.HubParts;
            import dev.parley.protocol.settings.SettingReader;
            import dev.parley.protocol.settings.SettingType;
            import java.util.Collection;
            import java.util.List;
            import java.util.Map;

            public final class Agents implements dev.parley.engine.AgentSource, dev.parley.engine.ExtensionSource {
                @Override
                public Collection<Agent> agents() {
                    return List.of(Agent.named("jarred", "Comes from a jar")
                            .skill("jarred", "Answers", "test")
                            .handle((request, reply) -> reply.complete("from a jar: " + request.text())));
                }

                @Override
                public Collection<AgentExtension> extensions() {
                    return List.of(AgentExtension.of("/extensions/jarred/v1", "Comes from a jar, too")
                            .method("jarred/greet", (params, caller) -> "hello " + params.get("name"))
                            .specified("# Jarred"));
                }

                /** Has a page, and a setting. */
                public static final class OfHub implements HubExtensionSource {
                    private final String text;

                    public OfHub() {
                        this("");
                    }

                    private OfHub(String text) {
                        this.text = text;
                    }

                    @Override
                    public String uri() {
                        return "https://example.com/extensions/of-hub";
                    }

                    @Override
                    public HubExtensionSource configured(SettingReader in) {
                        return new OfHub(in.get(SettingType.TEXT, "jarred-text", "none", "TEXT", "The page."));
                    }

                    @Override
                    public Map<String, HubPage> pages() {
                        return Map.of("/jarred", new HubPage("text/plain", text.getBytes()));
                    }

                    @Override
                    public HubExtension open(HubParts hub) {
                        return new HubExtension() {
                            @Override
                            public AgentExtension of(String hub, String agent, boolean streams) {
                                return AgentExtension.of(uri(), "Has a page");
                            }

                            @Override
                            public String name() {
                                return "jarred";
                            }
                        };
                    }
                }
            }
            """;

    private TestAgents() {}

    static void writeJar(Path jar) throws IOException {
        writeJar(
                jar,
                module("dev.parley.extension"),
                "Agents",
                SOURCE,
                Map.of(
                        AgentSource.class, "example.Agents",
                        ExtensionSource.class, "example.Agents",
                        HubExtensionSource.class, "example.Agents$OfHub"));
    }

    /** Makes the jar of the sample of {@code docs/extensions.md}, of the files and services that the page names. */
    static void writeSample(Path jar) throws IOException {
        String page = Files.readString(Path.of("../docs/extensions.md"));
        Matcher sources = Pattern.compile(
                        "`module-info.java`:\n\n```java\n(.*?)```\n\n`example/(\\w+).java`:\n\n```java\n(.*?)```",
                        Pattern.DOTALL)
                .matcher(page);
        if (!sources.find()) {
            throw new IOException("no sample in the page");
        }
        String type = "example." + sources.group(2);
        writeJar(
                jar,
                sources.group(1),
                sources.group(2),
                sources.group(3),
                Map.of(ExtensionSource.class, type, ExtensionProtocol.Provider.class, type));
    }

    /** The declaration of a module that requires others. */
    static String module(String... required) {
        return "module example.jar {"
                + Stream.of(required).map(" requires %s;"::formatted).collect(Collectors.joining()) + " }";
    }

    /**
     * Makes a jar of a class, which uses exported packages of the modules that its own one requires.
     *
     * @param module declaration of its module
     * @param name of the class, whose package is {@code example}
     * @param services names of the classes that provide them
     */
    static void writeJar(Path jar, String module, String name, String text, Map<Class<?>, String> services)
            throws IOException {
        Path sources = Files.createDirectories(jar.resolveSibling("source"));
        Path classes = Files.createDirectories(jar.resolveSibling("classes"));
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "--module-path",
                        modulePath(),
                        "--class-path",
                        classes.toString(), // and not that of the tests
                        "-d",
                        classes.toString(),
                        Files.writeString(sources.resolve("module-info.java"), module)
                                .toString(),
                        Files.writeString(sources.resolve(name + ".java"), text).toString());
        if (status != 0) {
            throw new IOException("does not compile");
        }
        try (OutputStream file = Files.newOutputStream(jar);
                var out = new JarOutputStream(file);
                Stream<Path> compiled = Files.walk(classes)) {
            for (Path one : compiled.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(classes.relativize(one).toString()));
                Files.copy(one, out);
            }
            for (var service : services.entrySet()) {
                out.putNextEntry(
                        new JarEntry("META-INF/services/" + service.getKey().getName()));
                out.write((service.getValue() + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
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
}
