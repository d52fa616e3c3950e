package dev.parley.mcp.client;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.Tool;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Client of one MCP server. It finds out whether the server speaks the present revision, where each request stands for itself, or an
 * older one, which begins with {@code initialize}. Methods block, and give their request up if their thread is interrupted. Safe for any
 * thread.
 *
 * <p>Sampling and roots are not declared, so servers may not ask for them.
 */
public final class McpClient implements AutoCloseable {
    /** Receives reports about the progress of a call. */
    @FunctionalInterface
    public interface Progress {
        Progress NONE = (progress, total, message) -> {};

        void report(double progress, @Nullable Double total, @Nullable String message);
    }

    /**
     * Limits.
     *
     * @param discovery wait for the answer of a server that may be of the older era, and may not answer at all
     * @param request wait for an answer, other than that of a tool
     */
    public record Limits(Duration discovery, Duration request) {
        public static final Limits DEFAULT = new Limits(Duration.ofSeconds(15), Duration.ofSeconds(60));
    }

    /**
     * What a server says about itself.
     *
     * @param info with {@code name} and {@code version}
     */
    public record Server(
            Revision revision,
            Map<String, @Nullable Object> info,
            Map<String, @Nullable Object> capabilities,
            @Nullable String instructions) {}

    /** A list of tools and how long it may be kept; null if the server does not say. */
    public record Tools(List<Tool> tools, @Nullable Duration ttl) {}

    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");
    private static final String PARKED = "parked:";
    private static final int MOST_PAGES = 100;
    private static final int MOST_TOOLS = 10_000;
    private static final int LARGEST_TOOL = 256 * 1024;
    private static final int LARGEST_LIST = 8 * 1024 * 1024;
    private static final int MOST_ANSWERS = 100;
    private static final int MOST_PARKED = 1_000;
    private static final Duration LONGEST_PARKED = Duration.ofHours(1);
    private static final Duration LISTEN = Duration.ofHours(24);

    private static final Map<String, @Nullable Object> CAPABILITIES = Map.of(
            "elicitation", Map.of("form", Map.of(), "url", Map.of()), "extensions", Map.of(Meta.TASKS, Map.of()));

    private static final Map<String, @Nullable Object> LEGACY_CAPABILITIES =
            Map.of("elicitation", Map.of("form", Map.of(), "url", Map.of()));

    private static final Map<String, @Nullable Object> SELF = Map.of("name", "parley", "version", "1");

    private final Transport transport;
    private final Limits limits;
    private final AtomicLong ids = new AtomicLong();
    private final ReentrantLock connecting = new ReentrantLock();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final Map<String, List<HeaderValues.Param>> marks = new ConcurrentHashMap<>();
    private final Map<String, Parked> parked = new ConcurrentHashMap<>();
    /** Calls of a legacy server that it may ask the user about. */
    private final Map<Long, Exchange> calls = new ConcurrentHashMap<>();

    /** Answers to requests of the server under way. */
    private final Semaphore answers = new Semaphore(MOST_ANSWERS);

    private volatile @Nullable Server server;
    private volatile @Nullable Thread listening;
    private volatile boolean closed;

    /** A call of a legacy server that waits for the answer to a question of the server. */
    private record Parked(Exchange exchange, @Nullable Object question, Instant since) {}

    private McpClient(Transport transport, Limits limits) {
        this.transport = transport;
        this.limits = limits;
    }

    /**
     * Connects to a server, in its newest revision.
     *
     * @throws ServerFailure if it cannot be reached
     * @throws McpException if it refuses
     */
    public static McpClient connect(StdioTransport transport, Limits limits) throws InterruptedException {
        return connect(transport, limits, null);
    }

    /** As {@link #connect(StdioTransport, Limits)}. */
    public static McpClient connect(HttpTransport transport, Limits limits) throws InterruptedException {
        return connect(transport, limits, null);
    }

    /** @param revision without a search for another one; null to search */
    static McpClient connect(Transport transport, Limits limits, @Nullable Revision revision)
            throws InterruptedException {
        var client = new McpClient(transport, limits);
        boolean isConnected = false;
        try {
            transport.open(client::receive);
            client.connect(revision);
            isConnected = true;
            return client;
        } finally {
            if (!isConnected) {
                client.close();
            }
        }
    }

