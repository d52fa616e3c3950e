package dev.parley.mcp.server;

import static dev.parley.mcp.wire.HeaderValues.SESSION;
import static dev.parley.mcp.wire.HeaderValues.VERSION;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.RequestModel.RequestMeta;
import dev.parley.mcp.wire.Revision;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * MCP server over HTTP, on the port of a hub: both generations of the protocol at one endpoint. Sessions of the older one are in memory only; a client whose
 * session another hub has gets 404 and begins another. Safe for any thread.
 *
 * <p>Source: MCP 2026-07-28 and 2025-11-25, Streamable HTTP.
 */
public final class HttpEngine implements AutoCloseable {
    static final int MAX_LISTENS_OF_OWNER = 32;

    private final McpProvider provider;
    private final Methods methods;
    private final McpSessions sessions;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, List<Runnable>> listens = new HashMap<>();

    /** @param key 32 bytes that seal the state of requests; the same for all hubs on one database */
    public HttpEngine(McpProvider provider, ServerInfo info, byte[] key) {
        this.provider = provider;
        this.methods = new Methods(provider, info, new RequestState(key, Clock.systemUTC()));
        this.sessions = new McpSessions(Clock.systemUTC());
    }

    /** Answers a request. Closing the result states that the client has left. */
    public Feed<HttpReply> answer(McpExchange exchange, CallContext caller) {
        WireRequest http = exchange.request();
        String version = http.header(VERSION);
        boolean isRequest = http.method().equals("POST") && exchange.message() instanceof McpMessage.Request;
        if (version != null && !isRequest && Revision.of(version).isEmpty()) {
            return refused(400, null, HeaderChecks.unsupported(version));
        }
        return switch (http.method()) {
            case "GET" -> stream(http, caller);
            case "DELETE" -> end(http, caller);
            default ->
                switch (exchange.message()) {
                    case McpMessage.Request request ->
                        isStateless(request, http)
                                ? stateless(request, http, caller)
                                : withSession(request, exchange, caller);
                    case McpMessage.Notification notification -> notified(notification, http, caller);
                    case McpMessage.Result result -> answered(result.id(), result, http, caller);
                    case McpMessage.Failure failure ->
                        failure.id() == null
                                ? Outbox.of(202, null, Map.of())
                                : answered(failure.id(), failure, http, caller);
                    case McpMessage.Malformed malformed -> Outbox.of(400, malformed, Map.of());
                };
        };
    }

    /** The era of a request: the one of its {@code _meta}, or of its header. */
    private static boolean isStateless(McpMessage.Request request, WireRequest http) {
        if (RequestMeta.of(request).protocolVersion() != null) {
            return true;
        }
        String version = http.header(VERSION);
        return version == null
                ? http.header(SESSION) == null && !request.method().equals(Methods.INITIALIZE)
                : !isLegacy(version) && !request.method().equals(Methods.INITIALIZE);
    }

    private static boolean isLegacy(String version) {
        return Revision.of(version).filter(each -> !each.isStateless()).isPresent();
    }

    private Feed<HttpReply> stateless(McpMessage.Request request, WireRequest http, CallContext caller) {
        McpPeer peer;
        try {
            peer = HeaderChecks.peer(request, http);
            HeaderChecks.check(request, http);
            methods.require(request.method(), peer.revision());
            if (request.method().equals("tools/call")) {
                Tool tool = methods.tool(request, caller);
                if (tool != null) {
                    HeaderChecks.check(tool, request, http);
                }
            }
        } catch (McpException problem) {
            int status = problem.code() == McpException.METHOD_NOT_FOUND ? 404 : 400;
            return Outbox.of(status, new McpMessage.Failure(request.id(), problem), Map.of());
        }
        return request.method().equals(Methods.LISTEN)
                ? listen(request, peer, caller)
                : answer(request, peer, null, null, caller);
    }

