package dev.parley.client;

import dev.parley.client.calls.Calls;
import dev.parley.client.calls.HttpExtension;
import dev.parley.client.calls.Means;
import dev.parley.client.calls.TaskEvents;
import dev.parley.client.spi.HttpCall;
import dev.parley.client.wire.AgentAddress;
import dev.parley.client.wire.CardFinder;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.Places;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskStatusUpdateEvent;
import io.opentelemetry.api.trace.SpanKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The one {@link AgentClient}: the {@link Places} of an agent and the means to get there. */
final class HttpAgentClient implements AgentClient {
    private static final System.Logger LOG = System.getLogger("dev.parley.client");

    private final Means means;
    private final ClientSettings settings;
    private final Calls calls;
    private final AgentEndpoint traced;

    HttpAgentClient(Means means, Places places) {
        this.means = means;
        this.settings = means.settings();
        this.calls = new Calls(means, places);
        if (places.used().url().isPlain() && !settings.plainHttp()) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "calls to {0} go over plain HTTP: others on the network can read and change them",
                    places.used().url().origin());
        }
        this.traced = settings.traces().before(SpanKind.CLIENT, this::name, new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                return answer(operation, context);
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                return stream(operation, context);
            }
        });
    }

    private String name() {
        return card().name();
    }

    @Override
    public AgentCard card() {
        return calls.place().card();
    }

    @Override
    public AgentCard.Interface address() {
        return calls.place().agent();
    }

    @Override
    public AgentCard refreshCard() {
        CardFinder.Found known = calls.place().found();
        if (known != null) {
            means.finder()
                    .again(known)
                    .ifPresent(found ->
                            calls.use(Places.of(found.card(), found, settings).within(means.wire(), settings)));
        }
        return card();
    }

    @Override
    public AgentCard extendedCard() {
        AgentCard card = call(new Operation.GetExtendedAgentCard(null), CallContext.anonymous());
        settings.cards().check(Json.write(card), address().url());
        calls.use(card);
        return card;
    }

    @Override
    public HttpCall.Answer exchange(HttpCall call, Duration timeout) {
        return calls.exchange(call, timeout);
    }

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        return traced.call(operation, context);
    }

    @SuppressWarnings("unchecked") // a task is what both operations may answer
    private <R> R answer(Operation.Call<R> operation, CallContext context) {
        if (operation instanceof Operation.ExtensionCall<R> call) {
            return HttpExtension.of(calls, call).call(call, context);
        }
        R result = calls.exchange(operation, context);
        if (operation instanceof GetTask get) {
            return (R) ((Task) result).view(get.historyLength(), true); // some dialects cannot ask for less
        }
        if (!tellsIdsOnly()) {
            return result;
        }
        return switch (operation) {
            case Operation.SendMessage send -> (R) outcome(((Task) result).id(), send, context);
            case Operation.CancelTask cancel -> (R) calls.exchange(GetTask.of(cancel.id()), context);
            default -> result;
        };
    }

    private boolean tellsIdsOnly() {
        return calls.place() instanceof AgentAddress.ByHttp http
                && http.binding().tellsIdsOnly();
    }

    /** Follows a task until it has ended or waits for its caller, and returns it. */
    private Task outcome(String taskId, Operation.SendMessage send, CallContext context) {
        Task task = calls.exchange(GetTask.of(taskId), context);
        if (send.configuration().returnImmediately() || task.state().isSettled()) {
            return task;
        }
        Instant end = settings.now().plus(settings.timeout(send, context));
        try (Feed<LoggedEvent> events = subscribed(taskId, context)) {
            boolean settled = false;
            while (!settled && settings.now().isBefore(end)) {
                List<LoggedEvent> next = events.next(Duration.between(settings.now(), end));
                settled = next == null || next.stream().anyMatch(HttpAgentClient::isSettled);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return calls.exchange(GetTask.of(taskId), context);
    }

    private static boolean isSettled(LoggedEvent event) {
        return switch (event.event()) {
            case TaskStatusUpdateEvent update -> update.status().state().isSettled();
            case Task task -> task.state().isSettled();
            default -> false;
        };
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return traced.watch(operation, context);
    }

    @SuppressWarnings("unchecked") // operations of A2A stream events of tasks
    private <E> Feed<E> stream(Operation.Watch<E> operation, CallContext context) {
        return switch (operation) {
            case Operation.ExtensionWatch<E> extension ->
                HttpExtension.of(calls, extension).watch(extension, context);
            case Operation.TaskWatch watch -> (Feed<E>) events(watch, context);
        };
    }

    private Feed<LoggedEvent> events(Operation.TaskWatch operation, CallContext context) {
        if (operation instanceof Operation.SendStreamingMessage send && tellsIdsOnly()) {
            var begin = new Operation.SendMessage(send.tenant(), send.message(), send.configuration(), send.metadata());
            SendResult begun = calls.exchange(begin, context);
            return subscribed(((Task) begun).id(), context);
        }
        return open(operation, context);
    }

    /** The events of a task, or the task as the only event if the agent refuses the subscription because the task has ended or waits. */
    private Feed<LoggedEvent> subscribed(String taskId, CallContext context) {
        Feed<LoggedEvent> events;
        try {
            events = open(SubscribeToTask.of(taskId), context);
        } catch (A2AException refused) {
            return Feed.of(List.of(end(taskId, refused, context)));
        }
        return new Feed<>() {
            private boolean isBegun;
            private boolean isOver;

            @Override
            public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
                if (isOver) {
                    return null;
                }
                try {
                    List<LoggedEvent> next = events.next(patience);
                    isBegun |= next != null && !next.isEmpty();
                    return next;
                } catch (A2AException refused) {
                    if (isBegun) {
                        throw refused;
                    }
                    isOver = true;
                    return List.of(end(taskId, refused, context));
                }
            }

            @Override
            public void close() {
                events.close();
            }
        };
    }

    /**
     * Reads a task whose subscription was refused.
     *
     * @throws A2AException the refusal, if the task has neither ended nor waits for its caller
     */
    private LoggedEvent end(String taskId, A2AException refused, CallContext context) {
        if (TaskEvents.mayHaveEnded(refused)) {
            Task task = calls.exchange(GetTask.of(taskId), context);
            if (task.state().isSettled()) {
                return new LoggedEvent(0, task);
            }
        }
        throw refused;
    }

    private Feed<LoggedEvent> open(Operation.TaskWatch operation, CallContext context) {
        return calls.<Feed<LoggedEvent>>attempt(
                operation, context, (place, left) -> TaskEvents.open(calls, this, place, context, operation, left));
    }

    @Override
    public void close() {
        calls.close();
    }
}