    private void connect(@Nullable Revision only) throws InterruptedException {
        if (only == null || only.isStateless()) {
            transport.revision(Revision.V2026_07_28);
            if (only != null || discover()) {
                if (server == null) {
                    server = new Server(Revision.V2026_07_28, Map.of(), Map.of(), null);
                }
                return;
            }
        }
        initialize(only == null ? Revision.V2025_11_25 : only);
    }

    /** @return false for a server of the older era */
    private boolean discover() throws InterruptedException {
        Map<String, @Nullable Object> found;
        try {
            found = discovered();
        } catch (McpException refused) {
            return isOfPresentEra(refused);
        } catch (ServerFailure failure) {
            boolean isSilent = failure.kind() == Kind.TIMEOUT;
            boolean isStatus = failure.getCause() instanceof HttpTransport.StatusFailure status
                    && status.status >= 400
                    && status.status < 500;
            if (isSilent || isStatus) {
                return false;
            }
            throw failure;
        }
        List<String> versions = Trees.texts(found, "supportedVersions");
        if (!versions.contains(Revision.V2026_07_28.text())) {
            return false;
        }
        Map<String, @Nullable Object> info = Trees.map(Trees.map(found, "_meta"), Meta.SERVER_INFO);
        server = new Server(
                Revision.V2026_07_28,
                info.isEmpty() ? Trees.map(found, "serverInfo") : info,
                Trees.map(found, "capabilities"),
                Trees.text(found, "instructions"));
        return true;
    }

    private Map<String, @Nullable Object> discovered() throws InterruptedException {
        try {
            return request("server/discover", Map.of(), limits.discovery(), Progress.NONE);
        } catch (McpException refused) {
            if (refused.code() == McpException.UNSUPPORTED_VERSION && isOfPresentEra(refused)) {
                return request("server/discover", Map.of(), limits.discovery(), Progress.NONE);
            }
            throw refused;
        }
    }

    /** Servers of the older era do not know the method, or refuse requests before {@code initialize}, with any code. */
    private static boolean isOfPresentEra(McpException refused) {
        return switch (refused.code()) {
            case McpException.UNSUPPORTED_VERSION ->
                Trees.texts(refused.data(), "supported").contains(Revision.V2026_07_28.text());
            case McpException.HEADER_MISMATCH, McpException.MISSING_CLIENT_CAPABILITY -> throw refused;
            default -> false;
        };
    }

    private void initialize(Revision wanted) throws InterruptedException {
        transport.revision(wanted);
        Map<String, @Nullable Object> answer = request(
                "initialize",
                Trees.members(
                        "protocolVersion", wanted.text(), "capabilities", LEGACY_CAPABILITIES, "clientInfo", SELF),
                limits.request(),
                Progress.NONE);
        String version = String.valueOf(answer.get("protocolVersion"));
        Revision revision = Revision.of(version)
                .filter(each -> !each.isStateless())
                .or(() -> version.equals("2025-03-26") || version.equals("2024-11-05")
                        ? Optional.of(Revision.V2025_06_18) // whose messages are the same as far as they are used here
                        : Optional.empty())
                .orElseThrow(() -> new ServerFailure(
                        Kind.INVALID_RESPONSE, "protocolVersion \"" + version + "\": unsupported by this client"));
        transport.revision(revision);
        server = new Server(
                revision,
                Trees.map(answer, "serverInfo"),
                Trees.map(answer, "capabilities"),
                Trees.text(answer, "instructions"));
        transport.send(Trees.members("jsonrpc", "2.0", "method", "notifications/initialized"));
        transport.follow();
    }

    /** What the server says about itself. */
    public Server server() {
        return requireNonNull(server, "not connected");
    }

