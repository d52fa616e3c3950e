package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.Empty;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One agent as callers see it: each operation answered from the log, or by letting the agent work. */
final class HostedAgent implements AgentEndpoint {
    /** How long an agent may think before its task is created without waiting for its first word. */
    private static final Duration GRACE = Duration.ofMillis(50);

    private final Engine engine;
    private final Agent agent;
    private final Runner runner;
    private final AgentCard.Capabilities capabilities;
    private final List<String> inputModes;

    HostedAgent(Engine engine, Agent agent, Runner runner) {
        this.engine = engine;
        this.agent = agent;
        this.runner = runner;
        AgentCard card = agent.card(List.of(new AgentCard.Interface("/", AgentCard.Interface.JSONRPC, null, "1.0")));
        this.capabilities = card.capabilities();
        this.inputModes = card.defaultInputModes();
    }

    @Override
    @SuppressWarnings("unchecked") // each case gives the result type that its operation declares
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        checkExtensions(context);
        return (R)
                switch (operation) {
                    case SendMessage send -> send(send, context);
                    case GetTask get -> get(get, context);
                    case ListTasks list -> list(list, context);
                    case CancelTask cancel -> cancel(cancel, context);
                    case CreatePushConfig create -> createPushConfig(create.config(), context);
                    case GetPushConfig get -> pushConfig(get, context);
                    case ListPushConfigs list -> pushConfigs(list, context);
                    case DeletePushConfig delete -> deletePushConfig(delete, context);
                    case GetExtendedAgentCard card -> extendedCard();
                };
    }

    @Override
    public EventStream watch(Operation.Watch operation, CallContext context) {
        checkExtensions(context);
        if (!Boolean.TRUE.equals(capabilities.streaming())) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "This agent does not stream");
        }
        return switch (operation) {
            case SendStreamingMessage send -> stream(send, context);
            case SubscribeToTask subscribe -> subscribe(subscribe, context);
        };
    }

    private void checkExtensions(CallContext context) {
        for (AgentCard.Extension extension : capabilities.extensions()) {
            if (extension.required() && !context.extensions().contains(extension.uri())) {
                throw A2AException.of(
                        A2AError.EXTENSION_SUPPORT_REQUIRED,
                        "This agent requires the extension " + extension.uri()
                                + " (expected: named in the A2A-Extensions header)",
                        Map.of("extension", extension.uri()));
            }
        }
    }

    // ---- Sending

    /**
     * A send that has been let in.
     *
     * @param live pinned once for the sender
     * @param since the event from which on the outcome counts
     * @param turn what runs because of it; null if it was a repetition
     * @param begun whether it begins a task, so that its stream begins with the first event
     */
    private record Sent(LiveTask live, long since, @Nullable Turn turn, boolean begun) {}

    private SendResult send(SendMessage send, CallContext context) {
        Sent sent = admit(send, context);
        LiveTask live = sent.live();
        boolean immediately = send.configuration().returnImmediately();
        try {
            TaskEvent outcome = await(sent, task -> immediately || live.isSettled(task), context);
            return switch (outcome == null ? live.durable() : outcome) {
                case Message answer -> answer;
                case Task task -> task.view(send.configuration().historyLength(), true);
                case null, default ->
                    throw A2AException.unavailable("The agent did not answer in time", Duration.ofSeconds(1));
            };
        } finally {
            engine.tasks().unpin(live);
        }
    }

    private EventStream stream(SendStreamingMessage send, CallContext context) {
        Sent sent = admit(send, context);
        LiveTask live = sent.live();
        Runnable onClose = () -> engine.tasks().unpin(live);
        try {
            await(sent, task -> true, context);
            UnaryOperator<Task> view = view(send.configuration().historyLength());
            return sent.begun()
                    ? new TaskReader(live, engine.log(), -1, view, onClose)
                    : TaskReader.fromSnapshot(live, engine.log(), view, onClose);
        } catch (RuntimeException refused) {
            onClose.run();
            throw refused;
        }
    }

    private static UnaryOperator<Task> view(@Nullable Integer historyLength) {
        return historyLength == null ? UnaryOperator.identity() : task -> task.view(historyLength, true);
    }

    /** Waits until there is an answer, or a task that is {@code enough}; null if that took too long. */
    private @Nullable TaskEvent await(Sent sent, Predicate<Task> enough, CallContext context) {
        try {
            TaskEvent outcome = sent.live().await(sent.since(), enough, GRACE);
            if (outcome != null) {
                return outcome;
            }
            if (sent.begun() && sent.turn() != null) {
                sent.turn().create(TaskState.WORKING);
            }
            return sent.live().await(sent.since(), enough, engine.patience(context));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
        }
    }

    /** Lets a message in: it begins a task, continues one, or is known and leads to the same task as before. */
    private Sent admit(Send send, CallContext context) {
        Message message = send.message();
        if (message.role() != Role.USER) {
            throw A2AException.invalidParams("message.role", "ROLE_AGENT (expected: ROLE_USER)");
        }
        checkMediaTypes(message);
        PushConfig webhook = send.configuration().pushConfig();
        if (webhook != null) {
            webhooks().check(webhook);
        }
        // An agent that wants every message anew gets keys that cannot repeat.
        String identity = agent.deduplicates() ? message.messageId() : Ids.next(engine.now());
        var messageKey = new MessageKey(context.scope(), agent.name(), identity);
        var mine = new CompletableFuture<LiveTask>();
        CompletableFuture<LiveTask> first = engine.inFlight().putIfAbsent(messageKey, mine);
        if (first != null) {
            return repeated(first);
        }
        try {
            Sent sent = admit(send, context, messageKey);
            mine.complete(sent.live());
            if (sent.turn() == null) {
                engine.inFlight().remove(messageKey);
            }
            return sent;
        } catch (RuntimeException refused) {
            engine.inFlight().remove(messageKey);
            mine.completeExceptionally(refused);
            throw refused;
        }
    }

    private Sent admit(Send send, CallContext context, MessageKey messageKey) {
        Sent known = known(messageKey, context);
        if (known != null) {
            return known;
        }
        String taskId = send.message().taskId();
        LiveTask live = taskId == null ? fresh(send.message(), context) : pin(context, taskId);
        try {
            return taskId == null ? begin(live, send, context, messageKey) : proceed(live, send, context, messageKey);
        } catch (RuntimeException refused) {
            engine.tasks().unpin(live);
            throw refused;
        }
    }

    private void checkMediaTypes(Message message) {
        for (Part part : message.parts()) {
            String type = part.mediaType();
            if (type != null
                    && !(part instanceof Part.Text)
                    && inputModes.stream().noneMatch(mode -> matches(mode, type))) {
                throw A2AException.of(
                        A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                        "Unsupported media type " + type + " (expected: one of " + String.join(", ", inputModes) + ")");
            }
        }
    }

    private static boolean matches(String mode, String type) {
        int parameters = type.indexOf(';');
        String bare = (parameters < 0 ? type : type.substring(0, parameters)).trim();
        return mode.equals("*/*")
                || mode.equalsIgnoreCase(bare)
                || mode.endsWith("/*") && bare.regionMatches(true, 0, mode, 0, mode.length() - 1);
    }

    private LiveTask fresh(Message message, CallContext context) {
        String contextId = message.contextId() == null ? Ids.next(engine.now()) : message.contextId();
        LiveTask live = engine.newTask(key(context, Ids.next(engine.now())), contextId);
        live.pins.incrementAndGet();
        return live;
    }

    /** The same message is being worked on: this sender waits for the same outcome, and starts nothing. */
    private Sent repeated(CompletableFuture<LiveTask> first) {
        LiveTask rival;
        try {
            rival = first.join();
        } catch (CompletionException refused) {
            throw refused.getCause() instanceof A2AException same ? same : refused;
        }
        rival.pins.incrementAndGet();
        if (rival.ahead() == null) {
            return new Sent(rival, 0, null, true);
        }
        engine.tasks().unpin(rival);
        LiveTask live = engine.pin(rival.key());
        if (live == null) {
            throw A2AException.taskNotFound(rival.key().taskId());
        }
        return new Sent(live, 0, null, false);
    }

    private @Nullable Sent known(MessageKey messageKey, CallContext context) {
        String taskId = engine.log().taskOf(messageKey).orElse(null);
        LiveTask live = taskId == null ? null : engine.pin(key(context, taskId));
        return live == null ? null : new Sent(live, 0, null, false);
    }

    private Sent begin(LiveTask live, Send send, CallContext context, MessageKey messageKey) {
        Turn turn = turn(live, send, context, false, messageKey);
        register(send, live, 0);
        live.answersFor(messageKey);
        live.enter(turn);
        runner.start(turn);
        return new Sent(live, 0, turn, true);
    }

    private Sent proceed(LiveTask live, Send send, CallContext context, MessageKey messageKey) {
        Message message = send.message();
        if (message.contextId() != null && !message.contextId().equals(live.contextId())) {
            throw A2AException.invalidParams(
                    "message.contextId", message.contextId() + " (expected: that of the task, or none)");
        }
        register(send, live, live.written());
        var turn = turn(live, send, context, true, messageKey);
        boolean[] first = new boolean[1];
        long since = live.emit(task -> {
            TaskState state = requireNonNull(task).state();
            if (state.isTerminal()) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The task has ended (" + state + "): send the message without taskId to begin another",
                        Map.of("taskId", task.id()));
            }
            live.answersFor(messageKey);
            first[0] = live.enter(turn);
            Message received = message.in(live.contextId(), live.key().taskId());
            // The question, if there was one, comes before its answer in the history.
            return state.isInterrupted()
                    ? List.of(turn.moved(TaskState.WORKING, null, Map.of()), received)
                    : List.of(received);
        });
        if (first[0]) {
            runner.start(turn);
        }
        return new Sent(live, since, turn, false);
    }

    private Turn turn(LiveTask live, Send send, CallContext context, boolean followUp, MessageKey messageKey) {
        return new Turn(
                live,
                send.message(),
                new Turn.Origin(
                        context, send.configuration().acceptedOutputModes(), send.metadata(), followUp, 1, messageKey),
                engine.clock(),
                () -> engine.tasks().add(live));
    }

    private void register(Send send, LiveTask live, long after) {
        PushConfig webhook = send.configuration().pushConfig();
        if (webhook != null) {
            webhooks().add(live.key(), named(webhook, live.key()), after);
            live.watched = true;
        }
    }

    // ---- Tasks

    private Task get(GetTask get, CallContext context) {
        return engine.read(key(context, get.id())).view(get.historyLength(), true);
    }

    private TaskPage list(ListTasks list, CallContext context) {
        int pageSize = list.pageSize() == null ? ListTasks.DEFAULT_PAGE_SIZE : list.pageSize();
        var query = new Query(
                context.scope(),
                agent.name(),
                list.contextId(),
                list.status(),
                list.statusTimestampAfter(),
                null,
                pageSize + 1);
        String token = list.pageToken();
        TaskLog.Page page = engine.log()
                .list(token == null || token.isEmpty() ? query : query.behind(PageToken.parse(query, token)));
        List<Head> heads = page.heads();
        var tasks = new ArrayList<Task>(pageSize);
        for (Head head : heads.subList(0, Math.min(pageSize, heads.size()))) {
            // A task that retention removed in this very moment is left out.
            engine.find(head.key())
                    .ifPresent(task -> tasks.add(task.view(list.historyLength(), list.includeArtifacts())));
        }
        String next = "";
        if (heads.size() > pageSize) {
            Head last = heads.get(pageSize - 1);
            next = PageToken.of(
                    query, new TaskLog.Position(last.statusTime(), last.key().taskId()));
        }
        return new TaskPage(tasks, next, pageSize, page.total(), list.includeArtifacts());
    }

    private Task cancel(CancelTask cancel, CallContext context) {
        LiveTask live = pin(context, cancel.id());
        try {
            long canceled = live.emit(task -> {
                TaskState state = requireNonNull(task).state();
                if (state.isTerminal()) {
                    throw A2AException.of(
                            A2AError.TASK_NOT_CANCELABLE,
                            "The task has ended (" + state + ")",
                            Map.of("taskId", task.id()));
                }
                return List.of(new TaskStatusUpdateEvent(
                        task.id(),
                        task.contextId(),
                        TaskStatus.of(TaskState.CANCELED, engine.now()),
                        cancel.metadata()));
            });
            Turn running = live.turn();
            if (running != null) {
                running.cancel();
            }
            TaskEvent ended = live.await(canceled, task -> true, engine.patience(context));
            return ended instanceof Task task ? task : engine.read(live.key());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
        } finally {
            engine.tasks().unpin(live);
        }
    }

    private EventStream subscribe(SubscribeToTask subscribe, CallContext context) {
        LiveTask live = pin(context, subscribe.id());
        Runnable onClose = () -> engine.tasks().unpin(live);
        try {
            Long after = subscribe.after();
            if (after != null) {
                if (after < 0 || after > live.written()) {
                    throw A2AException.invalidParams(
                            "Last-Event-ID", after + " (expected: 0 to " + live.written() + ")");
                }
                return new TaskReader(live, engine.log(), after, UnaryOperator.identity(), onClose);
            }
            var reader = TaskReader.fromSnapshot(live, engine.log(), UnaryOperator.identity(), onClose);
            if (reader.startsAtTheEnd()) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The task has ended: there is nothing to subscribe to",
                        Map.of("taskId", subscribe.id()));
            }
            return reader;
        } catch (RuntimeException refused) {
            onClose.run();
            throw refused;
        }
    }

    private TaskKey key(CallContext context, String taskId) {
        return new TaskKey(context.scope(), agent.name(), taskId);
    }

    private LiveTask pin(CallContext context, String taskId) {
        LiveTask live = engine.pin(key(context, taskId));
        if (live == null) {
            throw A2AException.taskNotFound(taskId);
        }
        return live;
    }

    // ---- Webhooks

    private Webhooks webhooks() {
        Webhooks webhooks = engine.webhooks();
        if (webhooks == null || !Boolean.TRUE.equals(capabilities.pushNotifications())) {
            throw A2AException.of(A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED);
        }
        return webhooks;
    }

    private PushConfig createPushConfig(PushConfig config, CallContext context) {
        Webhooks webhooks = webhooks();
        LiveTask live = pin(context, requireNonNull(config.taskId()));
        try {
            webhooks.check(config);
            PushConfig named = named(config, live.key());
            List<Subscription> present = webhooks.of(live.key());
            boolean replaces = present.stream()
                    .anyMatch(other ->
                            requireNonNull(named.id()).equals(other.config().id()));
            if (present.size() >= Webhooks.MAX_PER_TASK && !replaces) {
                throw A2AException.invalidParams(
                        "taskId",
                        "has " + present.size() + " webhooks (expected: at most " + Webhooks.MAX_PER_TASK + ")");
            }
            live.watched = true;
            webhooks.add(live.key(), named, live.written());
            // What was written while the webhook was being saved must not wait for the event after it.
            webhooks.wake(live.key());
            return named;
        } finally {
            engine.tasks().unpin(live);
        }
    }

    private PushConfig pushConfig(GetPushConfig get, CallContext context) {
        Webhooks webhooks = webhooks();
        TaskKey key = key(context, get.taskId());
        engine.read(key);
        return webhooks.find(key, get.id())
                .map(Subscription::config)
                .orElseThrow(() -> A2AException.of(
                        A2AError.TASK_NOT_FOUND, "Push notification config not found", Map.of("id", get.id())));
    }

    private PushConfigPage pushConfigs(ListPushConfigs list, CallContext context) {
        Webhooks webhooks = webhooks();
        TaskKey key = key(context, list.taskId());
        engine.read(key);
        // A task has few webhooks (see Webhooks.MAX_PER_TASK), so one page holds them all.
        return new PushConfigPage(
                webhooks.of(key).stream().map(Subscription::config).toList(), "");
    }

    private Empty deletePushConfig(DeletePushConfig delete, CallContext context) {
        Webhooks webhooks = webhooks();
        TaskKey key = key(context, delete.taskId());
        engine.read(key);
        webhooks.delete(key, delete.id());
        return new Empty();
    }

    private static PushConfig named(PushConfig config, TaskKey task) {
        String id = config.id();
        return config.of(
                task.taskId(), id == null || id.isEmpty() ? UUID.randomUUID().toString() : id);
    }

    // ---- Cards

    private AgentCard extendedCard() {
        if (!Boolean.TRUE.equals(capabilities.extendedAgentCard())) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "This agent has no extended card");
        }
        throw A2AException.of(A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED);
    }
}
