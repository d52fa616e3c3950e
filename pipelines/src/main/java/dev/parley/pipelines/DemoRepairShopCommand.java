package dev.parley.pipelines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.pipelines.repair.RepairShop;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code parley demo repair-shop}. */
@Command(
        name = "repair-shop",
        footer = {
            "",
            "A customer reports a noise. The manager asks two questions and sends the car to the mechanic, who uses three MCP"
                    + " servers (scanner, manual, lift) in processes of their own; the supplier has the part. The agents"
                    + " follow rules and use no model."
        })
final class DemoRepairShopCommand implements ProgramCommand {
    private static final List<String> FAULTS = List.of("scanner-crash", "out-of-stock", "lift-declined");

    @Option(names = "--interactive", description = "Ask you instead of playing the customer.")
    private boolean isInteractive;

    @Option(
            names = "--fault",
            paramLabel = "<fault>",
            description = "Let something go wrong: scanner-crash, out-of-stock or lift-declined.")
    private @Nullable String fault;

    @Option(
            names = "--model",
            paramLabel = "<URL>",
            description =
                    "Let a language model choose what the mechanic does, by an API like that of OpenAI: http://127.0.0.1:11434/v1"
                            + " for Ollama. The variable PARLEY_MODEL_KEY holds its key.")
    private @Nullable String model;

    @Option(names = "--model-name", paramLabel = "<name>", description = "Name of the model (default: llama3.2).")
    private String modelName = "llama3.2";

    @Option(
            names = "--serve",
            paramLabel = "<port>",
            description =
                    "Host the agents and tools at this port until the program is stopped, for clients of A2A and MCP.")
    private @Nullable Integer port;

    @Override
    public int run(CommandCall call) throws InterruptedException {
        if (fault != null && !FAULTS.contains(fault)) {
            throw CommandException.usage(
                    "--fault " + fault + ": unknown (expected: " + String.join(", ", FAULTS) + ")", null);
        }
        Path directory = null;
        try {
            directory = Files.createTempDirectory("parley-repair-shop");
            Path servers = directory.resolve("mcp-servers.json");
            Path crashes = "scanner-crash".equals(fault) ? directory.resolve("crashed") : null;
            Files.write(servers, Json.write(RepairShop.servers(crashes)));
            var url = new AtomicReference<String>();
            try (Hub hub = Hub.builder()
                    .inMemory()
                    .port(port == null ? 0 : port)
                    .set("mcp-servers", servers.toString())
                    .agents(RepairShop.agents(
                                    name -> AgentClient.connect(requireNonNull(url.get()) + "/agents/" + name),
                                    "out-of-stock".equals(fault),
                                    model == null
                                            ? null
                                            : new RepairShop.Model(
                                                    model,
                                                    modelName,
                                                    System.getenv().getOrDefault("PARLEY_MODEL_KEY", "none")))
                            .toArray(Agent[]::new))
                    .start()) {
                url.set(hub.url());
                call.output().note("hub: " + hub.url());
                if (port != null) {
                    Path files = directory;
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                        hub.close();
                        remove(files);
                    }));
                    call.output().line("A2A: " + hub.url() + "/agents/shop-manager");
                    call.output().line("MCP: " + hub.url() + "/mcp");
                    new CountDownLatch(1).await();
                }
                try (AgentClient manager = AgentClient.connect(hub.url() + "/agents/shop-manager")) {
                    return talk(manager, call);
                }
            }
        } catch (IOException failed) {
            throw CommandException.of(Kind.USAGE, "cannot read or write: " + failed.getMessage(), null, failed);
        } finally {
            remove(directory);
        }
    }

    private static void remove(@Nullable Path directory) {
        if (directory == null) {
            return;
        }
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } catch (IOException left) {
            // files in the temporary directory of the system
        }
    }

    private int talk(AgentClient manager, CommandCall call) throws IOException {
        Deque<Message> lines = script();
        Message next = requireNonNull(answer("How can we help you?", lines, call));
        while (true) {
            Task task = follow(manager, next, call);
            if (task.state() != TaskState.INPUT_REQUIRED) {
                if (task.state() == TaskState.COMPLETED) {
                    return 0;
                }
                throw CommandException.failed(
                        "task_" + task.state().name().toLowerCase(Locale.ROOT),
                        "the task ended with the state " + task.state() + text(task.status()),
                        null);
            }
            String question = text(task.status());
            say("shop-manager", question, call);
            Message answer = answer(question, lines, call);
            if (answer == null) {
                throw CommandException.failed(
                        "no_answer", "standard input ended before the question was answered", null);
            }
            next = answer.in(null, task.id());
        }
    }

    private static String text(TaskStatus status) {
        return status.message() == null ? "" : status.message().text();
    }

    private Deque<Message> script() {
        return new ArrayDeque<>(List.of(
                Message.user(
                        Part.text("My Toyota Camry makes a rattling noise."),
                        Part.data(Map.of("vehicle_id", "XYZ123", "make", "Toyota", "model", "Camry", "year", 2018))),
                Message.user(
                        Part.text("Here is a video of the noise."),
                        Part.file("rattling-noise.mp4", "video/mp4", "placeholder of the demo".getBytes(UTF_8))),
                Message.user(Part.text("For about two weeks.")),
                "lift-declined".equals(fault)
                        ? Message.user(Part.text("no"), Part.data(Map.of("agree", false)))
                        : Message.user(Part.text("yes"), Part.data(Map.of("agree", true)))));
    }

    /** The next line of the customer; null at the end of standard input. */
    private @Nullable Message answer(String question, Deque<Message> lines, CommandCall call) throws IOException {
        if (!isInteractive) {
            Message line = lines.removeFirst();
            say("customer", line.text(), call);
            return line;
        }
        if (call.isTerminal()) {
            call.err().print(question + " ");
            call.err().flush();
        }
        String line = reader(call).readLine();
        return line == null ? null : Message.user(Part.text(line));
    }

    private @Nullable BufferedReader reader;

    private BufferedReader reader(CommandCall call) {
        if (reader == null) {
            reader = new BufferedReader(new InputStreamReader(call.in(), UTF_8));
        }
        return reader;
    }

    private static Task follow(AgentClient manager, Message message, CommandCall call) {
        String id = message.taskId();
        try (TaskStream events = manager.stream(message)) {
            while (events.hasNext()) {
                switch (events.next()) {
                    case Task task -> {
                        id = task.id();
                        if (task.state() == TaskState.WORKING) {
                            say("shop-manager", text(task.status()), call);
                        }
                    }
                    case TaskStatusUpdateEvent moved -> {
                        if (moved.status().state() == TaskState.WORKING) {
                            say("shop-manager", text(moved.status()), call);
                        }
                    }
                    case TaskArtifactUpdateEvent produced -> show(produced.artifact(), call);
                    case Message other -> say("shop-manager", other.text(), call);
                }
            }
        }
        return manager.task(requireNonNull(id, "the manager answered without a task"));
    }

    private static void show(Artifact artifact, CommandCall call) {
        String name = artifact.name() == null ? "" : artifact.name() + ": ";
        for (Part part : artifact.parts()) {
            switch (part) {
                case Part.Text text -> text.text().lines().forEach(line -> say("shop-manager", name + line, call));
                case Part.Data data -> {
                    if (artifact.name() != null) {
                        say("shop-manager", name + new String(Json.write(data.data()), UTF_8), call);
                    }
                }
                default -> say("shop-manager", name + part.filename(), call);
            }
        }
    }

    private static void say(String speaker, String text, CommandCall call) {
        if (!text.isEmpty()) {
            call.output().line(speaker + ": " + text);
        }
    }
}
