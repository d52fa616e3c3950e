package dev.parley.cli;

import dev.parley.engine.AgentSource;
import dev.parley.engine.ExtensionSource;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;

/** Makes a jar with an agent and an extension in it, as somebody else would. */
final class TestAgents {
    private static final String SOURCE = """
            package example;

            import dev.parley.engine.Agent;
            import dev.parley.engine.AgentExtension;
            import java.util.Collection;
            import java.util.List;

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
            }
            """;

    private TestAgents() {}

    static void writeJar(Path jar) throws IOException {
        Path source = Files.createDirectories(jar.resolveSibling("source")).resolve("Agents.java");
        Path classes = Files.createDirectories(jar.resolveSibling("classes"));
        Files.writeString(source, SOURCE);
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
                var out = new JarOutputStream(file)) {
            out.putNextEntry(new JarEntry("example/Agents.class"));
            Files.copy(classes.resolve("example/Agents.class"), out);
            for (Class<?> service : List.of(AgentSource.class, ExtensionSource.class)) {
                out.putNextEntry(new JarEntry("META-INF/services/" + service.getName()));
                out.write("example.Agents\n".getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
