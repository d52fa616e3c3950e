package dev.parley.mcp.client;

import dev.parley.mcp.McpException;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ServerModel;
import dev.parley.mcp.wire.Trees;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a server: requests of the client with their answers, and requests of the server. Another one replaces it if the server
 * loses the session, or refuses the revision. Safe for any thread.
 */
final class McpConnection {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");
    private static final String LIST_CHANGED = "/list_changed";
    private static final int MOST_ANSWERS = 100;
    private static final int LARGEST_STEP = 1_000_000;
    private static final Map<String, @Nullable Object> ELICITATION = Map.of("form", Map.of(), "url", Map.of());
    private static final Map<String, @Nullable Object> CAPABILITIES =
            Map.of("elicitation", ELICITATION, "extensions", Map.of(Meta.TASKS, Map.of()));

    static final Map<String, @Nullable Object> LEGACY_CAPABILITIES = Map.of("elicitation", ELICITATION);
    static final ServerInfo SELF = ServerInfo.of("parley", "1");

    final McpTransport transport;
    private final AtomicLong ids;
    private final Consumer<String> changes;
    final QuestionRouter questions;
    /** Answers to open requests of the server. */
    private final Semaphore answers = new Semaphore(MOST_ANSWERS);

    private volatile Revision revision = Revision.V2026_07_28;
    private volatile boolean reportsChanges;
    private volatile boolean isOpen;

    /**
     * @param ids of requests
     * @param changes takes the names of lists that have changed
     */
    McpConnection(McpTransport transport, AtomicLong ids, Consumer<String> changes) {
        this.transport = transport;
        this.ids = ids;
        this.changes = changes;
        this.questions = new QuestionRouter(
                !transport.hasHeaders(), question -> refuse(question, "several calls may have asked it"));
        transport.open(this::receive);
    }

    /** Sets the revision of the following messages. */
    void revision(Revision found) {
        revision = found;
        transport.revision(found);
    }

    Revision revision() {
        return revision;
    }

    boolean isStateless() {
        return revision.isStateless();
    }

    /** Takes over what a server says about itself. */
    void described(Map<String, @Nullable Object> description) {
        Map<String, @Nullable Object> tools = Trees.map(Trees.map(description, "capabilities"), "tools");
        reportsChanges = Boolean.TRUE.equals(tools.get("listChanged"));
    }

    /** Whether the server reports changes of its tools. */
    boolean reportsChanges() {
        return reportsChanges;
    }

    /** From now on, requests that are given up are canceled. */
    void opened() {
        isOpen = true;
    }

    /** Makes a request, and waits for its result. */
    Map<String, @Nullable Object> request(String method, Map<String, @Nullable Object> params, Duration limit)
            throws InterruptedException {
        var exchange = exchange();
        try {
            begin(exchange, method, params, Map.of());
            return result(await(exchange, limit, Progress.NONE, false));
        } finally {
            exchange.close();
        }
    }

    /** An exchange with an id that the server cannot know before, so that a surplus answer is not that of a later request. */
    ClientExchange exchange() {
        return new ClientExchange(ids.addAndGet(1 + ThreadLocalRandom.current().nextInt(LARGEST_STEP)));
    }

    /** Begins a request. */
    void begin(
            ClientExchange exchange, String method, Map<String, @Nullable Object> given, Map<String, String> headers) {
        var params = new LinkedHashMap<>(given);
        var meta = new LinkedHashMap<>(Trees.map(given, "_meta"));
        if (isStateless()) {
            meta.put(Meta.PROTOCOL_VERSION, revision.text());
            meta.put(Meta.CLIENT_CAPABILITIES, CAPABILITIES);
            meta.put(Meta.CLIENT_INFO, Trees.of(ServerModel.INFO, SELF));
        }
        if (method.equals("tools/call")) {
            meta.put(Meta.PROGRESS_TOKEN, exchange.id());
        }
        if (!meta.isEmpty()) {
            params.put("_meta", meta);
        }
        var request = new McpMessage.Request(exchange.id(), method, params);
        var all = new LinkedHashMap<>(HeaderValues.standard(request, revision));
        all.putAll(headers);
        transport.begin(exchange, request, all);
    }