    private Feed<HttpReply> answer(
            McpMessage.Request request,
            McpPeer peer,
            @Nullable McpSession session,
            RunningCall.@Nullable Asker asker,
            CallContext caller) {
        RequestMeta meta = RequestMeta.of(request);
        CallContext traced = meta.traceparent() == null ? caller : caller.withTraceparent(meta.traceparent());
        var call = new AtomicReference<@Nullable RunningCall>(); // the ring of an outbox and its call
        // A client of the older era that leaves has not canceled its call, but can do so later.
        var outbox = new Outbox(() -> Optional.ofNullable(call.get())
                .ifPresent(peer.isStateless() ? RunningCall::cancel : RunningCall::leave));
        var running = new RunningCall(traced, peer, meta.progressToken(), asker, outbox::send);
        call.set(running);
        running.onCancel(outbox::end);
        Runnable work = () -> running.run(() -> work(request, running, session, outbox));
        if (session != null) {
            session.began(request.id(), running);
        }
        if (Methods.isSlow(request.method())) {
            Thread.ofVirtual().name("mcp-call").start(work);
        } else {
            work.run();
        }
        return outbox;
    }

    private void work(McpMessage.Request request, RunningCall call, @Nullable McpSession session, Outbox outbox) {
        try {
            McpMessage reply = methods.reply(request, call, session);
            outbox.end(HttpReply.last(status(reply, call.peer()), reply));
        } catch (A2AException refusal) {
            outbox.fail(refusal);
        } catch (InterruptedException canceled) {
            outbox.end();
            if (session != null) {
                session.left(request.id(), call);
            }
        } finally {
            if (session != null) {
                session.ended(request.id(), call);
            }
        }
    }

    private static int status(McpMessage reply, McpPeer peer) {
        return peer.isStateless()
                        && reply instanceof McpMessage.Failure failure
                        && failure.error().code() == McpException.MISSING_CLIENT_CAPABILITY
                ? 400
                : 200;
    }

    private Feed<HttpReply> listen(McpMessage.Request request, McpPeer peer, CallContext caller) {
        String owner = RequestState.owner(caller);
        var subscription = new Subscribed();
        var outbox = new Outbox(subscription::close);
        Runnable end = () -> outbox.end(HttpReply.last(200, Subscription.ended(request.id())));
        try {
            keep(owner, end);
            subscription.onClose = () -> drop(owner, end);
            subscription.open = Subscription.listen(provider, caller, peer, request, outbox::send);
        } catch (McpException problem) {
            subscription.close();
            return Outbox.of(400, new McpMessage.Failure(request.id(), problem), Map.of());
        }
        return outbox;
    }

    /** A subscription that is opened after its outbox. */
    private static final class Subscribed {
        private volatile @Nullable Subscription open;
        private volatile Runnable onClose = () -> {};

        void close() {
            onClose.run();
            Subscription subscription = open;
            if (subscription != null) {
                subscription.close();
            }
        }
    }

    private void keep(String owner, Runnable end) {
        lock.lock();
        try {
            List<Runnable> own = listens.computeIfAbsent(owner, name -> new ArrayList<>());
            if (own.size() >= MAX_LISTENS_OF_OWNER) {
                throw new McpException(
                        McpException.INVALID_REQUEST,
                        "too many open subscriptions (expected: at most " + MAX_LISTENS_OF_OWNER + ")");
            }
            own.add(end);
        } finally {
            lock.unlock();
        }
    }

    private void drop(String owner, Runnable end) {
        lock.lock();
        try {
            List<Runnable> own = listens.get(owner);
            if (own != null && own.remove(end) && own.isEmpty()) {
                listens.remove(owner);
            }
        } finally {
            lock.unlock();
        }
    }

