package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The programs of {@code docs/calling.md} and {@code docs/testing.md}. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CallingAgentsTest {
    private Hub hub;

    @BeforeAll
    void start() throws IOException {
        hub = Hub.builder().inMemory().port(0).agents(TripAgent.agent()).start();
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    @ParameterizedTest
    @CsvSource({"calling, TripClient", "calling, TripWatcher", "testing, TripAgent", "testing, TripAgentTest"})
    void aPageShowsTheProgramThatIsTested(String page, String program) throws IOException {
        String source = Files.readString(Path.of("src/test/java/dev/parley/hub/" + program + ".java"));
        String imports = source.substring(source.indexOf("import"), source.indexOf("/**"));
        String type = source.substring(source.indexOf("final class"));

        assertThat(Files.readString(Path.of("../docs/" + page + ".md")))
                .contains(imports.strip())
                .contains(type.strip());
    }

    @Test
    void questionsAreAnswered() {
        assertThat(printed(TripClient::main, url(), "Lisbon", "3")).containsExactly("COMPLETED: 3 days in Lisbon");
    }

    @Test
    void aQuestionWithoutAnAnswerIsCanceled() {
        assertThat(printed(TripClient::main, url(), "Lisbon")).containsExactly("CANCELED: ");
    }

    @Test
    void aServerThatIsNotReachableIsAFailureOfTheClient() {
        assertThat(printed(TripClient::main, "http://127.0.0.1:1", "Lisbon"))
                .singleElement()
                .asString()
                .startsWith("no answer, UNREACHABLE: ");
    }

    @Test
    void eventsAreWatched() {
        List<String> events = printed(TripWatcher::main, url(), "Lisbon");

        assertThat(events).endsWith("status INPUT_REQUIRED");
        assertThat(events.getFirst()).startsWith("task ");
    }

    @ParameterizedTest
    @EnumSource(Problem.class)
    void eachProblemIsInTheTable(Problem problem) throws IOException {
        assertThat(Files.readString(Path.of("../docs/calling.md"))).contains("`" + problem + "`");
    }

    @ParameterizedTest
    @EnumSource(
            value = A2AError.class,
            names = {"TASK_NOT_FOUND", "TASK_NOT_CANCELABLE", "INVALID_PARAMS", "UNAVAILABLE", "UNAUTHENTICATED"})
    void theErrorsThatThePageNamesExist(A2AError error) throws IOException {
        assertThat(Files.readString(Path.of("../docs/calling.md"))).contains("`" + error + "`");
    }

    private String url() {
        return hub.agentUrl("trips");
    }

    private static List<String> printed(Consumer<String[]> program, String... arguments) {
        var printed = new ByteArrayOutputStream();
        PrintStream out = System.out;
        System.setOut(new PrintStream(printed, true, UTF_8));
        try {
            program.accept(arguments);
        } finally {
            System.setOut(out);
        }
        return printed.toString(UTF_8).lines().toList();
    }
}
