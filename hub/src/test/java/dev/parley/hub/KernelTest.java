package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.engine.TaskManager;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
final class KernelTest {
    @TempDir
    static Path data;

    private static Hub hub;

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .data(data)
                .port(0)
                .agents(
                        EchoServer.agent(),
                        Agent.named("asking", "Asks").handle((request, reply) -> reply.askForInput("More?")))
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    @Test
    @DisplayName("AK20: the echo server of the documentation echoes")
    void theEchoServerEchoes() throws Exception {
        try (AgentClient client = AgentClient.connect(hub.agentUrl("echo") + "/kernel")) {
            Task task = (Task) client.send("hello");

            assertThat(client.address().protocolVersion()).isEqualTo("kernel");
            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.artifacts()).singleElement().satisfies(artifact -> {
                assertThat(artifact.name()).isEqualTo("Echo");
                assertThat(artifact.parts()).containsExactly(Part.text("hello"));
            });
            assertThat(task.status().message()).isNotNull();
        }
    }

    @Test
    @DisplayName("AK21: the client of the documentation sends, streams and reads")
    void theClientTalks() throws Exception {
        try (AgentClient client = AgentClient.connect(hub.agentUrl("echo") + "/kernel")) {
            Task task = (Task) client.send("hello");
            var seen = new ArrayList<TaskEvent>();
            try (TaskStream events = client.stream("hello again")) {
                events.forEachRemaining(seen::add);
            }

            assertThat(seen.getLast()).matches(KernelTest::isTheEnd);
            assertThat(client.task(task.id()).state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    private static boolean isTheEnd(TaskEvent event) {
        return event instanceof TaskStatusUpdateEvent update && update.status().state() == TaskState.COMPLETED;
    }

    @Test
    @DisplayName("AK27: the programs of the documentation are the ones that are tested")
    void theProgramsAreTheDocumented() throws IOException {
        String page = Files.readString(Path.of("../docs/kernel.md"));
        String server = Files.readString(Path.of("src/test/java/dev/parley/hub/EchoServer.java"));

        String client = Files.readString(Path.of("src/test/java/dev/parley/hub/EchoClient.java"));

        for (String source : List.of(server, client)) {
            assertThat(page)
                    .contains(source.substring(source.indexOf("public final class"))
                            .strip());
        }
    }

    @Test
    @DisplayName("AK27: the documented client calls the documented server")
    void theDocumentedClientRuns() throws Exception {
        var printed = new ByteArrayOutputStream();
        PrintStream out = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            EchoClient.main(new String[] {hub.agentUrl("echo") + "/kernel"});
        } finally {
            System.setOut(out);
        }

        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .startsWith("echo", "COMPLETED: hello")
                .anyMatch(line -> line.contains("TaskArtifactUpdateEvent"))
                .endsWith("COMPLETED");
    }

    @Test
    @DisplayName("AK18: a task manager lets an agent work and hears what is done elsewhere")
    void sixOperations() throws InterruptedException {
        TaskManager asking = hub.tasks("asking").orElseThrow();
        Task begun = asking.processTask("mine", "session", Message.user(Part.text("begin")));

        assertThat(begun.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(begun.contextId()).isEqualTo("session");
        try (Feed<LoggedEvent> events = asking.subscribeToTask("mine")) {
            asking.updateTaskStatus("mine", TaskState.WORKING, Message.agent(Part.text("half")));
            asking.addTaskArtifact("mine", piece("one"), false);
            asking.addTaskArtifact("mine", piece("two"), true);
            Task done = asking.updateTaskStatus("mine", TaskState.COMPLETED, null);

            assertThat(done.artifacts().getFirst().parts()).hasSize(2);
            assertThat(done.status().message()).isNotNull();
            assertThat(asking.getTask("mine", null).state()).isEqualTo(TaskState.COMPLETED);
            int seen = 0;
            for (var next = events.next(Duration.ofSeconds(5));
                    next != null;
                    next = events.next(Duration.ofSeconds(5))) {
                seen += next.size();
            }
            assertThat(seen).isEqualTo(5);
        }
    }

    @Test
    @DisplayName("AV29: a transition that cannot be is refused, and nothing has changed")
    void nothingMovesAfterTheEnd() {
        TaskManager asking = hub.tasks("asking").orElseThrow();
        Task begun = asking.processTask(null, null, Message.user(Part.text("begin")));
        asking.cancelTask(begun.id());

        var refused = catchThrowableOfType(
                A2AException.class, () -> asking.updateTaskStatus(begun.id(), TaskState.WORKING, null));

        assertThat(refused.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
        assertThat(asking.getTask(begun.id(), null).state()).isEqualTo(TaskState.CANCELED);
    }

    private static Artifact piece(String text) {
        return new Artifact("a", "A", null, List.of(Part.text(text)), Map.of(), List.of());
    }
}
