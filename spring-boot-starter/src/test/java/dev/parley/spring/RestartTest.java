package dev.parley.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.protocol.Task;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Application with {@code spring-boot-devtools}, which restarts it in its process when a class changes. */
@Tag("heavy")
@Timeout(180)
final class RestartTest {
    /** What the application prints when it is ready: the class loaders of the application and of Parley. */
    private static final String READY = "ready RestartClassLoader AppClassLoader";

    private static final String SOURCE = """
        package org.example.restarted;

        import dev.parley.engine.Agent;
        import org.springframework.boot.SpringApplication;
        import org.springframework.boot.autoconfigure.SpringBootApplication;
        import org.springframework.boot.context.event.ApplicationReadyEvent;
        import org.springframework.context.ApplicationListener;
        import org.springframework.context.annotation.Bean;

        @SpringBootApplication
        public class Greeting {
            public static void main(String[] args) {
                SpringApplication.run(Greeting.class, args);
            }

            @Bean
            Agent greeter() {
                return Agent.named("greeter", "Greets its caller")
                        .handle((request, reply) -> reply.complete("GREETING, " + request.text()));
            }

            @Bean
            ApplicationListener<ApplicationReadyEvent> ready() {
                return event -> System.out.println("ready " + loader(Greeting.class) + " " + loader(Agent.class));
            }

            private static String loader(Class<?> type) {
                return type.getClassLoader().getClass().getSimpleName();
            }
        }
        """;

    @TempDir
    Path directory;

    private final LinkedBlockingQueue<String> output = new LinkedBlockingQueue<>();
    private Process application;
    private int port;

    @BeforeEach
    void start() throws Exception {
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        compile("Good morning");
        // A project's build has Parley as jars, which devtools does not load again; here they are directories.
        Path settings = Files.createDirectories(directory.resolve("classes/META-INF"));
        Files.writeString(settings.resolve("spring-devtools.properties"), "restart.exclude.parley=.*/target/.*\n");
        application = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        directory.resolve("classes") + File.pathSeparator + classPath(),
                        "org.example.restarted.Greeting",
                        "--server.port=" + port,
                        "--parley.data=" + directory.resolve("data"),
                        "--parley.drain=500ms",
                        "--spring.devtools.livereload.enabled=false",
                        "--spring.devtools.restart.poll-interval=300ms",
                        "--spring.devtools.restart.quiet-period=200ms",
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn")
                .redirectErrorStream(true)
                .start();
        Thread.ofVirtual().start(() -> {
            try (var lines = application.inputReader()) {
                lines.lines().forEach(output::add);
            } catch (IOException | UncheckedIOException ended) {
                output.add("output ended: " + ended);
            }
        });
    }

    @AfterEach
    void stop() throws Exception {
        application.destroy();
        application.waitFor();
    }

    @Test
    void aChangedAgentAnswersAtTheSamePortAndItsTasksAreKept() throws Exception {
        awaitReady();
        String id;
        try (AgentClient greeter = client()) {
            Task task = (Task) greeter.send("Ada");
            assertThat(task.text()).isEqualTo("Good morning, Ada");
            id = task.id();
        }

        compile("Good evening");
        awaitReady();

        try (AgentClient greeter = client()) {
            assertThat(((Task) greeter.send("Ada")).text()).isEqualTo("Good evening, Ada");
            assertThat(greeter.task(id).text()).isEqualTo("Good morning, Ada");
        }
    }

    private AgentClient client() {
        return AgentClient.connect("http://localhost:" + port + "/a2a/agents/greeter");
    }

    private void awaitReady() throws InterruptedException {
        var lines = new StringBuilder();
        String line;
        do {
            line = output.poll(60, TimeUnit.SECONDS);
            lines.append(line).append('\n');
        } while (line != null && !line.equals(READY));
        assertThat(line).as("output of the application: %s", lines).isEqualTo(READY);
    }

    /** Without the classes of tests, and without Spring Security, which would refuse all requests. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> !entry.contains("test-classes") && !entry.contains("-security"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private void compile(String greeting) throws IOException {
        Path source = Files.createDirectories(directory.resolve("source")).resolve("Greeting.java");
        Files.writeString(source, SOURCE.replace("GREETING", greeting));
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-parameters",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        Files.createDirectories(directory.resolve("classes")).toString(),
                        source.toString());
        assertThat(failed).isZero();
    }
}
