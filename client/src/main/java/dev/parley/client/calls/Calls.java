package dev.parley.client.calls;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.client.spi.Traces;
import dev.parley.client.wire.AgentAddress;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.Credential;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.HttpWire.Answer;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.client.wire.Places;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.Binding.Outgoing;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Set;

/** Calls of one agent: its {@link Places}, and the means to get there. Safe for any number of threads. */
public final class Calls implements AutoCloseable {
    private static final int UNAUTHENTICATED = 401;
    /** HTTP statuses and errors that together mean that the operation is not available at this address. */
    private static final Set<Integer> NOT_HERE = Set.of(404, 405, 410, 501);

    private static final Set<A2AError> UNAVAILABLE_HERE =
            Set.of(A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_ALLOWED, A2AError.UNSUPPORTED_OPERATION);

    private final Means means;
    private final ClientSettings settings;
    private final HttpWire wire;
    private final Remotes remotes;
    private volatile Places places;
    /** Over REST, the specification's text says POST, its proto GET; servers of both kinds are about. */
    private volatile boolean subscribesByGet;

    public Calls(Means means, Places places) {
        this.means = means;
        this.settings = means.settings();
        this.wire = means.wire();
        this.remotes = new Remotes(means);
        this.places = places;
    }

    /** Returns the answer of the first place that gives one. */
    public <R> R exchange(Operation.Call<R> operation, CallContext context) {
        return exchange(operation, settings.timeout(operation, context), context, (http, left) -> {
            Request request = request(http, operation, context, left);
            return answer(request, left, answer -> {
                String type = answer.headers().firstValue("Content-Type").orElse(null);
                R result =
                        http.binding().answering(request.id(), type).result(operation, answer.status(), answer.body());
                requireAsked(operation, result);
                return result;
            });
        });
    }

    /** An exchange over HTTP in one attempt. */
    interface ByHttp<R> {
        R at(AgentAddress.ByHttp place, Duration left) throws AttemptFailure, InterruptedException;
    }

    /** Reads an answer; throws A2AException if it is a refusal. */
    interface Reading<R> {
        R of(Answer answer);
    }

    <R> R exchange(Operation.Call<R> operation, Duration timeout, CallContext context, ByHttp<R> byHttp) {
        return attempt(settings.isRepeatable(operation), timeout, (place, left) -> switch (place) {
            case AgentAddress.ByHttp http -> byHttp.at(http, left);
            case AgentAddress.ByTransport other -> {
                CallContext limited = context.withDeadline(settings.now().plus(left));
                yield remotes.ask(
                        other, limited, left, (agent, caller, headers) -> agent.call(operation, caller, headers));
            }
        });
    }

    <R> R answer(Request request, Duration left, Reading<R> reading) throws AttemptFailure, InterruptedException {
        Answer answer = wire.exchange(request, settings.maxAnswerBytes(), left);
        try {
            return reading.of(answer);
        } catch (A2AException problem) {
            distrustAfter(problem);
            throw refusal(request, answer.status(), answer.headers(), problem);
        }
    }

    /** Refuses the answer to another request, which shows where the binding has no ids of requests. */
    private static void requireAsked(Operation operation, Object result) {
        String asked = switch (operation) {
            case Operation.GetTask get -> get.id();
            case Operation.CancelTask cancel -> cancel.id();
            default -> null;
        };
        if (asked != null
                && result instanceof Task task
                && !task.id().isEmpty() // as in an answer of AgentVault to a cancellation
                && !task.id().equals(asked)
                && !continuesAnother(task)) {
            throw Binding.ofAnotherRequest("The agent's answer is another task (expected: " + asked + ")");
        }
    }

    /** Whether a task goes on with an earlier one, by whose id a server may show it. */
    private static boolean continuesAnother(Task task) {
        return !task.history().isEmpty()
                && !task.history().getFirst().referenceTaskIds().isEmpty();
    }

    /** Gives up the connections after an answer that cannot be read, or belongs to another request. */
    void distrustAfter(A2AException problem) {
        if (problem.error() == A2AError.INVALID_AGENT_RESPONSE) {
            wire.distrust();
        }
    }

    /** Sends a request that is not an operation, once. */
    public HttpCall.Answer exchange(HttpCall call, Duration timeout) {
        AgentAddress place = places.used();
        try {
            List<Credential> credentials =
                    means.credentials().of(place.card(), place.url(), CallContext.anonymous(), timeout);
            Request request = place.request(
                    new Outgoing(call.method(), call.url(), Traces.chained(call.headers()), call.body()), credentials);
            Answer answer = wire.exchange(request, settings.maxAnswerBytes(), timeout);
            if (answer.status() == UNAUTHENTICATED) {
                means.credentials().refused(request.headers());
            }
            return answer.forCaller(settings.now());
        } catch (AttemptFailure trouble) {
            throw trouble.verdict();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for an answer", stopped);
        }
    }

    /** Does {@code exchange} at the first place that there is one to do it with, as often as is safe and promising. */
    public <T> T attempt(Operation operation, CallContext context, Places.Exchange<T> exchange) {
        return attempt(settings.isRepeatable(operation), settings.timeout(operation, context), exchange);
    }

    public <T> T attempt(boolean repeatable, Duration timeout, Places.Exchange<T> exchange) {
        Places now = places;
        return means.attempts().run(repeatable, timeout, left -> now.use(left, settings.listener(), exchange));
    }

    /**
     * Returns the error that an answer is, as the caller shall see it.
     *
     * @throws AttemptFailure if another attempt may help
     */
    A2AException refusal(Request request, int status, HttpHeaders headers, A2AException problem) throws AttemptFailure {
        boolean noSuchVerb = status == 405 || problem.error() == A2AError.METHOD_NOT_FOUND;
        if (noSuchVerb && request.method().equals("POST") && isSubscription(request)) {
            subscribesByGet = true;
            throw new AttemptFailure(AttemptFailure.Kind.NOT_NOW, null, problem);
        }
        if (NOT_HERE.contains(status) && UNAVAILABLE_HERE.contains(problem.error())) {
            throw new AttemptFailure(AttemptFailure.Kind.NOT_HERE, null, problem);
        }
        var trouble = AttemptFailure.of(status, headers, problem, settings.now());
        if (trouble.isPresent()) {
            throw trouble.get();
        }
        String challenge = headers.firstValue("WWW-Authenticate").orElse(null);
        if (problem.error() == A2AError.UNAUTHENTICATED) {
            means.credentials().refused(request.headers());
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
     * @throws AttemptFailure if another attempt may help
     */
    Request request(AgentAddress.ByHttp place, Operation operation, CallContext context, Duration left)
            throws AttemptFailure, InterruptedException {
        Request request = place.request(
                        place.binding().request(operation, settings.extended(context), place.agent()),
                        means.credentials().of(place.card(), place.url(), context, left))
                .by(context);
        return subscribesByGet && isSubscription(request) ? request.asGet() : request;
    }

    private static boolean isSubscription(Request request) {
        return request.url().uri().getPath().endsWith(":subscribe");
    }

    /** Returns the place to which the next call goes first. */
    public AgentAddress place() {
        return places.used();
    }

    /** Goes to other places from now on. */
    public void use(Places next) {
        places = next;
    }

    /** Goes by a newer card of the same places from now on. */
    public void use(AgentCard card) {
        places = places.with(card);
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
