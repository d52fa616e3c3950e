package dev.parley.gateway.route;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.spi.Binding;
import dev.parley.gateway.push.PushRelay;
import dev.parley.gateway.route.Owners.Claim;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.gateway.upstream.Upstream.Answer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.DeletePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A remote agent as the hub hosts it. Callers reach their own tasks and contexts only; ids in answers get their owner before the answer
 * leaves. Safe for any thread.
 */
public final class RemoteEndpoint implements AgentEndpoint {
    /** Begin of the ids of tasks that exist at the gateway only. */
    private static final String OWN = "gateway-";

    /** Highest limit of agents in a chain; the hub limits messages further. */
    private static final int MOST_AGENTS = 100;

    private static final Duration FIRST_EVENT = Duration.ofSeconds(30);

    private final String route;
    private final Owners owners;
    private final Upstream remote;
    private final RemoteAgent known;
    private final Runnable listed;
    private final Runnable foreign;
    private final RemoteFailures failures;
    private final InstantSource clock;

    /**
     * @param remote is closed by its owner
     * @param listed throws the refusal of calls of an agent whose entry in the registry is gone
     * @param foreign called when it answers with an id of another principal, or another than it was asked for
     */
    public RemoteEndpoint(
            String route,
            Owners owners,
            Upstream remote,
            RemoteAgent known,
            Runnable listed,
            Runnable foreign,
            InstantSource clock) {
        this.route = route;
        this.owners = owners;
        this.remote = remote;
        this.known = known;
        this.listed = listed;
        this.foreign = foreign;
        this.failures = new RemoteFailures(route, known.hidden());
        this.clock = clock;
    }

    @Override
    @SuppressWarnings("unchecked") // each case gives the result type that its operation declares
    public <R> R call(Operation.Call<R> operation, CallContext caller) {
        CallContext context = toward(caller);
        return (R)
                switch (operation) {
                    case SendMessage send -> send(send, context);
                    case GetTask get -> get(get, context);
                    case ListTasks list ->
                        new OwnTasks(route, owners, id -> read(own(id, context.withLiteralIds()), context))
                                .list(list, context);
                    case CancelTask cancel -> cancel(cancel, context);
                    case CreatePushConfig create ->
                        create(own(requireNonNull(create.config().taskId()), context), create.config(), context);
                    case GetPushConfig get -> {
                        Owned task = own(get.taskId(), context);
                        yield known.webhooks()
                                .require()
                                .get(route, new GetPushConfig(null, task.id(), get.id()), context);
                    }
                    case ListPushConfigs list ->
                        known.webhooks()
                                .require()
                                .list(route, own(list.taskId(), context).id(), context);
                    case DeletePushConfig delete -> delete(delete, context);
                    case GetExtendedAgentCard card -> extendedCard(context);
                    case Operation.ExtensionCall<?> other -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                };
    }

