package dev.parley.client;

import dev.parley.client.wire.Attempts;
import dev.parley.client.wire.CardFinder;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.Credentials;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.HttpWire.Answer;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.client.wire.Place;
import dev.parley.client.wire.Places;
import dev.parley.client.wire.Trouble;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
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
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Set;

/** The one {@link AgentClient}: the {@link Places} of an agent and the means to get there. */
final class HttpAgentClient implements AgentClient {
    /** Parts of a client. */
    record Means(
            ClientSettings settings, HttpWire wire, Attempts attempts, CardFinder finder, Credentials credentials) {}

    private static final System.Logger LOG = System.getLogger("dev.parley.client");
    private static final byte[] NO_BODY = {};
    /** With one of these and one of those, a server says that what was asked for is not to be had at this address. */
    private static final Set<Integer> NOT_HERE = Set.of(404, 405, 410, 501);

    private static final Set<A2AError> NOBODY =
            Set.of(A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_ALLOWED, A2AError.UNSUPPORTED_OPERATION);

    private final Means means;
    private final ClientSettings settings;
    private final HttpWire wire;
    private final Remotes remotes;
    private final AgentEndpoint traced;
    private volatile Places places;
    /** Over REST, the specification's text says POST, its proto GET; servers of both kinds are about. */
    private volatile boolean subscribesByGet;

    HttpAgentClient(Means means, Places places) {
        this.means = means;
        this.settings = means.settings();
        this.wire = means.wire();
        this.remotes = new Remotes(means);
        this.places = places;
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
        return place().card();
    }

    @Override
    public AgentCard.Interface address() {
        return place().agent();
    }

    @Override
    public AgentCard refreshCard() {
        CardFinder.Found known = place().found();
        if (known != null) {
            means.finder()
                    .again(known)
                    .ifPresent(found ->
                            places = Places.of(found.card(), found, settings).within(wire, settings));
        }
        return card();
    }

