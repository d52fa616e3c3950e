package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.TaskStream;
import dev.parley.interop.Check.Result;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Does everything that our client can do with the agent that a foreign server serves, over one binding: the same code for
 * every version of the protocol.
 *
 * <p>What the agent does follows from the text that it is sent: {@code serve.py} has the list.
 */
final class OwnClient {
    /** What our client or the server says of an operation that is not to be had. */
    private static final Set<A2AError> NOT_OFFERED = Set.of(
            A2AError.UNSUPPORTED_OPERATION,
            A2AError.METHOD_NOT_FOUND,
            A2AError.METHOD_NOT_ALLOWED,
            A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED);

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);

    interface Operation {
        /** Returns a few words about what was seen. */
        String run();
    }

    private final ForeignServer server;
    private final String binding;
    private final AgentClient agent;

    private OwnClient(ForeignServer server, String binding, AgentClient agent) {
        this.server = server;
        this.binding = binding;
        this.agent = agent;
    }

    /** Tries everything, once over each binding that the server has. */
    static List<Check> checks(ForeignServer server) {
        var checks = new ArrayList<Check>();
        server.bindings().forEach((name, binding) -> {
            AgentClientBuilder how = AgentClient.builder()
                    .prefer(binding)
                    .callTimeout(LIMIT)
                    .sendTimeout(LIMIT)
                    .streamSilence(LIMIT)
                    .reconnects(2);
            server.origins().forEach(how::allowOrigin);
            try (AgentClient agent = how.connect(server.url())) {
                var client = new OwnClient(server, binding, agent);
                client.all().forEach((operation, run) -> checks.add(check(server, name, operation, run)));
            }
        });
        return checks;
    }

    /** Runs one operation with a server. */
    static Check check(ForeignServer server, String column, String operation, Operation run) {
        Result result;
        String detail;
        try {
            detail = run.run();
            result = Result.PASSED;
        } catch (RuntimeException | AssertionError failure) {
            boolean missing = failure instanceof A2AException refusal && NOT_OFFERED.contains(refusal.error());
            var trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            detail = trace.toString();
            result = missing ? Result.NOT_OFFERED : Result.FAILED;
        }
        return new Check(server.name(), server.dialect(), column, operation, result, detail);
    }

    private Map<String, Operation> all() {
        var all = new LinkedHashMap<String, Operation>();
        all.put("card", this::card);
        all.put("send", this::send);
        if (!isVault()) { // which has nothing but tasks
            all.put("send, answered by a message", this::sendForMessage);
        }
        all.put("send files", this::sendFiles);
        all.put("send without waiting", this::sendWithoutWaiting);
        all.put("send again when asked", this::sendAgain);
        all.put("stream", this::stream);
        if (!isVault()) {
            all.put("stream, answered by a message", this::streamForMessage);
        }
        all.put("stream up to a question", this::streamUpToQuestion);
        all.put("get", this::get);
        if (server.dialect().equals("1.0")) {
            all.put("list", this::list); // there was no such thing before
        }
        all.put("cancel", this::cancel);
        all.put("subscribe", this::subscribe);
        all.put("push config: create", this::createPushConfig);
        all.put("push config: get", this::getPushConfig);
        all.put("push config: list", this::listPushConfigs);
        all.put("push config: delete", this::deletePushConfig);
        all.put("errors", this::errors);
        return all;
    }

    /** AgentVault has no contexts, and for each file an address. */
    private boolean isVault() {
        return server.dialect().startsWith("AgentVault");
    }

    private String card() {
        AgentCard card = agent.card();
        assertThat(card.name()).isEqualTo("handyman");
        assertThat(card.capabilities().streaming()).isEqualTo(true);
        assertThat(card.skills()).extracting(AgentCard.Skill::id).containsExactly("do");
        assertThat(agent.address().protocolBinding()).isEqualTo(binding);
        assertThat(agent.address().protocolVersion()).startsWith(isVault() ? "agentvault" : server.dialect());
        return card.name() + " " + card.version();
    }

    private String send() {
        Task task = (Task) agent.send("Grüße, 世界 🌍");
        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo("Grüße, 世界 🌍");
        return task.text();
    }

    private String sendForMessage() {
        Message answer = (Message) agent.send("talk");
        assertThat(answer.text()).isEqualTo("hello");
        return answer.text();
    }

    private String sendFiles() {
        // Over REST, names of files came after the first release of 0.3, whose readers would refuse them.
        boolean named = server.dialect().equals("1.0") || !binding.equals(AgentCard.Interface.HTTP_JSON) && !isVault();
        Part link = Part.link("https://files.example.com/a.pdf", named ? "a.pdf" : null, "application/pdf");
        Part data = Part.data(Map.of("people", List.of("Ada", "Grace")));
        byte[] table = "city,people\nOslo,709000\n".getBytes(UTF_8);
        Part file = new Part.Raw(table, named ? "cities.csv" : null, "text/csv", Map.of());
        List<Part> sent = isVault() ? List.of(link, data) : List.of(file, link, data);
        Task task = (Task) agent.send(Message.user(
                Stream.concat(Stream.of(Part.text("files")), sent.stream()).toArray(Part[]::new)));
        List<Part> got = task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .toList();
        assertThat(got).containsAll(sent);
        return got.size() + " parts";
    }

    private String sendWithoutWaiting() {
        Task started = (Task) agent.send(Message.user(Part.text("wait")), AT_ONCE);
        assertThat(started.state().isSettled()).isFalse();
        stop(started);
        return started.state().name();
    }

    private String sendAgain() {
        Task asked = (Task) agent.send("ask");
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        Message question =
                isVault() ? asked.history().getLast() : asked.status().message();
        assertThat(question).extracting(Message::text).isEqualTo("What?");
        Task answered = (Task) agent.send(Message.user(Part.text("blue")).in(asked.contextId(), asked.id()));
        assertThat(answered.id()).isEqualTo(asked.id());
        assertThat(answered.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(answered.text()).isEqualTo("blue");
        return answered.history().size() + " messages in the history";
    }

    private String stream() {
        var events = new ArrayList<TaskEvent>();
        try (TaskStream stream = agent.stream("count")) {
            stream.forEachRemaining(events::add);
        }
        assertThat(events.getFirst()).isInstanceOf(Task.class);
        assertThat(events.stream().filter(TaskStatusUpdateEvent.class::isInstance))
                .map(event -> ((TaskStatusUpdateEvent) event).status().message())
                .filteredOn(message -> message != null)
                .extracting(Message::text)
                .as("what was said in %s", events)
                .containsExactly("1", "2", "3");
        Task task = fold(events);
        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.artifacts()).hasSize(1);
        assertThat(task.text()).isEqualTo("one\ntwo");
        return events.size() + " events";
    }

    private String streamForMessage() {
        try (TaskStream stream = agent.stream("talk")) {
            assertThat(((Message) stream.next()).text()).isEqualTo("hello");
            assertThat(stream.hasNext()).isFalse();
        }
        return "one event";
    }

    private String streamUpToQuestion() {
        Task asked;
        try (TaskStream stream = agent.stream("ask")) {
            asked = until(TaskState.INPUT_REQUIRED, stream);
        }
        Message answer = Message.user(Part.text("blue")).in(asked.contextId(), asked.id());
        try (TaskStream stream = agent.stream(answer)) {
            Task answered = until(TaskState.COMPLETED, stream);
            assertThat(answered.text()).isEqualTo("blue");
            assertThat(stream.hasNext()).isFalse();
        }
        return "asked and answered";
    }

    private String get() {
        Task sent = (Task) agent.send("ask");
        Task whole = agent.task(sent.id());
        assertThat(whole.id()).isEqualTo(sent.id());
        assertThat(whole.status()).isEqualTo(sent.status());
        assertThat(whole.history().getFirst().text()).isEqualTo("ask");
        assertThat(agent.task(sent.id(), 1).history()).hasSize(1);
        return whole.history().size() + " messages in the history";
    }

    private String list() {
        Task first = (Task) agent.send("first");
        Task second = (Task) agent.send(Message.user(Part.text("second")).in(first.contextId(), null));
        var query = new ListTasks(null, first.contextId(), TaskState.COMPLETED, 1, null, null, null, true);
        TaskPage page = agent.tasks(query);
        assertThat(page.tasks()).hasSize(1);
        assertThat(page.totalSize()).isEqualTo(2);
        assertThat(agent.allTasks(query)).extracting(Task::id).containsExactlyInAnyOrder(first.id(), second.id());
        assertThat(agent.allTasks(query)).extracting(Task::text).containsExactlyInAnyOrder("first", "second");
        return "2 tasks on 2 pages";
    }

    private String cancel() {
        return whileOneWorks(started -> {
            Task canceled = agent.cancel(started.id());
            assertThat(canceled.id()).isEqualTo(started.id());
            assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
            assertThat(agent.task(started.id()).state()).isEqualTo(TaskState.CANCELED);
            return "canceled";
        });
    }

    private String subscribe() {
        return whileOneWorks(started -> {
            try (TaskStream stream = agent.subscribe(started.id())) {
                Task found = (Task) stream.next();
                assertThat(found.id()).isEqualTo(started.id());
                assertThat(stream.next()).isInstanceOf(TaskStatusUpdateEvent.class);
                stop(started);
                until(TaskState.COMPLETED, found, stream);
                assertThat(stream.hasNext()).isFalse();
            }
            return "until it had ended";
        });
    }

    private String createPushConfig() {
        return whileOneWorks(task -> {
            PushConfig made = agent.createPushConfig(pushConfig(task, "mine"));
            assertThat(made.url()).isEqualTo(pushConfig(task, "mine").url());
            assertThat(made.id()).isEqualTo("mine");
            return made.url();
        });
    }

    private String getPushConfig() {
        return whileOneWorks(task -> {
            agent.createPushConfig(pushConfig(task, "mine"));
            PushConfig found = agent.pushConfig(task.id(), "mine");
            assertThat(found.url()).isEqualTo(pushConfig(task, "mine").url());
            assertThat(found.taskId()).isEqualTo(task.id());
            return found.url();
        });
    }

    private String listPushConfigs() {
        return whileOneWorks(task -> {
            agent.createPushConfig(pushConfig(task, "a"));
            agent.createPushConfig(pushConfig(task, "b"));
            List<PushConfig> found = agent.pushConfigs(task.id());
            assertThat(found).extracting(PushConfig::id).containsExactlyInAnyOrder("a", "b");
            return found.size() + " configs";
        });
    }

    private String deletePushConfig() {
        return whileOneWorks(task -> {
            agent.createPushConfig(pushConfig(task, "mine"));
            agent.deletePushConfig(task.id(), "mine");
            assertThatExceptionOfType(A2AException.class).isThrownBy(() -> agent.pushConfig(task.id(), "mine"));
            return "gone";
        });
    }

    /** With a task that lasts; its stream stays open meanwhile, for some servers end what nobody watches. */
    private String whileOneWorks(Function<Task, String> work) {
        try (TaskStream running = agent.stream("wait")) {
            Task started = (Task) running.next();
            try {
                return work.apply(started);
            } finally {
                stop(started); // also if that has failed: some servers have few threads
            }
        }
    }

    private void stop(Task working) {
        Message stop = Message.user(Part.text("stop"));
        agent.send(isVault() ? stop.in(null, working.id()) : stop.in(working.contextId(), null));
    }

    private String errors() {
        Task ended = (Task) agent.send("hello");
        refused(A2AError.TASK_NOT_FOUND, () -> agent.task("nobody-made-this"));
        refused(A2AError.TASK_NOT_FOUND, () -> agent.cancel("nobody-made-this"));
        refused(A2AError.TASK_NOT_FOUND, () -> {
            try (TaskStream stream = agent.subscribe("nobody-made-this")) {
                stream.next();
            }
        });
        refused(A2AError.TASK_NOT_CANCELABLE, () -> agent.cancel(ended.id()));
        return "TASK_NOT_FOUND, TASK_NOT_CANCELABLE";
    }

    private static void refused(A2AError error, ThrowingCallable call) {
        assertThatExceptionOfType(A2AException.class)
                .isThrownBy(call)
                .extracting(A2AException::error)
                .isEqualTo(error);
    }

    private static PushConfig pushConfig(Task task, String id) {
        return new PushConfig(null, id, task.id(), "http://127.0.0.1:9/nobody-listens", "a token", null);
    }

    private static Task until(TaskState state, TaskStream stream) {
        return until(state, (Task) stream.next(), stream);
    }

    private static Task until(TaskState state, Task begun, TaskStream stream) {
        Task task = begun;
        while (task.state() != state) {
            TaskEvent event = stream.next();
            task = event instanceof Task again ? again : event.applyTo(task);
        }
        return task;
    }

    private static Task fold(List<TaskEvent> events) {
        Task task = (Task) events.getFirst();
        for (TaskEvent event : events.subList(1, events.size())) {
            task = event.applyTo(task);
        }
        return task;
    }
}