    /** Tools of the server, in its order. Those with names or header marks that break the rules are left out. */
    public Tools tools() throws InterruptedException {
        var tools = new LinkedHashMap<String, Tool>();
        var cursors = new HashSet<String>();
        Duration ttl = null;
        String cursor = null;
        long size = 0;
        for (int pages = 0; pages < MOST_PAGES; pages++) {
            Map<String, @Nullable Object> page = request("tools/list", Trees.members("cursor", cursor));
            for (Map<String, @Nullable Object> each : Trees.maps(page, "tools")) {
                Optional<Tool> tool = tool(each);
                int length = JsonText.write(Codecs.STRUCT, each).length;
                if (tool.isPresent() && (length > LARGEST_TOOL || size + length > LARGEST_LIST)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "tool {0} is left out: too large",
                            tool.get().name());
                } else if (tool.isPresent()) {
                    size += length;
                    tools.putIfAbsent(tool.get().name(), tool.get());
                }
            }
            if (page.get("ttlMs") instanceof Number millis) {
                ttl = Duration.ofMillis(Math.max(0, millis.longValue()));
            }
            cursor = Trees.text(page, "nextCursor");
            if (cursor == null || !cursors.add(cursor) || tools.size() > MOST_TOOLS) {
                break;
            }
        }
        return new Tools(List.copyOf(tools.values()), ttl);
    }

    private Optional<Tool> tool(Map<String, @Nullable Object> json) {
        String name = Trees.text(json, "name");
        Map<String, @Nullable Object> schema = Trees.map(json, "inputSchema");
        if (name == null || !name.matches("[A-Za-z0-9_./-]{1,128}")) {
            return Optional.empty();
        }
        if (transport.hasHeaders() && server().revision().isStateless()) {
            try {
                marks.put(name, HeaderValues.params(schema));
            } catch (IllegalArgumentException invalid) {
                LOG.log(System.Logger.Level.WARNING, "tool " + name + " is left out", invalid);
                return Optional.empty();
            }
        }
        Map<String, @Nullable Object> annotations = Trees.map(json, "annotations");
        String title = Trees.text(json, "title");
        return Optional.of(new Tool(
                name,
                title == null ? Trees.text(annotations, "title") : title,
                Trees.text(json, "description"),
                schema,
                json.get("outputSchema") instanceof Map<?, ?> output ? Trees.map(output) : null,
                annotations));
    }

    /**
     * Calls a tool.
     *
     * @param limit wait for the answer
     * @throws McpException for an error of the protocol
     * @throws ServerFailure without an answer; the tool may have run
     */
    public Outcome call(Invocation call, Duration limit, Progress progress) throws InterruptedException {
        String state = call.state();
        if (state != null && state.startsWith(PARKED)) {
            return resume(state.substring(PARKED.length()), call, limit, progress);
        }
        Map<String, @Nullable Object> params = Trees.members(
                "name",
                call.name(),
                "arguments",
                call.arguments(),
                "inputResponses",
                call.answers().isEmpty() ? null : call.answers(),
                "requestState",
                state,
                "_meta",
                call.meta().isEmpty() ? null : call.meta());
        try {
            return outcome(begin("tools/call", params), limit, progress);
        } catch (ServerFailure failure) {
            if (failure.kind() != Kind.SESSION_ENDED) {
                throw failure;
            }
            connectAgain();
            return outcome(begin("tools/call", params), limit, progress);
        }
    }

    private Outcome resume(String id, Invocation call, Duration limit, Progress progress) throws InterruptedException {
        Parked waiting = parked.remove(id);
        if (waiting == null) {
            throw new ServerFailure(Kind.SESSION_ENDED, "the call does not wait for an answer any more");
        }
        Map<String, @Nullable Object> answer =
                call.answers().values().stream().findFirst().orElse(Trees.members("action", "cancel"));
        calls.put(waiting.exchange.id(), waiting.exchange);
        transport.send(Trees.members("jsonrpc", "2.0", "id", waiting.question, "result", answer));
        return outcome(waiting.exchange, limit, progress);
    }

    /** Waits for the end of a call, or for a question of a legacy server. */
    private Outcome outcome(Exchange exchange, Duration limit, Progress progress) throws InterruptedException {
        if (!server().revision().isStateless()) {
            calls.put(exchange.id(), exchange);
        }
        boolean isParked = false;
        try {
            Map<String, @Nullable Object> message = await(exchange, limit, progress);
            if (message.containsKey("method")) {
                isParked = true;
                return park(exchange, message);
            }
            Map<String, @Nullable Object> result = result(message);
            return switch (String.valueOf(result.getOrDefault("resultType", "complete"))) {
                case "complete" -> new Outcome.Complete(result);
                case "task" -> new Outcome.Begun(result);
                case "input_required" -> new Outcome.Questions(requests(result), Trees.text(result, "requestState"));
                default ->
                    throw new ServerFailure(
                            Kind.INVALID_RESPONSE, "resultType \"" + result.get("resultType") + "\": unknown");
            };
        } finally {
            calls.remove(exchange.id());
            if (!isParked) {
                exchange.close();
            }
        }
    }

    private static Map<String, Map<String, @Nullable Object>> requests(Map<String, @Nullable Object> result) {
        var requests = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        Trees.map(result, "inputRequests").forEach((key, request) -> requests.put(key, Trees.map(request)));
        return requests;
    }

    private Outcome park(Exchange exchange, Map<String, @Nullable Object> question) {
        Instant now = Instant.now();
        parked.values().removeIf(each -> {
            boolean isOld = each.since.plus(LONGEST_PARKED).isBefore(now) || parked.size() >= MOST_PARKED;
            if (isOld) {
                abandon(each.exchange, "no answer to a question in time");
            }
            return isOld;
        });
        String id = String.valueOf(exchange.id());
        parked.put(id, new Parked(exchange, question.get("id"), now));
        Map<String, @Nullable Object> request =
                Trees.members("method", question.get("method"), "params", question.get("params"));
        return new Outcome.Questions(Map.of("question", request), PARKED + id);
    }

    /** Gives up a call that waits for the answer to a question. */
    public void abandon(String state) {
        Parked waiting = state.startsWith(PARKED) ? parked.remove(state.substring(PARKED.length())) : null;
        if (waiting != null) {
            abandon(waiting.exchange, "canceled");
        }
    }

    /** A task. Source: SEP-2663. */
    public Map<String, @Nullable Object> task(String taskId) throws InterruptedException {
        return request("tasks/get", Trees.members("taskId", taskId));
    }

    /** Answers questions of a task. */
    public void update(String taskId, Map<String, Map<String, @Nullable Object>> answers) throws InterruptedException {
        request("tasks/update", Trees.members("taskId", taskId, "inputResponses", answers));
    }

    public void cancel(String taskId) throws InterruptedException {
        request("tasks/cancel", Trees.members("taskId", taskId));
    }

    /** Any other request, such as {@code resources/read}. */
    public Map<String, @Nullable Object> request(String method, Map<String, @Nullable Object> params)
            throws InterruptedException {
        try {
            return request(method, params, limits.request(), Progress.NONE);
        } catch (ServerFailure failure) {
            if (failure.kind() != Kind.SESSION_ENDED) {
                throw failure;
            }
            connectAgain();
            return request(method, params, limits.request(), Progress.NONE);
        }
    }

    @SuppressWarnings("ReferenceEquality") // another thread may have connected to an equal server meanwhile
    private void connectAgain() throws InterruptedException {
        Server before = server();
        connecting.lockInterruptibly();
        try {
            if (server == before) {
                initialize(before.revision());
            }
        } finally {
            connecting.unlock();
        }
    }

    /**
     * Calls {@code listener} with {@code tools}, {@code prompts}, or {@code resources} when such a list has changed. Closing the client
     * removes it.
     */
    public void onChange(Consumer<String> listener) {
        listeners.add(listener);
        boolean reports =
                Boolean.TRUE.equals(Trees.map(server().capabilities(), "tools").get("listChanged"));
        if (server().revision().isStateless() && reports && listening == null) {
            listening = Thread.ofVirtual().name("mcp-listen").start(this::listen);
        }
    }

    private void listen() {
        try {
            Exchange exchange = begin(
                    "subscriptions/listen", Trees.members("notifications", Trees.members("toolsListChanged", true)));
            try {
                while (!closed) {
                    Map<String, @Nullable Object> message = exchange.next(LISTEN);
                    if (!message.containsKey("method")) {
                        break;
                    }
                    receive(message);
                }
            } finally {
                exchange.close();
            }
        } catch (ServerFailure | McpException broken) {
            LOG.log(System.Logger.Level.DEBUG, "the server does not report changes", broken);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        listening = null; // the list is read again when its time is over
    }

    private Map<String, @Nullable Object> request(
            String method, Map<String, @Nullable Object> params, Duration limit, Progress progress)
            throws InterruptedException {
        Exchange exchange = begin(method, params);
        try {
            return result(await(exchange, limit, progress));
        } finally {
            exchange.close();
        }
    }

    private Exchange begin(String method, Map<String, @Nullable Object> given) {
        var exchange = new Exchange(ids.incrementAndGet());
        var params = new LinkedHashMap<>(given);
        var meta = new LinkedHashMap<>(Trees.map(given, "_meta"));
        Server known = server;
        boolean isStateless =
                known == null ? !method.equals("initialize") : known.revision().isStateless();
        if (isStateless) {
            meta.put(Meta.PROTOCOL_VERSION, Revision.V2026_07_28.text());
            meta.put(Meta.CLIENT_CAPABILITIES, CAPABILITIES);
            meta.put(Meta.CLIENT_INFO, SELF);
        }
        if (method.equals("tools/call")) {
            meta.put(Meta.PROGRESS_TOKEN, exchange.id());
        }
        if (!meta.isEmpty()) {
            params.put("_meta", meta);
        }
        Map<String, @Nullable Object> request =
                Trees.members("jsonrpc", "2.0", "id", exchange.id(), "method", method, "params", params);
        Map<String, String> headers = standardHeaders(request, isStateless ? Revision.V2026_07_28 : null);
        if (isStateless && method.equals("tools/call")) {
            headers = withArguments(headers, String.valueOf(given.get("name")), Trees.map(given, "arguments"));
        }
        transport.begin(exchange, request, headers);
        return exchange;
    }

    private Map<String, String> withArguments(
            Map<String, String> headers, String tool, Map<String, @Nullable Object> arguments) {
        var all = new LinkedHashMap<>(headers);
        for (HeaderValues.Param param : marks.getOrDefault(tool, List.of())) {
            param.in(arguments).ifPresent(value -> all.put(param.header(), HeaderValues.encode(value.toString())));
        }
        return all;
    }

    /** Headers that repeat members of a message, for the present revision. */
    static Map<String, String> standardHeaders(Map<String, @Nullable Object> message, @Nullable Revision revision) {
        if (revision == null || !revision.isStateless() || !(message.get("method") instanceof String method)) {
            return Map.of();
        }
        var headers = new LinkedHashMap<String, String>();
        headers.put(HeaderValues.METHOD, method);
        Map<String, @Nullable Object> params = Trees.map(message, "params");
        Object name = switch (method) {
            case "tools/call", "prompts/get" -> params.get("name");
            case "resources/read" -> params.get("uri");
            case "tasks/get", "tasks/update", "tasks/cancel" -> params.get("taskId");
            default -> null;
        };
        if (name != null) {
            headers.put(HeaderValues.NAME, HeaderValues.encode(name.toString()));
        }
        return headers;
    }

    /** Waits for the answer, or for a question of the server; reports progress until then. */
    private Map<String, @Nullable Object> await(Exchange exchange, Duration limit, Progress progress)
            throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        double reached = Double.NEGATIVE_INFINITY;
        while (true) {
            Map<String, @Nullable Object> message;
            try {
                long rest = end - System.nanoTime();
                if (rest <= 0) { // also while notifications go on
                    throw new ServerFailure(Kind.TIMEOUT, "no answer in time");
                }
                message = exchange.next(Duration.ofNanos(rest));
            } catch (InterruptedException stop) {
                abandon(exchange, "canceled");
                throw stop;
            } catch (ServerFailure failure) {
                if (failure.kind() == Kind.TIMEOUT) {
                    abandon(exchange, "no answer in time");
                }
                throw failure;
            }
            Object method = message.get("method");
            if (method == null) {
                return message;
            }
            Map<String, @Nullable Object> params = Trees.map(message, "params");
            if ("notifications/progress".equals(method)) {
                if (params.get("progress") instanceof Number amount && amount.doubleValue() > reached) {
                    reached = amount.doubleValue();
                    Double total = params.get("total") instanceof Number number ? number.doubleValue() : null;
                    progress.report(reached, total, Trees.text(params, "message"));
                }
            } else if (method.equals("elicitation/create") && calls.containsKey(exchange.id())) {
                return message;
            } else {
                receive(message);
            }
        }
    }

    private void abandon(Exchange exchange, String reason) {
        Server known = server;
        if (known != null && transport.cancelsByNotification(known.revision())) {
            // On its own thread, because the calling one may be interrupted.
            Thread.ofVirtual().name("mcp-cancel").start(() -> {
                try {
                    transport.send(Trees.members(
                            "jsonrpc",
                            "2.0",
                            "method",
                            "notifications/cancelled",
                            "params",
                            Trees.members("requestId", exchange.id(), "reason", reason)));
                } catch (ServerFailure gone) {
                    LOG.log(System.Logger.Level.DEBUG, "a request cannot be canceled", gone);
                } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        exchange.close();
    }

    private static Map<String, @Nullable Object> result(Map<String, @Nullable Object> message) {
        if (message.get("error") instanceof Map<?, ?> map) {
            Map<String, @Nullable Object> error = Trees.map(map);
            String text = Trees.text(error, "message");
            throw new McpException(
                    (int) Trees.number(error, "code", McpException.INTERNAL_ERROR),
                    text == null ? "error without a message" : text,
                    Trees.map(error, "data"));
        }
        if (!(message.get("result") instanceof Map<?, ?> result)) {
            throw new ServerFailure(Kind.INVALID_RESPONSE, "the answer has neither result nor error");
        }
        return Trees.map(result);
    }

    /** Handles a message that belongs to no request. */
    private void receive(Map<String, @Nullable Object> message) {
        if (!(message.get("method") instanceof String method)) {
            return; // the answer to a request that was given up
        }
        if (message.containsKey("id")) {
            asked(method, message);
        } else if (method.startsWith("notifications/") && method.endsWith("/list_changed")) {
            String list = method.substring("notifications/".length(), method.length() - "/list_changed".length());
            listeners.forEach(listener -> listener.accept(list));
        } else if (method.equals("notifications/subscriptions/acknowledged")) {
            listeners.forEach(listener -> listener.accept("tools")); // the server did not report earlier changes
        }
    }

    /** Answers a request of a legacy server. Over stdio nothing tells to which call it belongs, so only a single call gets questions. */
    private void asked(String method, Map<String, @Nullable Object> message) {
        Map<String, @Nullable Object> answer;
        if (method.equals("ping")) {
            answer = Trees.members("jsonrpc", "2.0", "id", message.get("id"), "result", Map.of());
        } else if (method.equals("elicitation/create")) {
            var running = new ArrayList<>(calls.values());
            if (running.size() == 1 && parked.isEmpty()) {
                running.getFirst().offer(message);
                return;
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a question is canceled: {0} calls may have led to it",
                    running.size());
            answer = Trees.members("jsonrpc", "2.0", "id", message.get("id"), "result", Map.of("action", "cancel"));
        } else {
            answer = Trees.members(
                    "jsonrpc",
                    "2.0",
                    "id",
                    message.get("id"),
                    "error",
                    Trees.members("code", McpException.METHOD_NOT_FOUND, "message", method + ": unsupported"));
        }
        if (!answers.tryAcquire()) {
            LOG.log(System.Logger.Level.DEBUG, "{0} of the server gets no answer: too many requests", method);
            return;
        }
        Thread.ofVirtual().name("mcp-answer").start(() -> {
            try {
                transport.send(answer);
            } catch (ServerFailure gone) {
                LOG.log(System.Logger.Level.DEBUG, "an answer cannot be sent", gone);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            } finally {
                answers.release();
            }
        });
    }

    /** Gives up all requests, and ends the session or the process. Idempotent. */
    @Override
    public void close() {
        closed = true;
        Thread listener = listening;
        if (listener != null) {
            listener.interrupt();
        }
        parked.values().forEach(each -> each.exchange.close());
        parked.clear();
        transport.close();
    }
}
