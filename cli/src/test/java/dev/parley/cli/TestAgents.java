package dev.parley.cli;

import dev.parley.engine.AgentSource;
import dev.parley.engine.ExtensionSource;
import dev.parley.extension.HubExtensionSource;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
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
                "Agents",
                SOURCE,
                Map.of(
                        AgentSource.class, "example.Agents",
                        ExtensionSource.class, "example.Agents",
                        HubExtensionSource.class, "example.Agents$OfHub"));
    }

    /**
     * Makes a jar of a class.
     *
     * @param name of the class, whose package is {@code example}
     * @param services names of the classes that provide them
     */
    static void writeJar(Path jar, String name, String text, Map<Class<?>, String> services) throws IOException {
        Path source = Files.createDirectories(jar.resolveSibling("source")).resolve(name + ".java");
        Path classes = Files.createDirectories(jar.resolveSibling("classes"));
        Files.writeString(source, text);
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        classes.toString(),
                        source.toString());
        if (status != 0) {
            throw new IOException("does not compile");
        }
        try (OutputStream file = Files.newOutputStream(jar);
                var out = new JarOutputStream(file);
                Stream<Path> compiled = Files.list(classes.resolve("example"))) {
            for (Path one : compiled.toList()) {
                out.putNextEntry(new JarEntry("example/" + one.getFileName()));
                Files.copy(one, out);
            }
            for (var service : services.entrySet()) {
                out.putNextEntry(
                        new JarEntry("META-INF/services/" + service.getKey().getName()));
                out.write((service.getValue() + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