    @Override
    public AgentCard extendedCard() {
        AgentCard card = call(new Operation.GetExtendedAgentCard(null), CallContext.anonymous());
        settings.cards().check(Json.write(card), address().url());
        places = places.with(card);
        return card;
    }

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        return traced.call(operation, context);
    }

    @SuppressWarnings("unchecked") // a task is what both operations may answer
    private <R> R answer(Operation.Call<R> operation, CallContext context) {
        if (operation instanceof Operation.ExtensionCall<R> call) {
            return HttpExtension.of(this, call).call(call, context);
        }
        R result = exchange(operation, context);
        if (operation instanceof GetTask get) {
            return (R) ((Task) result).view(get.historyLength(), true); // some dialects cannot ask for less
        }
        if (!tellsIdsOnly()) {
            return result;
        }
        return switch (operation) {
            case Operation.SendMessage send -> (R) outcome(((Task) result).id(), send, context);
            case Operation.CancelTask cancel -> (R) exchange(GetTask.of(cancel.id()), context);
            default -> result;
        };
    }

    private boolean tellsIdsOnly() {
        return place() instanceof Place.ByHttp http && http.binding().tellsIdsOnly();
    }

    /** Follows a task until it has ended or waits for its caller, and returns it. */
    private Task outcome(String taskId, Operation.SendMessage send, CallContext context) {
        Task task = exchange(GetTask.of(taskId), context);
        if (send.configuration().returnImmediately() || task.state().isSettled()) {
            return task;
        }
        Instant end = settings.now().plus(settings.timeout(send, context));
        try (Feed<LoggedEvent> events = open(SubscribeToTask.of(taskId), context)) {
            boolean settled = false;
            while (!settled && settings.now().isBefore(end)) {
                List<LoggedEvent> next = events.next(Duration.between(settings.now(), end));
                settled = next == null || next.stream().anyMatch(HttpAgentClient::isSettled);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return exchange(GetTask.of(taskId), context);
    }

    private static boolean isSettled(LoggedEvent event) {
        return event.event() instanceof TaskStatusUpdateEvent update
                && update.status().state().isSettled();
    }

    private <R> R exchange(Operation.Call<R> operation, CallContext context) {
        return attempt(operation, context, (place, left) -> switch (place) {
            case Place.ByHttp http -> exchange(http, operation, context, left);
            case Place.ByTransport other -> {
                CallContext limited = context.withDeadline(settings.now().plus(left));
                yield remotes.ask(
                        other, limited, left, (agent, caller, headers) -> agent.call(operation, caller, headers));
            }
        });
    }

    private <R> R exchange(Place.ByHttp place, Operation.Call<R> operation, CallContext context, Duration left)
            throws Trouble, InterruptedException {
        Request request = request(place, operation, context, left);
        Answer answer = wire.exchange(request, settings.maxAnswerBytes(), left);
        try {
            return place.binding().result(operation, answer.status(), answer.body());
        } catch (A2AException problem) {
            throw refusal(request, answer.status(), answer.headers(), problem);
        }
    }

    /** Does {@code exchange} at the first place that there is one to do it with, as often as is safe and promising. */
    <T> T attempt(Operation operation, CallContext context, Places.Exchange<T> exchange) {
        return attempt(operation.isRepeatable(), settings.timeout(operation, context), exchange);
    }

    <T> T attempt(boolean repeatable, Duration timeout, Places.Exchange<T> exchange) {
        Places now = places;
        return means.attempts().run(repeatable, timeout, left -> now.use(left, settings.listener(), exchange));
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return traced.watch(operation, context);
    }

    @SuppressWarnings("unchecked") // operations of A2A stream events of tasks
    private <E> Feed<E> stream(Operation.Watch<E> operation, CallContext context) {
        return switch (operation) {
            case Operation.ExtensionWatch<E> extension ->
                HttpExtension.of(this, extension).watch(extension, context);
            case Operation.TaskWatch watch -> (Feed<E>) events(watch, context);
        };
    }

    private Feed<LoggedEvent> events(Operation.TaskWatch operation, CallContext context) {
        if (operation instanceof Operation.SendStreamingMessage send && tellsIdsOnly()) {
            var begin = new Operation.SendMessage(send.tenant(), send.message(), send.configuration(), send.metadata());
            SendResult begun = exchange(begin, context);
            return open(SubscribeToTask.of(((Task) begun).id()), context);
        }
        return open(operation, context);
    }

    private Feed<LoggedEvent> open(Operation.TaskWatch operation, CallContext context) {
        return new OneTask(opened(operation, context), operation);
    }

    private Feed<LoggedEvent> opened(Operation.TaskWatch operation, CallContext context) {
        return this.<Feed<LoggedEvent>>attempt(operation, context, (place, left) -> switch (place) {
            case Place.ByHttp http -> ResumingStream.open(this, http, context, operation, left);
            case Place.ByTransport other -> RemoteStream.open(this, other, context, operation, left);
        });
    }

    /**
     * Returns the error that an answer is, as the caller shall see it.
     *
     * @throws Trouble if another attempt may help
     */
    A2AException refusal(Request request, int status, HttpHeaders headers, A2AException problem) throws Trouble {
        boolean noSuchVerb = status == 405 || problem.error() == A2AError.METHOD_NOT_FOUND;
        if (noSuchVerb && request.method().equals("POST") && isSubscription(request)) {
            subscribesByGet = true;
            throw new Trouble(Trouble.Kind.NOT_NOW, null, problem);
        }
        if (NOT_HERE.contains(status) && NOBODY.contains(problem.error())) {
            throw new Trouble(Trouble.Kind.NOT_HERE, null, problem);
        }
        var trouble = Trouble.of(status, headers, problem, settings.now());
        if (trouble.isPresent()) {
            throw trouble.get();
        }
        String challenge = headers.firstValue("WWW-Authenticate").orElse(null);
        if (problem.error() == A2AError.UNAUTHENTICATED) {
            means.credentials().forgetTokens(); // one may have been revoked; the next call asks for another
        }
        if (problem.error() != A2AError.UNAUTHENTICATED || challenge == null) {
            return problem;
        }
        // Which credential is wanted stands in a header, which no binding reads.
        var metadata = new HashMap<>(problem.metadata());
        metadata.put("wwwAuthenticate", challenge);
        return A2AException.of(problem.error(), problem.getMessage() + " (" + challenge + ")", metadata);
    }

    /**
     * Returns the request as it is sent, for which a token may have to be fetched first.
     *
     * @throws Trouble if another attempt may help
     */
    Request request(Place.ByHttp place, Operation operation, CallContext context, Duration left)
            throws Trouble, InterruptedException {
        Request request = place.request(
                place.binding().request(operation, settings.extended(context), place.agent()),
                means.credentials().of(place.card(), place.url(), left));
        return subscribesByGet && isSubscription(request)
                ? new Request("GET", request.url(), request.headers(), NO_BODY)
                : request;
    }

    private static boolean isSubscription(Request request) {
        return request.url().uri().getPath().endsWith(":subscribe");
    }

    Place place() {
        return places.used();
    }

    Means means() {
        return means;
    }

    Remotes remotes() {
        return remotes;
    }

    @Override
    public void close() {
        wire.close(); // first, so that streams know why they are cut
        remotes.close();
    }
}
