package dev.parley.mcp.client;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.McpTask;
import dev.parley.mcp.ResourceContent;
import dev.parley.mcp.client.ParkedCalls.Parked;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ToolModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Client of one MCP server. It finds out whether the server speaks the present revision, where each request stands for itself, or an
 * older one, which begins with {@code initialize}. Methods block, and give their request up if their thread is interrupted. Safe for any
 * thread.
 *
 * <p>Sampling and roots are not declared, so servers may not ask for them.
 */
public final class McpClient implements AutoCloseable {
    /**
     * Limits.
     *
     * @param discovery wait for the answer of a server that may be of the older era, and may not answer at all
     * @param request wait for an answer, other than that of a tool
     */
    public record Limits(Duration discovery, Duration request) {
        public static final Limits DEFAULT = new Limits(Duration.ofSeconds(15), Duration.ofSeconds(60));
    }

    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");
    private final Supplier<? extends McpTransport> transports;
    private final Limits limits;
    private final @Nullable Revision pinned;
    private final AtomicLong ids = new AtomicLong();
    private final ReentrantLock connecting = new ReentrantLock();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final ToolList tools = new ToolList();
    private final ParkedCalls parked = new ParkedCalls();
    private final ChangeListener changes = new ChangeListener(this::connection);

    private volatile @Nullable McpConnection connection;
    private volatile boolean closed;

    private McpClient(Supplier<? extends McpTransport> transports, Limits limits, @Nullable Revision pinned) {
        this.transports = transports;
        this.limits = limits;
        this.pinned = pinned;
    }

    /**
     * Connects to a server, in its newest revision.
     *
     * @param transports makes the first transport, and others if the server loses the session or refuses the revision
     * @param pinned the only revision that is offered; null to search
     * @throws ServerFailure if it cannot be reached
     * @throws McpException if it refuses
     */
    public static McpClient connect(
            Supplier<? extends McpTransport> transports, Limits limits, @Nullable Revision pinned)
            throws InterruptedException {
        var client = new McpClient(transports, limits, pinned);
        client.adopt(client.connected(pinned == null ? Revision.V2026_07_28 : pinned));
        return client;
    }

    /** @param newest revision to begin with; older ones follow unless the revision is pinned */
    private McpConnection connected(Revision newest) throws InterruptedException {
        var made = new McpConnection(transports.get(), ids, this::changed);
        boolean isConnected = false;
        try {
            new Handshake(made, limits.discovery(), limits.request(), pinned).run(newest);
            isConnected = true;
            return made;
        } finally {
            if (!isConnected) {
                made.close();
            }
        }
    }

    private void adopt(McpConnection made) {
        connection = made;
        made.opened();
    }

    private void changed(String list) {
        listeners.forEach(listener -> listener.accept(list));
    }

    private McpConnection connection() {
        return requireNonNull(connection, "not connected");
    }

    public Revision revision() {
        return connection().revision();
    }

    /** Tools of the server, in its order. Those with names or header marks that break the rules are left out. */
    public ToolPage tools() throws InterruptedException {
        return tools.read(
                params -> request("tools/list", params),
                () -> connection().transport.hasHeaders() && connection().isStateless());
    }

    /**
     * Calls a tool.
     *
     * @param limit wait for the answer
     * @throws McpException for an error of the protocol
     * @throws ServerFailure without an answer; the tool may have run
     */
    public Outcome<CallResult> call(Invocation call, Duration limit, Progress progress) throws InterruptedException {
        String state = call.state();
        return state != null && ParkedCalls.isOne(state)
                ? resume(state, call, limit, progress)
                : repeatable(held -> called(held, call, limit, progress));
    }