    /**
     * Waits for the answer, or for a question of the server; reports progress until then. Before the connection is open, a request without
     * an answer in time stays open until its exchange is closed.
     *
     * @param mayAsk whether the server may ask about the request
     */
    Map<String, @Nullable Object> await(ClientExchange exchange, Duration limit, Progress progress, boolean mayAsk)
            throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        double reached = Double.NEGATIVE_INFINITY;
        while (true) {
            Map<String, @Nullable Object> message = next(exchange, end - System.nanoTime());
            String method = Trees.text(message, "method");
            if (method == null) {
                return message;
            }
            if (method.equals("notifications/progress")) {
                Map<String, @Nullable Object> params = Trees.map(message, "params");
                if (params.get("progress") instanceof Number amount && amount.doubleValue() > reached) {
                    reached = amount.doubleValue();
                    Double total = params.get("total") instanceof Number number ? number.doubleValue() : null;
                    progress.report(reached, total, Trees.text(params, "message"));
                }
            } else if (!method.equals(Elicitation.METHOD)) {
                receive(message);
            } else if (mayAsk && !isStateless()) {
                return message;
            } else {
                refuse(message, "the request is not one for which the server may ask the user");
            }
        }
    }

    /** The next message of a request, which is given up if there is none in time and the connection is open. */
    private Map<String, @Nullable Object> next(ClientExchange exchange, long nanos) throws InterruptedException {
        try {
            if (nanos <= 0) { // also while notifications go on
                throw new ServerFailure(Kind.TIMEOUT, "no answer in time");
            }
            return exchange.next(Duration.ofNanos(nanos));
        } catch (InterruptedException stop) {
            abandon(exchange, "canceled");
            throw stop;
        } catch (ServerFailure failure) {
            if (isOpen && (failure.kind() == Kind.TIMEOUT || failure.kind() == Kind.INVALID_RESPONSE)) {
                abandon(exchange, String.valueOf(failure.getMessage()));
            }
            throw failure;
        }
    }

    /** Gives a request up. */
    void abandon(ClientExchange exchange, String reason) {
        if (isOpen && transport.cancelsByNotification(revision)) {
            // On its own thread, because the calling one may be interrupted.
            var canceled = new McpMessage.Notification(
                    "notifications/cancelled", Trees.with(Map.of("requestId", exchange.id()), "reason", reason));
            Thread.ofVirtual().name("mcp-cancel").start(() -> send(canceled));
        }
        exchange.close();
    }

    /** Returns the result of an answer. */
    static Map<String, @Nullable Object> result(Map<String, @Nullable Object> message) {
        if (message.get("error") instanceof Map<?, ?> error) {
            McpException problem = McpMessage.error(Trees.map(error));
            throw String.valueOf(problem.getMessage()).isEmpty()
                    ? new McpException(problem.code(), "error without a message", problem.data())
                    : problem;
        }
        if (!(message.get("result") instanceof Map<?, ?> result)) {
            throw new ServerFailure(Kind.INVALID_RESPONSE, "the answer has neither result nor error");
        }
        return Trees.map(result);
    }

    /** Handles a message that belongs to no request. */
    void receive(Map<String, @Nullable Object> message) {
        if (!(message.get("method") instanceof String method)) {
            return; // the answer to a request that was given up
        }
        if (message.containsKey("id")) {
            asked(method, message);
        } else if (method.equals("notifications/subscriptions/acknowledged")) {
            changes.accept("tools"); // the server did not report earlier changes
        } else if (isChange(message)) {
            changes.accept(method.substring("notifications/".length(), method.length() - LIST_CHANGED.length()));
        }
    }

    /** Whether a message says that a list has changed. */
    static boolean isChange(Map<String, @Nullable Object> message) {
        return message.get("method") instanceof String method
                && method.startsWith("notifications/")
                && method.endsWith(LIST_CHANGED);
    }

    /** Answers a request of a legacy server, or passes its question on. */
    private void asked(String method, Map<String, @Nullable Object> message) {
        Object id = message.get("id");
        if (method.equals(Elicitation.METHOD)) {
            questions.question(message);
        } else if (id != null) {
            answer(
                    method.equals("ping")
                            ? new McpMessage.Result(id, Map.of())
                            : new McpMessage.Failure(
                                    id, new McpException(McpException.METHOD_NOT_FOUND, method + ": unsupported")));
        }
    }

    /** Refuses a question with an error. The user is not asked, so the refusal is not an answer of the user. */
    private void refuse(Map<String, @Nullable Object> question, String problem) {
        LOG.log(Level.WARNING, "a question of an MCP server is refused: {0}", problem);
        answer(new McpMessage.Failure(
                question.get("id"),
                new McpException(McpException.INTERNAL_ERROR, "the question is not passed on: " + problem)));
    }

    private void answer(McpMessage answer) {
        if (!answers.tryAcquire()) {
            LOG.log(Level.DEBUG, "a request of the server gets no answer: too many requests");
            return;
        }
        Thread.ofVirtual().name("mcp-answer").start(() -> {
            try {
                send(answer);
            } finally {
                answers.release();
            }
        });
    }

    private void send(McpMessage message) {
        try {
            transport.send(message);
        } catch (ServerFailure gone) {
            LOG.log(Level.DEBUG, "a message cannot be sent", gone);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    void close() {
        isOpen = false;
        transport.close();
    }
}
