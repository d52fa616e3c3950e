package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Main;
import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Calls the agent that a framework serves, by our client and by {@code parley send}. The agent follows from the framework's
 * own classes, so what it does is less than {@link OwnClient} wants: {@code server.py} of google-adk has the list.
 */
final class FrameworkServer {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);

    private final String url;
    private final AgentClient agent;

    private FrameworkServer(String url, AgentClient agent) {
        this.url = url;
        this.agent = agent;
    }

    /**
     * Tries everything.
     *
     * @param url of the agent: that of the server, or of a route of a gateway to it
     * @param column addition to the name of the server in the table of results
     */
    static List<Check> checks(ForeignServer server, String url, String column) {
        try (AgentClient agent = AgentClient.builder()
                .callTimeout(LIMIT)
                .sendTimeout(LIMIT)
                .streamSilence(LIMIT)
                .connect(url)) {
            var checks = new ArrayList<Check>();
            new FrameworkServer(url, agent)
                    .operations()
                    .forEach((operation, run) -> checks.add(OwnClient.check(server, column, operation, () -> {
                        if (server.lacks().contains(operation)) {
                            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "the framework has no such thing");
                        }
                        run.run();
                        return "";
                    })));
            return checks;
        }
    }

    private Map<String, Runnable> operations() {
        var operations = new LinkedHashMap<String, Runnable>();
        operations.put("card", this::card);
        operations.put("send", this::send);
        operations.put("send a file", this::sendFile);
        operations.put("send the URL of a file", this::sendLink);
        operations.put("stream", this::stream);
        operations.put("question and answer", this::questionAndAnswer);
        operations.put("get", this::get);
        operations.put("cancel", this::cancel);
        operations.put("push configs", this::pushConfigs);
        operations.put("parley send", this::commandLine);
        operations.put("parley send --stream", this::streamOnCommandLine);
        return operations;
    }

    private void card() {
        assertThat(agent.card().name()).isEqualTo("handyman");
        assertThat(agent.card().capabilities().streaming()).isEqualTo(true);
    }

    private void send() {
        Task task = (Task) agent.send("Grüße, 世界 🌍");

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo("Grüße, 世界 🌍");
    }

    private void sendFile() {
        byte[] table = "city,people\nOslo,709000\n".getBytes(UTF_8);

        assertThat(returned(Part.file("cities.csv", "text/csv", table)))
                .isInstanceOfSatisfying(Part.Raw.class, file -> {
                    assertThat(file.raw()).isEqualTo(table);
                    assertThat(file.mediaType()).isEqualTo("text/csv");
                });
    }

    private void sendLink() {
        String url = "https://files.example.com/a.pdf";

        assertThat(returned(Part.link(url, "a.pdf", "application/pdf")))
                .isInstanceOfSatisfying(Part.Url.class, link -> {
                    assertThat(link.url()).isEqualTo(url);
                    assertThat(link.mediaType()).isEqualTo("application/pdf");
                });
    }

    /** The file as the agent returns it, behind the text. */
    private Part returned(Part file) {
        Task task = (Task) agent.send(Message.user(Part.text("hello"), file));
        return task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .toList()
                .getLast();
    }

    private void stream() {
        Task task;
        try (TaskStream stream = agent.stream("count")) {
            task = last(stream);
        }

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).contains("3");
    }

    private void questionAndAnswer() {
        Task asked = (Task) agent.send("ask");
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(asked.status().message())
                .isNotNull()
                .satisfies(question -> assertThat(question.parts()).asString().contains("What?"));

        Task answered = (Task) agent.send(Message.user(Part.text("blue")).in(asked.contextId(), asked.id()));

        assertThat(answered.id()).isEqualTo(asked.id());
        assertThat(answered.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(answered.text()).contains("blue");
    }

    private void get() {
        Task sent = (Task) agent.send("hello");

        assertThat(agent.task(sent.id()).state()).isEqualTo(TaskState.COMPLETED);
    }

    private void cancel() {
        Task started = started();

        assertThat(agent.cancel(started.id()).state()).isEqualTo(TaskState.CANCELED);
    }

    private void pushConfigs() {
        Task started = started();
        String url = "http://127.0.0.1:9/unreachable";
        agent.createPushConfig(new PushConfig(null, "mine", started.id(), url, null, null));

        assertThat(agent.pushConfigs(started.id())).extracting(PushConfig::url).containsExactly(url);
        agent.deletePushConfig(started.id(), "mine");
        assertThat(agent.pushConfigs(started.id())).isEmpty();
        agent.cancel(started.id());
    }

    private Task started() {
        return (Task) agent.send(Message.user(Part.text("wait")), AT_ONCE);
    }

    private void commandLine() {
        assertThat(parley("send", "hello")).contains("State: TASK_STATE_COMPLETED", "hello");
    }

    private void streamOnCommandLine() {
        assertThat(parley("send", "--stream", "count")).contains("State: TASK_STATE_COMPLETED", "1", "2", "3");
    }

    /** What the command line prints, run as a process of its own. */
    private String parley(String... arguments) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = Stream.concat(
                        Stream.of(java, "-cp", System.getProperty("java.class.path"), Main.class.getName()),
                        Stream.concat(Stream.of(arguments), Stream.of("--agent-card", url)))
                .toList();
        try {
            return String.join("\n", ForeignSdk.execute(Path.of("target"), LIMIT, command, "parley"));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Task last(TaskStream stream) {
        Task task = (Task) stream.next();
        while (stream.hasNext()) {
            TaskEvent event = stream.next();
            task = event instanceof Task whole ? whole : event.applyTo(task);
        }
        return task;
    }
}
