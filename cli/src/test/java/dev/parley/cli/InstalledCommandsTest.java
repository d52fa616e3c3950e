package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentSource;
import dev.parley.hub.Hub;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands of the sample of {@code docs/extensions.md}: its jar is installed for the program, and a hub that {@code parley up} runs has it, too. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class InstalledCommandsTest {
    private static final String AGENT = """
            package example;

            public final class Rooms implements dev.parley.engine.AgentSource {
                @Override
                public java.util.Collection<dev.parley.engine.Agent> agents() {
                    return java.util.List.of(dev.parley.engine.Agent.named("rooms", "Knows rooms")
                            .streaming(true)
                            .handle((request, reply) -> reply.complete(request.text())));
                }
            }
            """;

    private static final String KINDS = """
            package example;

            import dev.parley.protocol.Operation;
            import dev.parley.protocol.extension.ExtensionMethod;
            import dev.parley.protocol.extension.ExtensionProtocol;
            import dev.parley.protocol.json.Codecs;
            import dev.parley.protocol.json.ObjectCodec;
            import java.util.List;
            import java.util.Map;

            public final class Kinds implements ExtensionProtocol.Provider {
                public record Try(Long count, List<String> tags, Boolean loud, Double ratio, Map<String, Object> more)
                        implements Operation.ExtensionCall<String> {
                    @Override
                    public String name() {
                        return "kinds/try/all";
                    }
                }

                private static final ObjectCodec<Try> TRY = ObjectCodec.<Try>of()
                        .optional("count", Codecs.number(1, 10), Try::count).help("N", "How many.")
                        .optional("tag", Codecs.list(Codecs.TEXT), Try::tags).help("TAG", "Tags.")
                        .optional("isLoud", Codecs.BOOLEAN, Try::loud).help("", "Loud, 100% of it.")
                        .optional("ratio", Codecs.DOUBLE, Try::ratio).help("R", "A ratio.")
                        .optional("more", Codecs.STRUCT, Try::more).help("JSON", "More.")
                        .as(v -> new Try(v.next(), v.next(), v.next(), v.next(), v.next()));

                @Override
                public List<ExtensionProtocol> protocols() {
                    return List.of(
                            ExtensionProtocol.of("urn:example:task/v1", method("task/get")),
                            ExtensionProtocol.of("urn:example:kinds/v2", method("kinds/try/all")));
                }

                private static ExtensionMethod<Try, String> method(String name) {
                    return ExtensionMethod.call(name, Try.class, TRY, Codecs.TEXT).described("Try");
                }
            }
            """;

    @TempDir
    private static Path directory;

    private Path jar = Path.of("");
    private RunningHub hub;

    @BeforeAll
    void start() throws Exception {
        jar = Files.createDirectories(directory.resolve("home/.config/a2a-cli/extensions"))
                .resolve("thermometer.jar");
        TestAgents.writeSample(jar);
        Path agent = Files.createDirectories(directory.resolve("agent")).resolve("rooms.jar");
        TestAgents.writeJar(
                agent,
                TestAgents.module("dev.parley.engine"),
                "Rooms",
                AGENT,
                Map.of(AgentSource.class, "example.Rooms"));
        hub = new RunningHub(
                directory,
                Map.of(),
                "--in-memory",
                "--no-demo",
                "--drain",
                "1s",
                "--agents",
                jar.toString(),
                "--agents",
                agent.toString());
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private Ran run(String line) {
        return new Shell(directory)
                .with("A2ACLI_AGENT_CARD", hub.url() + "/agents/rooms")
                .run(line.split(" ", -1));
    }

    private Ran ok(String line) {
        Ran ran = run(line);
        assertThat(ran.status()).as(ran.out() + ran.err()).isZero();
        return ran;
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    @DisplayName(
            "an operation of an installed extension is a command: values are read by their types, and members of the answer are shown")
    void operationsAreCommands(String binding) {
        String line =
                "thermometer average kitchen --until 2027-01-31 --window 30m --unit fahrenheit --transport " + binding;

        assertThat(ok(line).out()).isEqualTo("""
                From: 2027-01-30T23:30:00Z
                Average: 68.0
                Unit: fahrenheit
                Newest:
                  {
                    "number": 3,
                    "celsius": 20.5
                  }

                """);
        assertThat(ok(line + " -o json").out())
                .isEqualTo("{\"from\":\"2027-01-30T23:30:00Z\",\"average\":68.0,\"unit\":\"fahrenheit\","
                        + "\"newest\":{\"number\":3,\"celsius\":20.5}}\n");
        assertThat(ok("thermometer read kitchen").out()).isEqualTo("Number: 3\nCelsius: 20.5\n");
    }

    @Test
    @DisplayName("a stream of an installed extension is a command that shows each element")
    void streamsAreCommands() {
        assertThat(ok("thermometer watch kitchen -o json").out())
                .startsWith("{\"number\":1,\"celsius\":19.5}\n{\"number\":2,\"celsius\":20.0}\n")
                .contains("{\"number\":3,\"celsius\":20.5}\n");
    }

    @Test
    @DisplayName(
            "the help of an operation has its arguments and options with types, limits and texts; those of the program list it")
    void operationsHaveHelp() {
        assertThat(ok("thermometer average --help").out().replaceAll("\\s+", " "))
                .startsWith(
                        "Average the temperature of a room over a window. Usage: parley thermometer average [OPTIONS] ROOM")
                .contains(
                        " ROOM Name of the room. Type: a text. ",
                        " --until=WHEN End of the window. Type: a time such as 2027-01-31T12:00:00Z, 2027-01-31 or,"
                                + " before now, 90d; required. ",
                        " --window=DURATION Length of the window; default: 1h. Type: a duration such as 90s, 1h30m or 2d,"
                                + " at most 24h. ",
                        " --unit=UNIT Unit of the average; default: celsius. Type: celsius or fahrenheit. ",
                        " -a, --agent-card=REF ");
        assertThat(ok("--help").out())
                .contains("  thermometer  Call the operations of the extension /extensions/thermometer/v1.\n");
        assertThat(ok("help thermometer").out()).contains("  watch    Follow the temperature of a room.\n");
        assertThat(ok("completion bash").out()).contains("thermometer");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "average kitchen | missing --until (expected: a time such as",
                "average kitchen --until noon | invalid --until: noon (expected: such as 90d, 2027-01-31 or",
                "average kitchen --until 1h --unit kelvin | invalid --unit: \"kelvin\" (expected: celsius, fahrenheit)",
                "average kitchen --until 1h --window 25h | invalid --window: 25h (expected: a duration such as 90s, 1h30m or"
                        + " 2d, at most 24h)",
                "average kitchen --until 1h --window long | invalid --window: long (expected: a duration such as",
                "average --until 1h | Missing required parameter: 'ROOM'",
                "average kitchen --till 1h | unknown option --till",
                "averages kitchen | unknown command averages (expected: one of read, average, watch)"
            })
    @DisplayName(
            "a wrong command line is refused before anything is sent, with the value, what is expected and the next step")
    void wrongValuesAreRefused(String line, String problem) {
        Ran refused = run("thermometer " + line);

        assertThat(refused.status()).as(refused.err()).isEqualTo(2);
        assertThat(refused.err()).contains(problem).containsPattern("Hint: .*(--help lists|did you mean average)");
    }

    @Test
    @DisplayName("an error of the agent is shown with its reason; an agent without the extension is not called")
    void agentsRefuse() {
        Ran unknown = run("thermometer read cellar");

        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("room \"cellar\": unknown");
        Agent echo = Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text()));
        try (Hub other = Hub.builder().inMemory().port(0).agents(echo).start()) {
            Ran without = run("thermometer read kitchen -a " + other.agentUrl("echo"));

            assertThat(without.status()).isEqualTo(1);
            assertThat(without.err())
                    .contains("/extensions/thermometer/v1", "see what the agent can do: parley card get -a ");
        }
    }

    @Test
    @DisplayName("a jar that cannot be loaded is a warning: its commands are missing, and all others work")
    void brokenJarsAreAWarning() throws IOException {
        Path broken = Files.createDirectories(directory.resolve("broken")).resolve("broken.jar");
        TestAgents.writeJar(
                broken,
                TestAgents.module("dev.parley.engine"),
                "Broken",
                "package example; public final class Broken {}",
                Map.of(ExtensionProtocol.Provider.class, "example.Broken"));
        Shell shell = new Shell(directory).with("A2ACLI_EXTENSIONS", broken.toString());

        assertThat(shell.run("--help").out()).contains("  send ");
        assertThat(shell.run("thermometer", "read", "kitchen").err())
                .startsWith("Warning: extensions in " + broken + ": cannot load: ")
                .contains("expected: jars built for this version of Parley", "unknown command thermometer");
        assertThat(shell.run("config", "show").err()).isEmpty();
        assertThat(shell.with("A2ACLI_EXTENSIONS", "missing").run("rooms").err())
                .startsWith("Error: A2ACLI_EXTENSIONS: no such file or directory: ");
    }

    @Test
    @DisplayName(
            "options take numbers, lists, truth values and JSON; an extension does not take the name of a command of the program")
    void optionsOfAllTypes() throws IOException {
        Path other = Files.createDirectories(directory.resolve("other")).resolve("kinds.jar");
        TestAgents.writeJar(
                other,
                TestAgents.module("dev.parley.engine"),
                "Kinds",
                KINDS,
                Map.of(ExtensionProtocol.Provider.class, "example.Kinds"));
        Shell shell = new Shell(directory).with("A2ACLI_EXTENSIONS", other.toString());

        Ran list = shell.run("--help");
        assertThat(list.err())
                .isEqualTo("Warning: extension command \"task\": left out"
                        + " (expected: a word that is no command of the program)\n");
        assertThat(list.out()).contains("  task ", "  kinds ").doesNotContain("urn:example:task");
        assertThat(shell.run("kinds", "try-all", "--help").out().replaceAll("\\s+", " "))
                .contains(
                        " --count=N How many. Type: a whole number from 1 to 10. ",
                        " --tag=TAG Tags. Type: a text, repeatable. ",
                        " --is-loud Loud, 100% of it. ",
                        " --ratio=R A ratio. Type: a number. ",
                        " --more=JSON More. Type: a JSON object, or @FILE. ");
        Map.of(
                        "--count 11", "invalid --count: 11 (expected: 1 to 10)",
                        "--count x", "invalid --count: x (expected: a whole number from 1 to 10)",
                        "--ratio x", "invalid --ratio: x (expected: a number)",
                        "--more [1]", "invalid --more: [1] (expected: a JSON object, or @FILE)",
                        "--count 2 --tag a --tag b --is-loud --ratio 0.5 --more {\"a\":1}", "does not offer")
                .forEach((line, problem) -> assertThat(
                                shell.run(("kinds try-all -a " + hub.url() + "/agents/rooms " + line).split(" ", -1))
                                        .err())
                        .contains(problem));
    }
}