    private Feed<HttpReply> withSession(McpMessage.Request request, McpExchange exchange, CallContext caller) {
        WireRequest http = exchange.request();
        if (request.method().equals(Methods.INITIALIZE)) {
            try {
                return initialize(request, caller);
            } catch (McpException problem) {
                return refused(200, request.id(), problem);
            }
        }
        String version = http.header(VERSION);
        if (version != null && !isLegacy(version)) {
            return refused(
                    400,
                    request.id(),
                    new McpException(McpException.INVALID_REQUEST, VERSION + ": not the version of a session"));
        }
        McpSession session = null;
        if (http.header(SESSION) != null) {
            session = session(http, caller);
            if (session == null) {
                return refused(404, request.id(), unknownSession());
            }
        }
        McpPeer peer = session != null
                ? session.peer()
                : new McpPeer(
                        Optional.ofNullable(version).flatMap(Revision::of).orElse(Revision.V2025_11_25),
                        Map.of(),
                        "debug");
        try {
            methods.require(request.method(), peer.revision());
        } catch (McpException problem) {
            return refused(200, request.id(), problem);
        }
        return answer(request, peer, session, exchange.takesEvents() ? session : null, caller);
    }

    private Feed<HttpReply> initialize(McpMessage.Request request, CallContext caller) {
        McpSession session = McpSession.of(request, RequestState.owner(caller));
        return Outbox.of(
                200,
                new McpMessage.Result(
                        request.id(),
                        methods.initialized(session.peer().revision()).inSession()),
                Map.of(SESSION, sessions.add(session)));
    }

    private @Nullable McpSession session(WireRequest http, CallContext caller) {
        String id = http.header(SESSION);
        return id == null ? null : sessions.of(id, RequestState.owner(caller));
    }

    private Feed<HttpReply> notified(McpMessage.Notification notification, WireRequest http, CallContext caller) {
        if (http.header(SESSION) != null) {
            McpSession session = session(http, caller);
            if (session == null) {
                return refused(404, null, unknownSession());
            }
            session.notified(notification);
        }
        return Outbox.of(202, null, Map.of());
    }

    private Feed<HttpReply> answered(Object id, McpMessage answer, WireRequest http, CallContext caller) {
        McpSession session = session(http, caller);
        if (session == null) {
            return http.header(SESSION) == null
                    ? refused(400, null, new McpException(McpException.INVALID_REQUEST, "a response without a session"))
                    : refused(404, null, unknownSession());
        }
        session.answered(id, answer);
        return Outbox.of(202, null, Map.of());
    }

    private Feed<HttpReply> stream(WireRequest http, CallContext caller) {
        if (http.header(SESSION) == null) {
            throw A2AException.notAllowed("GET", "POST");
        }
        McpSession session = session(http, caller);
        if (session == null) {
            return refused(404, null, unknownSession());
        }
        var subscription = new Subscribed();
        var outbox = new Outbox(subscription::close);
        if (!session.open(outbox)) {
            return refused(
                    409, null, new McpException(McpException.INVALID_REQUEST, "the session has a stream already"));
        }
        subscription.onClose = () -> session.closed(outbox);
        subscription.open = Subscription.ofSession(provider, caller, session::follows, outbox::send);
        return outbox;
    }

    private Feed<HttpReply> end(WireRequest http, CallContext caller) {
        String id = http.header(SESSION);
        if (id == null) {
            throw A2AException.notAllowed("DELETE", "POST");
        }
        if (session(http, caller) == null) {
            return refused(404, null, unknownSession());
        }
        sessions.remove(id);
        return Outbox.of(204, null, Map.of());
    }

    private static McpException unknownSession() {
        return new McpException(
                McpException.INVALID_REQUEST, "session: unknown, or ended (expected: initialize again)");
    }

    private static Feed<HttpReply> refused(int status, @Nullable Object id, McpException problem) {
        return Outbox.of(status, new McpMessage.Failure(id, problem), Map.of());
    }

    /** Ends all sessions and subscriptions. */
    @Override
    public void close() {
        List<Runnable> all;
        lock.lock();
        try {
            all = listens.values().stream().flatMap(List::stream).toList();
        } finally {
            lock.unlock();
        }
        all.forEach(Runnable::run);
        sessions.endAll();
    }
}