    private Outcome<CallResult> called(McpConnection held, Invocation call, Duration limit, Progress progress)
            throws InterruptedException {
        var exchange = held.exchange();
        Map<String, @Nullable Object> params = Trees.of(ToolModel.CALL, call);
        if (held.isStateless()) {
            held.begin(exchange, "tools/call", params, tools.headers(call.name(), call.arguments()));
            return outcome(held, exchange, call.name(), limit, progress);
        }
        long begun = System.nanoTime();
        held.questions.enter(exchange, call.name(), limit);
        held.begin(exchange, "tools/call", params, Map.of());
        return outcome(held, exchange, call.name(), limit.minusNanos(System.nanoTime() - begun), progress);
    }

    private Outcome<CallResult> resume(String state, Invocation call, Duration limit, Progress progress)
            throws InterruptedException {
        Parked waiting = parked.take(state)
                .orElseThrow(
                        () -> new ServerFailure(Kind.SESSION_ENDED, "the call does not wait for an answer any more"));
        InputResponse answer =
                call.answers().values().stream().findFirst().orElse(InputResponse.of(InputResponse.CANCEL));
        McpConnection held = waiting.connection();
        boolean isSent = false;
        try {
            held.questions.enter(waiting.exchange(), waiting.tool(), limit);
            held.transport.send(
                    new McpMessage.Result(waiting.question(), Trees.of(ResultModel.INPUT_RESPONSE, answer)));
            isSent = true;
        } finally {
            if (!isSent) {
                waiting.giveUp("the answer to a question could not be sent");
            }
        }
        return outcome(held, waiting.exchange(), waiting.tool(), limit, progress);
    }

    /** Waits for the end of a call, or for a question of a legacy server. */
    private Outcome<CallResult> outcome(
            McpConnection held, ClientExchange exchange, String tool, Duration limit, Progress progress)
            throws InterruptedException {
        boolean isParked = false;
        boolean isAnswered = false;
        try {
            Map<String, @Nullable Object> message = held.await(exchange, limit, progress, true);
            if (!Incoming.isAnswer(message)) {
                isParked = true;
                held.questions.asked(exchange);
                return park(held, exchange, tool, message);
            }
            isAnswered = true;
            Map<String, @Nullable Object> result = McpConnection.result(message);
            return switch (String.valueOf(result.getOrDefault("resultType", "complete"))) {
                case "complete" -> new Outcome.Complete<>(ResultModel.call(result));
                case "task" -> new Outcome.Begun<>(ResultModel.TASK.fromJson(result));
                case "input_required" -> new Outcome.Questions<>(requests(result), Trees.text(result, "requestState"));
                default ->
                    throw new ServerFailure(
                            Kind.INVALID_RESPONSE, "resultType \"" + result.get("resultType") + "\": unknown");
            };
        } finally {
            if (!isParked) {
                held.questions.leave(exchange, isAnswered);
                exchange.close();
            }
        }
    }

    private static Map<String, InputRequest> requests(Map<String, @Nullable Object> result) {
        Map<String, @Nullable Object> asked = Trees.map(result, "inputRequests");
        if (!asked.values().stream().allMatch(Map.class::isInstance)) {
            throw new ServerFailure(Kind.INVALID_RESPONSE, "inputRequests: (expected: an object of objects)");
        }
        return ResultModel.INPUT_REQUESTS.fromJson(asked);
    }

    private Outcome<CallResult> park(
            McpConnection held, ClientExchange exchange, String tool, Map<String, @Nullable Object> question) {
        Object id = requireNonNullElse(question.get("id"), Codecs.NULL);
        String state = parked.add(new Parked(held, exchange, tool, id, Instant.now()));
        return new Outcome.Questions<>(Map.of("question", ResultModel.INPUT_REQUEST.fromJson(question)), state);
    }

    /** Whether a state is one of a call that is open at the client that has made it; false for one of the server, and for null. */
    public static boolean isHeld(@Nullable String state) {
        return ParkedCalls.isOne(state);
    }

    /** Gives up a call that waits for the answer to a question. */
    public void abandon(String state) {
        parked.take(state).ifPresent(waiting -> waiting.giveUp("canceled"));
    }

    /** A task. Source: SEP-2663. */
    public McpTask task(String taskId) throws InterruptedException {
        return ResultModel.TASK.fromJson(request("tasks/get", Map.of("taskId", taskId)));
    }

