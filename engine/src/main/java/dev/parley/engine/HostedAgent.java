package dev.parley.engine;

import dev.parley.engine.mail.OwnerMail;
import dev.parley.engine.mail.OwnerMail.Handed;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.tasks.Pin;
import dev.parley.engine.tasks.TaskReader;
import dev.parley.engine.tasks.Weight;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.support.PageToken;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Endpoint of an agent: operations are answered from the log, or by a run of the agent. */
final class HostedAgent implements AgentEndpoint {
    private static final Logger LOG = System.getLogger("dev.parley.engine");
    /** A page ends after the task with which it gets larger than this, whatever the page size. */
    private static final int MOST_PAGE_BYTES = 8 << 20;

    private final Parts parts;
    private final Agent agent;
    private final AgentCard.Capabilities capabilities;
    private final TaskWebhooks webhooks;
    private final List<AgentExtension> extensions;
    private final MessageAdmission sends;

    HostedAgent(Parts parts, Agent agent, Runner runner) {
        this.parts = parts;
        this.agent = agent;
        AgentCard card = agent.card(List.of(new AgentCard.Interface("/", AgentCard.Interface.JSONRPC, null, "1.0")));
        this.capabilities = card.capabilities();
        this.webhooks = new TaskWebhooks(parts, agent.name(), Boolean.TRUE.equals(capabilities.pushNotifications()));
        requireThatAllIsThere(agent);
        this.extensions = agent.extensions();
        this.sends = new MessageAdmission(parts, agent, runner, webhooks, card);
    }

    @Override
    @SuppressWarnings("unchecked") // each case gives the result type that its operation declares
    public <R> R call(Operation.Call<R> operation, CallContext caller) {
        operation.requireShortIds();
        CallContext context = activated(caller);
        return (R)
                switch (operation) {
                    case SendMessage send -> {
                        requireReady();
                        yield sends.send(send, context);
                    }
                    case GetTask get -> get(get, context);
                    case ListTasks list -> list(list, context);
                    case CancelTask cancel -> cancel(cancel, context);
                    case CreatePushConfig create -> webhooks.create(create.config(), context);
                    case GetPushConfig get -> webhooks.get(get, context);
                    case ListPushConfigs list -> webhooks.list(list, context);
                    case DeletePushConfig delete -> webhooks.delete(delete, context);
                    case GetExtendedAgentCard card -> extendedCard();
                    case Operation.ExtensionCall<?> other -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                };
    }