    @Override
    @SuppressWarnings("unchecked") // operations of A2A stream events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
        CallContext context = toward(caller);
        return (Feed<E>)
                switch (operation) {
                    case SendStreamingMessage send -> {
                        Admitted admitted = webhooked(admit(send, context), context);
                        SendStreamingMessage message = (SendStreamingMessage) admitted.send();
                        yield known.streams()
                                ? events(message, admitted.bound(), context)
                                : sentAndRead(message, admitted.bound(), context);
                    }
                    case SubscribeToTask subscribe -> subscribe(subscribe, context);
                    case Operation.ExtensionWatch<?> other -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                };
    }

    /** The context of a call of the remote agent, which learns of no extension that it does not have. */
    private CallContext toward(CallContext caller) {
        listed.run();
        caller.chain().check(MOST_AGENTS); // reads, too, as routes may lead in a circle
        return known.activated(caller);
    }

    /** Calls the replica of a task, or any for null. */
    private <R> R ask(Operation.Call<R> operation, CallContext context, @Nullable Owned task) {
        return ask(operation, context, task == null ? "" : task.replica()).value();
    }

    private <R> Answer<R> ask(Operation.Call<R> operation, CallContext context, String replica) {
        return showing(() -> remote.call(operation, context, replica.isEmpty() ? null : replica));
    }

    private <T> T showing(Supplier<T> call) {
        try {
            return call.get();
        } catch (RuntimeException failure) {
            throw shown(failure);
        }
    }

    private A2AException shown(RuntimeException failure) {
        if (failure instanceof A2AException answer
                && answer.metadata().entrySet().containsAll(Binding.ANOTHER_REQUEST.entrySet())) {
            foreign.run();
        }
        return failures.shown(failure);
    }

    /** Sends a message; again without its webhook if the agent refuses that. */
    private Answer<SendResult> sent(SendMessage send, Bound bound, CallContext context) {
        try {
            return ask(send, context, bound.replica());
        } catch (A2AException refused) {
            if (bound.relay() == null) {
                throw refused;
            }
            Send bare = known.webhooks().withoutWebhook(send, bound.relay(), refused);
            return ask((SendMessage) bare, context, bound.replica());
        }
    }

    private Feed<LoggedEvent> events(Operation.TaskWatch operation, Bound bound, CallContext context) {
        Answer<Feed<LoggedEvent>> answer;
        try {
            answer = watched(operation, bound, context);
        } catch (RuntimeException failure) {
            settle(bound, null, "");
            throw shown(failure);
        }
        return new Events(answer.value(), bound.at(answer.replica()), context);
    }

    /** Opens a stream; again without the webhook of its message if the agent refuses that. */
    private Answer<Feed<LoggedEvent>> watched(Operation.TaskWatch operation, Bound bound, CallContext context) {
        String replica = bound.replica().isEmpty() ? null : bound.replica();
        try {
            return remote.watch(operation, context, replica);
        } catch (A2AException refused) {
            if (bound.relay() == null || !(operation instanceof SendStreamingMessage send)) {
                throw refused;
            }
            Send bare = known.webhooks().withoutWebhook(send, bound.relay(), refused);
            return remote.watch((SendStreamingMessage) bare, context, replica);
        }
    }

    /** A task of the caller. */
    private record Owned(String id, String replica) {
        boolean isHere() {
            return id.startsWith(OWN);
        }
    }

    /** Returns the task that the caller means, which is its own. */
    private Owned own(String taskId, CallContext context) {
        String id = context.literalIds()
                ? taskId
                : owners.named(route, context.scope(), taskId).orElse(taskId);
        String replica = owners.task(route, context.scope(), id).orElseThrow(() -> A2AException.taskNotFound(taskId));
        return new Owned(id, replica);
    }

    /**
     * The task of an answer.
     *
     * @param taskId null if it begins with the answer
     * @param contextId that the caller has named; null for none
     * @param name that the caller gives to the task that begins; null for none
     * @param replica of its task or context; empty for any
     * @param relay of the webhook of the message, which is yet to get its task; null for none
     */
    private record Bound(
            @Nullable String taskId,
            @Nullable String contextId,
            @Nullable String name,
            String replica,
            @Nullable String relay) {
        Bound at(String other) {
            return new Bound(taskId, contextId, name, other, relay);
        }
    }

    /** A message that may be sent. */
    private record Admitted(Send send, Bound bound) {
        static Admitted of(Send send, Message message, @Nullable String name, String replica) {
            Send remote = RemoteWebhooks.with(send, message, send.configuration());
            return new Admitted(remote, new Bound(message.taskId(), message.contextId(), name, replica, null));
        }
    }

    private Admitted admit(Send send, CallContext context) {
        Message message = send.message();
        for (String reference : message.referenceTaskIds()) {
            own(reference, context);
        }
        String replica = "";
        String contextId = message.contextId();
        if (contextId != null) {
            if (!owners.claim(route, context.scope(), new Claim(null, contextId, ""))) {
                // As for a task: the caller must not learn whether there is such a context.
                throw A2AException.of(A2AError.TASK_NOT_FOUND);
            }
            replica = owners.context(route, context.scope(), contextId).orElse("");
        }
        String taskId = message.taskId();
        if (taskId == null) {
            return Admitted.of(send, message, null, replica);
        }
        if (context.namesTasks()) {
            return named(send, taskId, replica, context);
        }
        Owned task = own(taskId, context);
        if (task.isHere()) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "The task has ended");
        }
        return Admitted.of(send, message.in(contextId, task.id()), null, task.replica());
    }

    /** A message to a task that has a name, and to a new one if that has ended. */
    private Admitted named(Send send, String name, String replica, CallContext context) {
        Message message = send.message();
        String taskId = owners.named(route, context.scope(), name)
                // The caller may also go on with an id that the agent gave.
                .or(() -> owners.task(route, context.scope(), name).map(any -> name))
                .orElse(null);
        if (taskId == null) {
            return Admitted.of(send, message.in(message.contextId(), null), name, replica);
        }
        Owned owned = own(taskId, context.withLiteralIds());
        Task task = read(owned, context);
        if (!task.state().isTerminal()) {
            return Admitted.of(send, message.in(null, taskId), null, owned.replica());
        }
        if (owned.isHere()) {
            return Admitted.of(send, message.in(message.contextId(), null), name, replica);
        }
        Message next = message.in(task.contextId(), null).referringTo(taskId);
        return Admitted.of(send, next, name, owned.replica());
    }

    /** The message with the webhook of the gateway in the place of that of its caller. */
    private Admitted webhooked(Admitted admitted, CallContext context) {
        PushConfig config = admitted.send().configuration().pushConfig();
        Bound bound = admitted.bound();
        if (bound.taskId() != null) {
            known.webhooks().sent(bound.taskId(), context);
        }
        if (config == null) {
            return admitted;
        }
        if (bound.taskId() != null) {
            var unused = create(new Owned(bound.taskId(), bound.replica()), config, context);
            return new Admitted(RemoteWebhooks.with(admitted.send(), null), bound);
        }
        RemoteWebhooks.Sent sent = known.webhooks().begin(admitted.send(), context);
        return new Admitted(
                sent.send(), new Bound(null, bound.contextId(), bound.name(), bound.replica(), sent.relay()));
    }

    /** Names the task of the webhook of a message, or gives the webhook up if there is none. */
    private void settle(Bound bound, @Nullable String taskId, String contextId) {
        if (bound.relay() != null) {
            known.webhooks().settle(bound.relay(), taskId, contextId, bound.replica());
        }
    }

    private SendResult send(SendMessage send, CallContext context) {
        return send(send, webhooked(admit(send, context), context), context);
    }

    private SendResult send(SendMessage send, Admitted admitted, CallContext context) {
        if (known.waits() && known.streams() && send.configuration().returnImmediately()) {
            return begun((SendMessage) admitted.send(), admitted.bound(), context);
        }
        Answer<SendResult> answer;
        try {
            answer = sent((SendMessage) admitted.send(), admitted.bound(), context);
        } catch (RuntimeException failure) {
            settle(admitted.bound(), null, "");
            throw failure;
        }
        Bound bound = admitted.bound().at(answer.replica());
        return switch (answer.value()) {
            case Task task -> {
                requireSame(bound.taskId(), task.id());
                claim(new Claim(task.id(), task.contextId(), bound.name(), null, bound.replica()), context);
                settle(bound, task.id(), task.contextId());
                yield task;
            }
            case Message message -> (SendResult) answered(message, bound, context);
        };
    }

    /** The stream of a message to an agent without streams: what the message is answered with, and what its task becomes. */
    private Feed<LoggedEvent> sentAndRead(SendStreamingMessage stream, Bound bound, CallContext context) {
        SendConfiguration given = stream.configuration();
        var configuration =
                new SendConfiguration(given.acceptedOutputModes(), given.pushConfig(), given.historyLength(), true);
        var send = new SendMessage(null, stream.message(), configuration, stream.metadata());
        SendResult result = send(send, new Admitted(send, bound), context);
        return switch (result) {
            case Message message -> Feed.of(List.of(new LoggedEvent(0, message)));
            case Task task -> read(task, context);
        };
    }

    private Feed<LoggedEvent> read(Task first, CallContext context) {
        CallContext reader = context.withDeadline(null); // which was one for the beginning
        return new ReadEvents(first, () -> read(own(first.id(), reader), reader), remote.streamLimit());
    }

    /** The begin of the stream of a task, for a caller that does not wait, of an agent that would. The task goes on. */
    private SendResult begun(SendMessage send, Bound bound, CallContext context) {
        var stream = new SendStreamingMessage(null, send.message(), send.configuration(), send.metadata());
        try (Feed<LoggedEvent> events = events(stream, bound, context)) {
            List<LoggedEvent> first = events.next(FIRST_EVENT);
            if (first != null && !first.isEmpty()) {
                return switch (first.getFirst().event()) {
                    case Task task -> task;
                    case Message message -> message;
                    case TaskEvent other -> throw foreign();
                };
            }
            throw A2AException.unavailable("The agent did not answer in time", Duration.ofSeconds(1));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The gateway is stopping", Duration.ofSeconds(1));
        }
    }

    /** An answer by a message; as a task for callers that know no other answer. */
    private TaskEvent answered(Message message, Bound bound, CallContext context) {
        settle(bound, null, "");
        String taskId = message.taskId();
        if (taskId != null) {
            requireSame(bound.taskId(), taskId);
        }
        if (!context.knowsOnlyTasks()) {
            if (taskId != null) {
                claim(new Claim(taskId, message.contextId(), bound.replica()), context);
            } else if (message.contextId() != null
                    && !owners.claimSoon(route, context.scope(), message.contextId(), bound.replica())) {
                throw foreign();
            }
            return message;
        }
        String contextId = message.contextId() == null ? bound.contextId() : message.contextId();
        String id = OWN + Ids.next(clock.instant());
        var task = new Task(
                id,
                contextId == null ? OWN + Ids.next(clock.instant()) : contextId,
                new TaskStatus(TaskState.COMPLETED, message, clock.instant()),
                List.of(),
                List.of(),
                Map.of());
        claim(new Claim(id, task.contextId(), bound.name(), task, bound.replica()), context);
        return task;
    }

    private void claim(Claim claim, CallContext context) {
        if (!owners.claim(route, context.scope(), claim)) {
            throw foreign();
        }
    }

    private void requireSame(@Nullable String expected, String id) {
        if (expected != null && !expected.equals(id)) {
            throw foreign();
        }
    }

    /** An answer about a task of another principal, of which the caller learns nothing. */
    private A2AException foreign() {
        foreign.run();
        return A2AException.of(
                A2AError.INVALID_AGENT_RESPONSE, "Invalid agent response: an id that does not belong to this call");
    }

    private Task get(GetTask get, CallContext context) {
        Owned task = own(get.id(), context);
        return task.isHere()
                ? read(task, context)
                : checked(ask(new GetTask(null, task.id(), get.historyLength()), context, task), task, context);
    }

    /** Reads a task of the caller. */
    private Task read(Owned task, CallContext context) {
        return task.isHere()
                ? owners.answer(route, task.id()).orElseThrow(() -> A2AException.taskNotFound(task.id()))
                : checked(ask(GetTask.of(task.id()), context, task), task, context);
    }

    private Task checked(Task answer, Owned task, CallContext context) {
        requireSame(task.id(), answer.id());
        claim(new Claim(task.id(), answer.contextId(), task.replica()), context);
        return answer;
    }

    private Task cancel(CancelTask cancel, CallContext context) {
        Owned task = own(cancel.id(), context);
        if (task.isHere()) {
            throw A2AException.of(A2AError.TASK_NOT_CANCELABLE);
        }
        return checked(ask(new CancelTask(null, task.id(), cancel.metadata()), context, task), task, context);
    }

    private Feed<LoggedEvent> subscribe(SubscribeToTask subscribe, CallContext context) {
        Owned task = own(subscribe.id(), context);
        if (known.streams() && !task.isHere()) {
            try {
                return events(
                        new SubscribeToTask(null, task.id(), subscribe.after()),
                        new Bound(task.id(), null, null, task.replica(), null),
                        context);
            } catch (A2AException refused) {
                if (refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                    throw refused;
                } // the task has ended, or the agent has no such stream, whatever its card says
            }
        }
        Task now = read(task, context);
        if (now.state().isTerminal()) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION, "The task has ended: there is nothing to subscribe to");
        }
        return read(now, context);
    }

    private PushConfig create(Owned task, PushConfig config, CallContext context) {
        PushRelay relay = known.webhooks().require();
        String contextId = read(task, context).contextId();
        PushRelay.Remote agent = known.webhooks().at(context, task.replica());
        return showing(() -> relay.create(agent, task.id(), contextId, task.replica(), config, context));
    }

    private Operation.Empty delete(DeletePushConfig delete, CallContext context) {
        Owned task = own(delete.taskId(), context);
        PushRelay relay = known.webhooks().require();
        PushRelay.Remote agent = known.webhooks().at(context, task.replica());
        return showing(() -> relay.delete(agent, new DeletePushConfig(null, task.id(), delete.id()), context));
    }

    private AgentCard extendedCard(CallContext context) {
        UnaryOperator<AgentCard> rewritten = known.extendedCard();
        if (rewritten == null) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "This agent has no extended card");
        }
        if (context.caller().equals(CallContext.anonymous().caller())) {
            throw A2AException.refused(A2AError.UNAUTHENTICATED, "Authentication required", "Bearer realm=\"parley\"");
        }
        return rewritten.apply(ask(new GetExtendedAgentCard(null), context, (Owned) null));
    }

    /** Events of the remote agent, one list after the other as the reader pulls them. */
    private final class Events implements Feed<LoggedEvent> {
        private final Feed<LoggedEvent> from;
        private final CallContext context;
        private volatile Bound bound;
        /** Context of the last event; empty for none, null before the first one. */
        private @Nullable String claimed;

        private long claimedAt;

        Events(Feed<LoggedEvent> from, Bound bound, CallContext context) {
            this.from = from;
            this.bound = bound;
            this.context = context;
        }

        @Override
        public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
            try {
                List<LoggedEvent> next = from.next(patience);
                if (next == null || next.isEmpty()) {
                    return next;
                }
                var shown = new ArrayList<LoggedEvent>(next.size());
                for (LoggedEvent event : next) {
                    shown.add(checked(event));
                }
                return shown;
            } catch (RuntimeException failure) {
                close();
                throw shown(failure);
            }
        }

        private LoggedEvent checked(LoggedEvent event) {
            switch (event.event()) {
                case Task task -> check(task.id(), task.contextId());
                case TaskStatusUpdateEvent update -> check(update.taskId(), update.contextId());
                case TaskArtifactUpdateEvent update -> check(update.taskId(), update.contextId());
                case Message message -> {
                    TaskEvent shown = answered(message, bound, context);
                    return shown instanceof Task ? new LoggedEvent(0, shown) : event;
                }
            }
            return event;
        }

        private void check(String taskId, String contextId) {
            long removals = owners.removals();
            if (taskId.equals(bound.taskId()) && contextId.equals(claimed) && removals == claimedAt) {
                return;
            }
            requireSame(bound.taskId(), taskId);
            String known = contextId.isEmpty() ? null : contextId;
            claim(new Claim(taskId, known, bound.name(), null, bound.replica()), context);
            if (bound.taskId() == null) {
                settle(bound, taskId, contextId);
                bound = new Bound(taskId, null, null, bound.replica(), null);
            }
            claimed = contextId;
            claimedAt = removals;
        }

        @Override
        public @Nullable String position() {
            return from.position();
        }

        @Override
        public void close() {
            from.close();
            Bound last = bound;
            bound = new Bound(last.taskId(), last.contextId(), last.name(), last.replica(), null);
            settle(last, null, "");
        }
    }
}