    /** Answers questions of a task. */
    public void update(String taskId, Map<String, InputResponse> answers) throws InterruptedException {
        request(
                "tasks/update",
                Trees.with(Map.of("taskId", taskId), "inputResponses", ResultModel.INPUT_RESPONSES.toJson(answers)));
    }

    public void cancel(String taskId) throws InterruptedException {
        request("tasks/cancel", Map.of("taskId", taskId));
    }

    /** Reads a resource. */
    public List<ResourceContent> read(String uri) throws InterruptedException {
        return ResultModel.contents(request("resources/read", Map.of("uri", uri)));
    }

    /** Any other request, such as {@code prompts/get}. */
    public Map<String, @Nullable Object> request(String method, Map<String, @Nullable Object> params)
            throws InterruptedException {
        return repeatable(held -> held.request(method, params, limits.request()));
    }

    /** A request at a connection. */
    @FunctionalInterface
    private interface Call<T> {
        T at(McpConnection connection) throws InterruptedException;
    }

    /** Makes a request, and once more with another connection if the server has lost the session or refuses the revision. */
    private <T> T repeatable(Call<T> call) throws InterruptedException {
        McpConnection before = connection();
        RuntimeException refusal;
        boolean isRevision = false;
        try {
            T answer = call.at(before);
            if (!before.isStateless() || pinned != null || !asksInOlderOnly(answer)) {
                return answer;
            }
            isRevision = true;
            refusal = new ServerFailure(Kind.INVALID_RESPONSE, "the server asks in older revisions only");
        } catch (ServerFailure failure) {
            if (failure.kind() != Kind.SESSION_ENDED) {
                throw failure;
            }
            refusal = failure;
        } catch (McpException refused) {
            isRevision = before.isStateless()
                    && pinned == null
                    && (refused.code() == McpException.UNSUPPORTED_VERSION && !Handshake.supportsPresent(refused)
                            || namesQuestion(String.valueOf(refused.getMessage())));
            if (!isRevision) {
                throw refused;
            }
            refusal = refused;
        }
        LOG.log(System.Logger.Level.INFO, "MCP connection begins anew: {0}", refusal.getMessage());
        connectAgain(before, isRevision ? Revision.V2025_11_25 : Revision.V2026_07_28);
        return call.at(connection());
    }

    /** Some servers that speak the present revision have tools that ask as in the older ones, which fails. */
    private static boolean asksInOlderOnly(Object answer) {
        return answer instanceof Outcome.Complete<?>(CallResult result)
                && result.isFailure()
                && result.content().stream()
                        .anyMatch(each -> each instanceof Content.Text text && namesQuestion(text.text()));
    }

    private static boolean namesQuestion(String error) {
        return error.contains(Elicitation.METHOD);
    }

    @SuppressWarnings("ReferenceEquality") // another thread may have made an equal connection meanwhile
    private void connectAgain(McpConnection before, Revision newest) throws InterruptedException {
        connecting.lockInterruptibly();
        try {
            if (connection != before) {
                return;
            }
            McpConnection next = connected(pinned == null ? newest : pinned);
            adopt(next);
            Thread.ofVirtual().name("mcp-close").start(before::close); // a process has time to end
            if (closed) {
                next.close();
            }
        } finally {
            connecting.unlock();
        }
        changed("tools"); // it may be another program by now
    }

    /**
     * Calls {@code listener} with {@code tools}, {@code prompts}, or {@code resources} when such a list has changed. Closing the client
     * removes it.
     */
    public void onChange(Consumer<String> listener) {
        listeners.add(listener);
        if (connection().isStateless() && connection().reportsChanges()) {
            changes.begin();
        }
    }

    /** Gives up all requests, and ends the session or the process. Idempotent. */
    @Override
    public void close() {
        closed = true;
        changes.close();
        parked.close();
        McpConnection held = connection;
        if (held != null) {
            held.close();
        }
    }
}
