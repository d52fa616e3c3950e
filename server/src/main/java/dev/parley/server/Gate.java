package dev.parley.server;

import dev.parley.dialect.Dialects;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Loopback;
import dev.parley.server.limits.CurrentAdmission;
import dev.parley.server.limits.OpenStreams;
import dev.parley.server.wire.Cors;
import dev.parley.server.wire.RequestTarget;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Way of a request to its answer, the same behind a port and in a container: checks, limits of streams and {@link RequestRouter}. */
final class Gate {
    private static final Duration RETRY_STREAM = Duration.ofSeconds(5);
    private static final String EVENT_STREAM = "text/event-stream";

    /**
     * A request. Belongs to one thread.
     *
     * @param rawPath below the address of the server, with its escapes
     * @param rawQuery with its escapes; null if there is none
     * @param headers the values of a header field, separated by commas; null if there is none
     * @param arrival makes the input of authentication of the path
     * @param requirePresent throws if no answer is needed, because the client or the connection is gone
     */
    record Incoming(
            String method,
            String rawPath,
            @Nullable String rawQuery,
            Function<String, @Nullable String> headers,
            Function<String, RequestHead> arrival,
            CurrentAdmission admission,
            RefusableBody body,
            Consumer<RuntimeException> requirePresent) {}

    private final RequestRouter routes;
    private final BrowserRule browsers;
    private final OpenStreams streams;
    private final boolean forThisMachine;

    /** @param forThisMachine whether clients on other machines are refused */
    Gate(RequestRouter routes, BrowserRule browsers, OpenStreams streams, boolean forThisMachine) {
        this.forThisMachine = forThisMachine;
        this.routes = routes;
        this.browsers = browsers;
        this.streams = streams;
    }

    /** Answers a request. The caller of this closes a stream of events, and then {@linkplain #left leaves} it. */
    WireAnswer answer(Incoming request) {
        var method = request.method();
        var headers = request.headers();
        A2AException malformed = null;
        var path = "";
        try {
            path = RequestTarget.path(request.rawPath());
        } catch (A2AException e) {
            malformed = e;
        }
        var head =
                new RequestRouter.Head(method, path, Map.of(), request.arrival().apply(path));
        boolean forAllOrigins = routes.isForAllOrigins(head.arrival());
        var early = early(head, forAllOrigins, headers);
        if (early != null) {
            return early;
        }
        try {
            if (forThisMachine && !Loopback.isAddress(head.arrival().address())) {
                throw A2AException.of(
                        A2AError.PERMISSION_DENIED,
                        "Client on another machine (expected: one on the machine of the hub, as long as callers need no"
                                + " credentials)");
            }
            if (forAllOrigins) {
                browsers.checkHost(headers);
            } else {
                browsers.check(method, headers);
            }
            if (malformed != null) {
                throw malformed;
            }
            var query = request.rawQuery();
            head = new RequestRouter.Head(
                    method,
                    path,
                    query == null ? Map.of() : RequestTarget.query(query),
                    request.arrival().apply(path),
                    browsers.isOfForeignPage(headers),
                    request.admission()::admitted);
            if (isCompressed(headers)) {
                return routes.compressed(head);
            }
            if (streams.full() && accepts(headers.apply("Accept"))) {
                return tooManyStreams(head);
            }
            return checked(
                    routes.answer(head, request.body()),
                    head,
                    request.admission().group());
        } catch (RuntimeException e) {
            // A failure caused by the disconnect of the client is not a fault, and needs no answer.
            request.requirePresent().accept(e);
            var late = routes.refusedAtEnd(head);
            return late == null ? routes.problem(head, Dialects.explained(e)) : late;
        }
    }

    /** The answer to a preflight, or a refusal before the caller is known; null for other requests. */
    private @Nullable WireAnswer early(
            RequestRouter.Head head, boolean forAllOrigins, Function<String, @Nullable String> headers) {
        if (head.method().equals("OPTIONS") && forAllOrigins) {
            return new WireAnswer.Whole(
                    204,
                    Cors.preflightForAllOrigins(headers.apply("Access-Control-Request-Headers")),
                    AnswerWriter.NOTHING);
        }
        var refused = routes.refusedAtEnd(head);
        return refused == null ? routes.refusedMethod(head) : refused;
    }

    /** The answer, or in its place a refusal: its data may be wrong by now, or its group has too many streams. */
    private WireAnswer checked(WireAnswer answer, RequestRouter.Head head, String group) {
        var refused = routes.refusedAtEnd(head);
        if (answer instanceof WireAnswer.Events events) {
            if (refused == null && !streams.enter(group, events.frames())) {
                refused = tooManyStreams(head);
            }
            if (refused != null) {
                events.frames().close();
            }
        }
        return refused == null ? answer : refused;
    }

    /** Whether the service has ended: streams that end now have been cut short. */
    boolean isEnded() {
        return routes.isEnded();
    }

    /** True if pages of any origin may call at the path of a request. */
    boolean isForAllOrigins(String rawPath, Function<String, RequestHead> arrival) {
        try {
            return routes.isForAllOrigins(arrival.apply(RequestTarget.path(rawPath)));
        } catch (A2AException malformed) {
            return false;
        }
    }

    /** Frees the place of a stream that has ended. */
    void left(WireAnswer.Events answer) {
        streams.leave(answer.frames());
    }

    private static boolean isCompressed(Function<String, @Nullable String> headers) {
        var encoding = headers.apply("Content-Encoding");
        return encoding != null && !encoding.equalsIgnoreCase("identity");
    }

    private static boolean accepts(@Nullable String accept) {
        return accept != null && accept.contains(EVENT_STREAM);
    }

    private WireAnswer tooManyStreams(RequestRouter.Head head) {
        return routes.problem(head, A2AException.unavailable("Too many open streams", RETRY_STREAM));
    }
}
