package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.RequestModel;
import dev.parley.mcp.wire.RequestModel.RequestMeta;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.AesGcm;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * MCP server for one client over a pair of streams, one message a line, in the era that each message belongs to. Calls run side by side.
 *
 * <p>Source: MCP 2026-07-28 and 2025-11-25, stdio.
 */
public final class StdioServer implements AutoCloseable {
    static final int MAX_LINE = 16 << 20;
    static final int MAX_CALLS = 64;
    static final int MAX_LISTENS = 32;
    private static final Duration GRACE = Duration.ofSeconds(1);
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");

    private final McpProvider provider;
    private final Methods methods;
    private final CallContext caller;
    private final InputStream in;
    private final OutputStream out;
    private final ReentrantLock writing = new ReentrantLock();
    private final Map<Object, RunningCall> calls = new ConcurrentHashMap<>();
    private final Map<Object, Subscription> listens = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private volatile @Nullable McpSession session;
    private volatile @Nullable Subscription changes;

    /** @param caller of all calls */
    public StdioServer(McpProvider provider, ServerInfo info, CallContext caller, InputStream in, OutputStream out) {
        this.provider = provider;
        this.methods =
                new Methods(provider, info, new RequestState(AesGcm.random(AesGcm.KEY_BYTES), Clock.systemUTC()));
        this.caller = caller;
        this.in = new BufferedInputStream(in);
        this.out = out;
    }

    /** Serves until the input ends. Calls that run then have a second to answer. */
    public void run() throws IOException {
        try (this) {
            var line = new ByteArrayOutputStream();
            boolean isTooLong = false;
            for (int next = in.read(); next >= 0; next = in.read()) {
                if (next != '\n') {
                    isTooLong |= line.size() >= MAX_LINE;
                    if (!isTooLong) {
                        line.write(next);
                    }
                    continue;
                }
                if (isTooLong) {
                    fail(
                            null,
                            McpException.INVALID_REQUEST,
                            "line too long (expected: at most " + MAX_LINE + " bytes)");
                } else if (!line.toString(UTF_8).isBlank()) {
                    receive(McpMessage.read(line.toByteArray()));
                }
                line.reset();
                isTooLong = false;
            }
        }
    }

    private void receive(McpMessage message) {
        McpSession own = session;
        switch (message) {
            case McpMessage.Request request -> {
                try {
                    answer(request);
                } catch (McpException problem) {
                    write(new McpMessage.Failure(request.id(), problem));
                }
            }
            case McpMessage.Notification notification -> notified(notification);
            case McpMessage.Result result -> {
                if (own != null) {
                    own.answered(result.id(), result);
                }
            }
            case McpMessage.Failure failure -> {
                if (own != null && failure.id() != null) {
                    own.answered(failure.id(), failure);
                }
            }
            case McpMessage.Malformed malformed -> write(malformed);
        }
    }

    private void answer(McpMessage.Request request) {
        RequestMeta meta = RequestMeta.of(request);
        boolean isStateless = meta.protocolVersion() != null;
        if (request.method().equals(Methods.INITIALIZE) && !isStateless) {
            initialize(request);
            return;
        }
        McpSession own = isStateless ? null : session;
        McpPeer peer = own != null ? own.peer() : HeaderChecks.peer(meta);
        methods.require(request.method(), peer.revision());
        if (request.method().equals(Methods.LISTEN)) {
            listen(request, peer);
            return;
        }
        var call = new RunningCall(caller, peer, meta.progressToken(), own, this::write);
        if (calls.size() >= MAX_CALLS) {
            throw new McpException(
                    McpException.INTERNAL_ERROR, "too many calls at once (expected: at most " + MAX_CALLS + ")");
        }
        if (calls.putIfAbsent(request.id(), call) != null) {
            throw new McpException(McpException.INVALID_REQUEST, "id: of a request that is not answered yet");
        }
        if (Methods.isSlow(request.method())) {
            threads.execute(() -> work(request, call, own));
        } else {
            work(request, call, own);
        }
    }

    private void work(McpMessage.Request request, RunningCall call, @Nullable McpSession own) {
        call.run(() -> {
            try {
                McpMessage reply = methods.reply(request, call, own);
                calls.remove(request.id(), call);
                if (!call.isCanceled()) {
                    write(reply);
                }
            } catch (A2AException refusal) {
                fail(request.id(), McpException.INTERNAL_ERROR, String.valueOf(refusal.getMessage()));
            } catch (InterruptedException canceled) {
                // No answer is sent for a canceled request.
            } finally {
                calls.remove(request.id(), call);
            }
        });
    }

    private void initialize(McpMessage.Request request) {
        McpSession begun = McpSession.of(request, RequestState.owner(caller));
        McpSession before = session;
        session = begun;
        if (before != null) {
            before.end();
        }
        write(new McpMessage.Result(
                request.id(), methods.initialized(begun.peer().revision()).inSession()));
    }

    private void listen(McpMessage.Request request, McpPeer peer) {
        if (listens.size() >= MAX_LISTENS) {
            throw new McpException(
                    McpException.INVALID_REQUEST,
                    "too many open subscriptions (expected: at most " + MAX_LISTENS + ")");
        }
        if (listens.containsKey(request.id())) {
            throw new McpException(McpException.INVALID_REQUEST, "id: of a request that is not answered yet");
        }
        listens.put(request.id(), Subscription.listen(provider, caller, peer, request, this::write));
    }

    private void notified(McpMessage.Notification notification) {
        McpSession own = session;
        if (notification.method().equals("notifications/initialized") && own != null && changes == null) {
            changes = Subscription.ofSession(provider, caller, own::follows, this::write);
        }
        Object id = RequestModel.canceled(notification);
        if (id != null) {
            RunningCall call = calls.get(id);
            if (call != null) {
                call.cancel();
            }
            Subscription subscription = listens.remove(id);
            if (subscription != null) {
                subscription.close();
            }
        }
    }

    private void fail(@Nullable Object id, int code, String problem) {
        write(new McpMessage.Failure(id, new McpException(code, problem)));
    }

    private void write(McpMessage message) {
        byte[] bytes = message.bytes();
        writing.lock();
        try {
            out.write(bytes);
            out.write('\n');
            out.flush();
        } catch (IOException gone) {
            LOG.log(System.Logger.Level.DEBUG, "The client has closed its end", gone);
        } finally {
            writing.unlock();
        }
    }

    /** Ends all calls and subscriptions; {@link #run} returns when its input ends. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
                List.copyOf(calls.values()).forEach(RunningCall::cancel);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        threads.shutdownNow();
        listens.forEach((id, subscription) -> {
            if (listens.remove(id, subscription)) {
                subscription.close();
                write(Subscription.ended(id));
            }
        });
        Subscription all = changes;
        if (all != null) {
            all.close();
        }
        McpSession own = session;
        if (own != null) {
            own.end();
        }
    }
}
