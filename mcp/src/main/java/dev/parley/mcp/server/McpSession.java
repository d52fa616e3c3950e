package dev.parley.mcp.server;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.RequestModel;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ServerModel;
import dev.parley.mcp.wire.ServerModel.Initialize;
import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Connection of a client that began with {@code initialize}. Safe for any thread. */
final class McpSession implements RunningCall.Asker {
    static final int MAX_QUESTIONS = 64;
    static final int MAX_RESOURCES = 100;
    private static final int MAX_LEFT = 100;
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final String owner;
    private final Revision revision;
    private final Map<String, @Nullable Object> capabilities;
    private final Map<String, CompletableFuture<McpMessage>> questions = new ConcurrentHashMap<>();
    private final Map<Object, RunningCall> calls = new ConcurrentHashMap<>();
    /** Newest calls whose clients have left. */
    private final Map<Object, RunningCall> left = Collections.synchronizedMap(new LruMap<>(MAX_LEFT));

    private final Set<String> resources = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Outbox> stream = new AtomicReference<>();
    private final AtomicLong number = new AtomicLong();
    private volatile @Nullable String logLevel = "debug";

    McpSession(String owner, Revision revision, Map<String, @Nullable Object> capabilities) {
        this.owner = owner;
        this.revision = revision;
        this.capabilities = new LinkedHashMap<>(capabilities);
        this.capabilities.remove("extensions"); // those of sessions are others: tasks/get works without one only
    }

    /** The session that a request {@code initialize} begins: of the revision that it asks for, or else of the newest one with sessions. */
    static McpSession of(McpMessage.Request request, String owner) {
        Initialize params = RequestModel.read(ServerModel.INITIALIZE, request.params());
        Revision revision = Revision.of(params.protocolVersion())
                .filter(each -> !each.isStateless())
                .orElse(Revision.V2025_11_25);
        return new McpSession(owner, revision, params.capabilities());
    }

    String owner() {
        return owner;
    }

    McpPeer peer() {
        return new McpPeer(revision, capabilities, logLevel);
    }

    void logLevel(String level) {
        logLevel = level;
    }

    boolean follows(String uri) {
        return resources.contains(uri);
    }

    void follow(String uri) {
        if (resources.size() >= MAX_RESOURCES) {
            throw new McpException(
                    McpException.INVALID_REQUEST, "too many subscriptions (expected: at most " + MAX_RESOURCES + ")");
        }
        resources.add(uri);
    }

    void unfollow(String uri) {
        resources.remove(uri);
    }

    /** Makes an outbox the stream of the session; false if it has one. */
    boolean open(Outbox outbox) {
        return stream.compareAndSet(null, outbox);
    }

    void closed(Outbox outbox) {
        stream.compareAndSet(outbox, null);
    }

    void began(Object id, RunningCall call) {
        calls.put(id, call);
    }

    /** Keeps a call whose client has left, for its cancellation. */
    void left(Object id, RunningCall call) {
        left.put(id, call);
    }

    void ended(Object id, RunningCall call) {
        calls.remove(id, call);
    }

    /** Takes a notification of the client. */
    void notified(McpMessage.Notification notification) {
        Object id = RequestModel.canceled(notification);
        if (id != null) {
            Stream.of(calls, left)
                    .map(each -> each.get(id))
                    .filter(Objects::nonNull)
                    .forEach(RunningCall::cancel);
        }
    }

    /** Takes an answer to a question. One without a question is ignored. */
    void answered(Object id, McpMessage answer) {
        CompletableFuture<McpMessage> question = questions.remove(String.valueOf(id));
        if (question != null) {
            question.complete(answer);
        }
    }

    @Override
    public Map<String, InputResponse> ask(Map<String, InputRequest> asked, Consumer<McpMessage> out)
            throws InterruptedException {
        var waiting = new LinkedHashMap<String, CompletableFuture<McpMessage>>();
        var ids = new LinkedHashMap<String, String>();
        try {
            for (Map.Entry<String, InputRequest> each : asked.entrySet()) {
                if (questions.size() >= MAX_QUESTIONS) {
                    throw new McpException(McpException.INTERNAL_ERROR, "Too many questions wait for the client");
                }
                String id = "question-" + number.incrementAndGet();
                var answer = new CompletableFuture<McpMessage>();
                questions.put(id, answer);
                ids.put(each.getKey(), id);
                waiting.put(each.getKey(), answer);
                out.accept(new McpMessage.Request(
                        id, each.getValue().method(), each.getValue().params()));
            }
            var answers = new LinkedHashMap<String, InputResponse>();
            for (Map.Entry<String, CompletableFuture<McpMessage>> each : waiting.entrySet()) {
                answers.put(each.getKey(), response(each.getValue().get(PATIENCE.toSeconds(), TimeUnit.SECONDS)));
            }
            return answers;
        } catch (TimeoutException late) {
            throw new McpException(McpException.INTERNAL_ERROR, "The client has not answered a question in time");
        } catch (ExecutionException over) {
            throw new McpException(McpException.INTERNAL_ERROR, "The session has ended");
        } finally {
            ids.values().forEach(questions::remove);
        }
    }

    private static InputResponse response(McpMessage answer) {
        if (answer instanceof McpMessage.Result result) {
            return ResultModel.INPUT_RESPONSE.fromJson(result.result());
        }
        throw new McpException(
                McpException.INTERNAL_ERROR,
                "The client refused a question"
                        + (answer instanceof McpMessage.Failure failure
                                ? ": " + failure.error().getMessage()
                                : ""));
    }

    /** Ends the session: its stream, its calls, and what waits for an answer. */
    void end() {
        Outbox open = stream.getAndSet(null);
        if (open != null) {
            open.end();
        }
        calls.values().forEach(RunningCall::cancel);
        questions
                .values()
                .forEach(each -> each.completeExceptionally(new IllegalStateException("the session has ended")));
    }
}
