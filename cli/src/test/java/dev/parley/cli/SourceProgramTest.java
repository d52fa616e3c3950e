package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The process of {@code parley run FILE.java}. */
@Timeout(120)
@Tag("heavy")
final class SourceProgramTest {
    private record Ran(int status, String output) {}

    @TempDir
    Path directory = Path.of("");

    private Ran run(String file, String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(file));
        all.addAll(List.of(arguments));
        return java("dev.parley.cli.host.SourceProgram", all.toArray(String[]::new));
    }

    private Ran java(String program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                program));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), output);
    }

    private void write(String name, String source) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, source);
    }

    @Test
    @DisplayName("D10: a class with @Skill methods works in a single source file")
    void skillsHaveTheNamesOfTheirParameters() throws Exception {
        write("Adding.java", """
                import dev.parley.client.AgentClient;
                import dev.parley.engine.Agent;
                import dev.parley.engine.Skill;
                import dev.parley.hub.Hub;
                import dev.parley.protocol.Message;
                import dev.parley.protocol.Part;
                import dev.parley.protocol.Task;
                import java.util.Map;

                public class Adding {
                    static class Sums {
                        @Skill(description = "Adds two numbers")
                        String add(int first, int second) {
                            return "sum " + (first + second);
                        }
                    }

                    public static void main(String[] arguments) throws Exception {
                        Agent agent = Agent.named("sums", "Adds").skills(new Sums());
                        try (Hub hub = Hub.builder().inMemory().port(0).agents(agent).start();
                                AgentClient client = AgentClient.connect(hub.agentUrl("sums"))) {
                            Part data = Part.data(Map.of("first", 3, "second", Integer.parseInt(arguments[0])));
                            System.out.println(((Task) client.send(Message.user(data))).text());
                        }
                    }
                }
                """);

        Ran ran = run("Adding.java", "4");

        assertThat(ran.output()).contains("sum 7");
        assertThat(ran.status()).isZero();
    }

    @Test
    void classesOfTheSameDirectoriesAreFound() throws Exception {
        write(
                "src/a/b/Main.java",
                "package a.b; class Main { static void main(String... all) { System.out.println(\"n \" + new Next().n); } }"
                        .replace("static", "public static"));
        write("src/a/b/Next.java", "package a.b; class Next { int n = 7; }");

        assertThat(run("src/a/b/Main.java")).isEqualTo(new Ran(0, "n 7\n".replace("\n", System.lineSeparator())));
    }

    @Test
    void errorsOfTheCompilerHaveFileAndLine() throws Exception {
        write(
                "Wrong.java",
                "class Wrong { public static void main(String[] all) {} }\nclass Other { int n = \"x\"; }\n");

        Ran ran = run("Wrong.java");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.output()).contains("Wrong.java:2: error: incompatible types", "error: compilation failed");
    }

    @Test
    void whatAProgramThrowsIsShownAndFails() throws Exception {
        write(
                "Throws.java",
                "class Throws { public static void main(String[] all) { throw new IllegalStateException(\"boom\"); } }");
        write("Empty.java", "// nothing\n");
        write("Without.java", "class Without {}\n");

        Ran thrown = run("Throws.java");

        assertThat(thrown.status()).isEqualTo(1);
        assertThat(thrown.output()).contains("IllegalStateException: boom", "Throws.java:1");
        assertThat(run("Empty.java").output()).contains("no class in ");
        assertThat(run("Without.java").output()).contains("class \"Without\": no main method");
    }

    @Test
    @DisplayName("programs of parley run have data of their own beside a hub in the same directory and each other")
    void dataOfPrograms() throws Exception {
        Path home = directory.resolve(".parley");
        try (Hub up = Hub.builder().port(0).data(home).start()) {
            for (String name : List.of("First", "Second")) {
                write(name + ".java", """
                    import dev.parley.engine.Agent;
                    import dev.parley.hub.Hub;
                    import dev.parley.hub.Parley;

                    class %s {
                        public static void main(String[] arguments) throws Exception {
                            try (Hub hub = Parley.serve(0, Agent.named("a", "Says it again").handle((request, reply) -> reply.complete("")))) {
                                System.out.println("serves");
                            }
                        }
                    }
                    """.formatted(name));
                Ran ran = java("dev.parley.cli.Main", "run", name + ".java");

                assertThat(ran.output()).contains("serves");
                assertThat(ran.status()).isZero();
                assertThat(home.resolve("run").resolve(name).resolve("parley.db"))
                        .exists();
            }

            Ran refused = run("First.java"); // as a program outside of parley run

            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.output())
                    .startsWith("error: data directory \"" + home.toAbsolutePath() + "\" is in use by another hub")
                    .doesNotContain("at dev.parley");
            assertThat(up.url()).isNotEmpty();
        }
    }
}