    @Override
    @SuppressWarnings("unchecked") // operations of A2A stream events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
        operation.requireShortIds();
        CallContext context = activated(caller);
        if (!Boolean.TRUE.equals(capabilities.streaming())) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "This agent does not stream");
        }
        return (Feed<E>)
                switch (operation) {
                    case SendStreamingMessage send -> {
                        requireReady();
                        yield sends.stream(send, context);
                    }
                    case SubscribeToTask subscribe -> subscribe(subscribe, context);
                    case Operation.ExtensionWatch<?> other -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                };
    }

    private void requireReady() {
        Optional<A2AException> refusal = agent.refusal();
        if (refusal.isPresent()) {
            throw refusal.get();
        }
    }

    /** Returns the call with those extensions only that this agent has. */
    private CallContext activated(CallContext credentialed) {
        return AgentExtension.activated(
                extensions, null, credentialed.token() == null ? credentialed : credentialed.withToken(null));
    }

    private static void requireThatAllIsThere(Agent agent) {
        var present = new HashSet<String>();
        agent.extensions().forEach(extension -> present.add(extension.card().uri()));
        for (AgentExtension extension : agent.extensions()) {
            if (!extension.needs().stream().allMatch(needed -> ExtensionUri.isAny(present, needed))) {
                throw new IllegalArgumentException("agent " + agent.name() + ": extension "
                        + extension.card().uri() + " needs " + String.join(", ", extension.needs())
                        + " (expected: extensions of the same agent)");
            }
        }
    }

    private Task get(GetTask get, CallContext context) {
        return parts.work().tasks().read(key(context, get.id())).view(get.historyLength(), true);
    }

    private TaskPage list(ListTasks list, CallContext context) {
        int pageSize = list.pageSize() == null ? ListTasks.DEFAULT_PAGE_SIZE : list.pageSize();
        var query = new Query(
                context.scope().group(),
                context.scope().owner(),
                agent.name(),
                list.contextId(),
                list.status(),
                list.statusTimestampAfter(),
                null,
                pageSize + 1);
        String token = list.pageToken();
        List<?> question = Arrays.asList(
                context.scope(), agent.name(), list.contextId(), list.status(), list.statusTimestampAfter());
        TaskLog.Page page =
                parts.log().list(token == null || token.isEmpty() ? query : query.after(position(question, token)));
        List<Head> heads = page.heads();
        var tasks = new ArrayList<Task>();
        int bytes = 0;
        int shown = 0;
        while (shown < Math.min(pageSize, heads.size()) && bytes < MOST_PAGE_BYTES) {
            Head head = heads.get(shown++);
            // A task that retention removed in this very moment is left out.
            Task task = find(head).orElse(null);
            if (task != null) {
                Task view = task.view(list.historyLength(), list.includeArtifacts());
                tasks.add(view);
                bytes += Weight.of(view);
            }
        }
        String next = "";
        if (heads.size() > shown) {
            Head last = heads.get(shown - 1);
            next = PageToken.of(
                    question,
                    List.of(last.statusTime().toEpochMilli(), last.key().taskId()));
        }
        return new TaskPage(tasks, next, pageSize, page.total(), list.includeArtifacts());
    }

    private static TaskLog.Position position(List<?> question, String token) {
        return PageToken.read(
                question,
                token,
                2,
                at -> new TaskLog.Position(Instant.ofEpochMilli(Long.parseLong(at.get(0))), at.get(1)),
                () -> A2AException.invalidParams(
                        "pageToken",
                        "not a token of this list (expected: nextPageToken of the page before, same filters)"));
    }

    /** The task of a row; of one that is damaged what the row says, so that the list shows the others. */
    private Optional<Task> find(Head head) {
        try {
            return parts.work().tasks().find(head.key());
        } catch (DamagedTaskException damaged) {
            LOG.log(Level.WARNING, "a list shows a task without its events", damaged);
            return Optional.of(new Task(
                    head.key().taskId(),
                    head.contextId(),
                    TaskStatus.of(head.state(), head.statusTime()),
                    List.of(),
                    List.of(),
                    Map.of()));
        }
    }

    private Task cancel(CancelTask cancel, CallContext context) {
        return cancel(parts, key(context, cancel.id()), cancel, context);
    }

    /** Ends a task. If it has moved to another engine, or is about to, the owner is looked up again. */
    static Task cancel(Parts parts, TaskKey key, CancelTask cancel, CallContext context) {
        long wait = parts.work()
                .mail()
                .longest(parts.work().tasks().patience(context))
                .toNanos();
        long begun = parts.time().threads().nanoTime();
        for (int attempt = 1; ; attempt++) {
            try {
                return cancelAt(parts, key, cancel, context);
            } catch (A2AException refusal) {
                if (!parts.work().mail().isElsewhere(refusal)
                        || parts.time().threads().nanoTime() - begun > wait
                        || !parts.work().runs().isOpen()) {
                    throw refusal;
                }
                parts.work().runs().pause(MessageAdmission.PENDING.bound(attempt));
            }
        }
    }

    /** Ends a task, at the engine that runs it. */
    private static Task cancelAt(Parts parts, TaskKey key, CancelTask cancel, CallContext context) {
        try (Pin pin = parts.work().tasks().pinned(key)) {
            if (!pin.task().isForeign()) {
                return parts.work().tasks().cancel(key, cancel.metadata(), context);
            }
            var call = new CancelTask(cancel.tenant(), key.taskId(), cancel.metadata());
            Duration patience = parts.work().tasks().patience(context);
            return switch (parts.work().mail().hand(pin.task(), call, context.withLiteralIds(), patience)) {
                case Handed.Kept kept -> parts.work().tasks().cancel(key, cancel.metadata(), context);
                case Handed.Done done -> parts.work().tasks().read(key);
                case Handed.Lost lost -> {
                    Task task = parts.work().tasks().read(key);
                    if (task.state() != TaskState.CANCELED) {
                        throw OwnerMail.elsewhere(key.taskId());
                    }
                    yield task;
                }
            };
        }
    }

    private Feed<LoggedEvent> subscribe(SubscribeToTask subscribe, CallContext context) {
        return parts.work().tasks().pinned(key(context, subscribe.id())).into(pin -> {
            Long after = subscribe.after();
            if (after != null) {
                long written = pin.task().written();
                if (after > written && after <= pin.task().emitted()) { // other hubs may read them already
                    throw A2AException.unavailable("Events of the task are being written", Duration.ofSeconds(1));
                }
                if (after < 0 || after > written) {
                    throw A2AException.invalidParams("Last-Event-ID", after + " (expected: 0 to " + written + ")");
                }
                return new TaskReader(pin, parts.log(), after, UnaryOperator.identity());
            }
            var reader = TaskReader.fromSnapshot(pin, parts.log(), UnaryOperator.identity());
            if (reader.startsAtTheEnd()) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The task has ended: there is nothing to subscribe to",
                        Map.of("taskId", subscribe.id()));
            }
            return reader;
        });
    }

    private TaskKey key(CallContext context, String taskId) {
        return parts.work().names().key(context, agent.name(), taskId);
    }

    private AgentCard extendedCard() {
        if (!Boolean.TRUE.equals(capabilities.extendedAgentCard())) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "This agent has no extended card");
        }
        throw A2AException.of(A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED);
    }
}
