package dev.parley.mcp.client;

import static java.util.Objects.requireNonNull;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.ResourceContent;
import dev.parley.mcp.Tool;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
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
    private static final String ELICITATION = "elicitation/create";
    private static final String LIST_CHANGED = "/list_changed";
    private static final int MOST_PAGES = 100;
    private static final int MOST_TOOLS = 10_000;
    private static final int LARGEST_TOOL = 256 * 1024;
    private static final int LARGEST_LIST = 8 * 1024 * 1024;
    private static final int MOST_ANSWERS = 100;
    private static final int MOST_PARKED = 1_000;
    private static final Duration LONGEST_PARKED = Duration.ofHours(1);
    private static final int LARGEST_STEP = 1_000_000;
    private static final Duration LISTEN = Duration.ofHours(24);

    private static final Map<String, @Nullable Object> CAPABILITIES = Map.of(
            "elicitation", Map.of("form", Map.of(), "url", Map.of()), "extensions", Map.of(Meta.TASKS, Map.of()));

    private static final Map<String, @Nullable Object> LEGACY_CAPABILITIES =
            Map.of("elicitation", Map.of("form", Map.of(), "url", Map.of()));

    private static final Map<String, @Nullable Object> SELF = Map.of("name", "parley", "version", "1");

    private final Supplier<? extends Transport> transports;
    private final Limits limits;
    private final @Nullable Revision pinned;
    private final AtomicLong ids = new AtomicLong();
    private final ReentrantLock connecting = new ReentrantLock();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final Map<String, List<HeaderValues.Param>> marks = new ConcurrentHashMap<>();
    private final Map<String, Parked> parked = new ConcurrentHashMap<>();
    /** Answers to requests of the server under way. */
    private final Semaphore answers = new Semaphore(MOST_ANSWERS);

    private volatile @Nullable Connection connection;
    private volatile @Nullable Thread listening;
    private volatile boolean closed;

    /** A server as it was found. Another connection replaces it if the server loses the session, or refuses the revision. */
    private record Connection(Transport transport, Server server, QuestionRouter questions) {
        boolean isStateless() {
            return server.revision().isStateless();
        }
    }

    /** A call of a legacy server that waits for the answer to a question of the server. */
    private record Parked(
            Connection connection,
            Exchange exchange,
            String tool,
            @Nullable Object question,
            Instant since) {}

    private McpClient(Supplier<? extends Transport> transports, Limits limits, @Nullable Revision pinned) {
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
    public static McpClient connect(Supplier<? extends Transport> transports, Limits limits, @Nullable Revision pinned)
            throws InterruptedException {
        var client = new McpClient(transports, limits, pinned);
        client.connection = client.connected(pinned == null ? Revision.V2026_07_28 : pinned);
        return client;
    }

    /** @param newest revision to begin with; older ones follow unless the revision is pinned */
    private Connection connected(Revision newest) throws InterruptedException {
        Transport transport = transports.get();
        boolean isConnected = false;
        try {
            var questions = new QuestionRouter(
                    !transport.hasHeaders(),
                    question -> refuse(transport, question, "several calls may have asked it"));
            transport.open(message -> receive(transport, questions, message));
            Server server =
                    newest.isStateless() ? discovered(transport, questions).orElse(null) : null;
            if (server == null) {
                server = initialized(transport, questions, newest.isStateless() ? Revision.V2025_11_25 : newest);
            }
            isConnected = true;
            return new Connection(transport, server, questions);
        } finally {
            if (!isConnected) {
                transport.close();
            }
        }
    }

    private Connection connection() {
        return requireNonNull(connection, "not connected");
    }

    /** Empty for a server of the older era, unless the revision is pinned. */
    private Optional<Server> discovered(Transport transport, QuestionRouter questions) throws InterruptedException {
        transport.revision(Revision.V2026_07_28);
        var unknown = new Connection(transport, unknown(Revision.V2026_07_28), questions);
        Map<String, @Nullable Object> found;
        try {
            found = discovery(unknown);
        } catch (McpException refused) {
            return isOfPresentEra(refused) ? Optional.of(unknown.server) : olderEra(refused);
        } catch (ServerFailure failure) {
            boolean isSilent = failure.kind() == Kind.TIMEOUT;
            boolean isStatus = failure.getCause() instanceof HttpTransport.StatusFailure status
                    && status.status >= 400
                    && status.status < 500;
            if (isSilent || isStatus) {
                return olderEra(failure);
            }
            throw failure;
        }
        List<String> versions = Trees.texts(found, "supportedVersions");
        if (!versions.contains(Revision.V2026_07_28.text())) {
            return olderEra(new ServerFailure(
                    Kind.INVALID_RESPONSE,
                    "protocolVersion \"2026-07-28\": unsupported by the server, which has " + versions));
        }
        Map<String, @Nullable Object> info = Trees.map(Trees.map(found, "_meta"), Meta.SERVER_INFO);
        return Optional.of(new Server(
                Revision.V2026_07_28,
                info.isEmpty() ? Trees.map(found, "serverInfo") : info,
                Trees.map(found, "capabilities"),
                Trees.text(found, "instructions")));
    }

    private Optional<Server> olderEra(RuntimeException refusal) {
        if (pinned != null) {
            throw refusal;
        }
        return Optional.empty();
    }

    private static Server unknown(Revision revision) {
        return new Server(revision, Map.of(), Map.of(), null);
    }

    private Map<String, @Nullable Object> discovery(Connection unknown) throws InterruptedException {
        try {
            return request(unknown, "server/discover", Map.of(), limits.discovery());
        } catch (McpException refused) {
            if (refused.code() == McpException.UNSUPPORTED_VERSION && isOfPresentEra(refused)) {
                return request(unknown, "server/discover", Map.of(), limits.discovery());
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

    /** Begins a session; a server that refuses the revision is offered the one before. */
    private Server initialized(Transport transport, QuestionRouter questions, Revision wanted)
            throws InterruptedException {
        Map<String, @Nullable Object> answer;
        try {
            transport.revision(wanted);
            answer = request(
                    new Connection(transport, unknown(wanted), questions),
                    "initialize",
                    Trees.members(
                            "protocolVersion", wanted.text(), "capabilities", LEGACY_CAPABILITIES, "clientInfo", SELF),
                    limits.request());
        } catch (McpException refused) {
            boolean isOfVersion = refused.code() == McpException.UNSUPPORTED_VERSION
                    || String.valueOf(refused.getMessage())
                            .toLowerCase(Locale.ROOT)
                            .contains("version");
            if (isOfVersion && pinned == null && wanted == Revision.V2025_11_25) {
                return initialized(transport, questions, Revision.V2025_06_18);
            }
            throw refused;
        }
        String version = String.valueOf(answer.get("protocolVersion"));
        Revision revision = Revision.of(version)
                .filter(each -> !each.isStateless())
                .or(() -> version.equals("2025-03-26") || version.equals("2024-11-05")
                        ? Optional.of(Revision.V2025_06_18) // whose messages are the same as far as they are used here
                        : Optional.empty())
                .orElseThrow(() -> new ServerFailure(
                        Kind.INVALID_RESPONSE, "protocolVersion \"" + version + "\": unsupported by this client"));
        transport.revision(revision);
        transport.send(Trees.members("jsonrpc", "2.0", "method", "notifications/initialized"));
        transport.follow();
        return new Server(
                revision,
                Trees.map(answer, "serverInfo"),
                Trees.map(answer, "capabilities"),
                Trees.text(answer, "instructions"));
    }

    /** What the server says about itself. */
    public Server server() {
        return connection().server;
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
        if (connection().transport.hasHeaders() && connection().isStateless()) {
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
    public Outcome<CallResult> call(Invocation call, Duration limit, Progress progress) throws InterruptedException {
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
        return repeatable(held -> called(held, params, limit, progress));
    }

    private Outcome<CallResult> called(
            Connection held, Map<String, @Nullable Object> params, Duration limit, Progress progress)
            throws InterruptedException {
        var exchange = exchange();
        String tool = String.valueOf(params.get("name"));
        if (held.isStateless()) {
            begin(held, exchange, "tools/call", params);
            return outcome(held, exchange, tool, limit, progress);
        }
        long begun = System.nanoTime();
        held.questions.enter(exchange, tool, limit);
        begin(held, exchange, "tools/call", params);
        return outcome(held, exchange, tool, limit.minusNanos(System.nanoTime() - begun), progress);
    }

    private Outcome<CallResult> resume(String id, Invocation call, Duration limit, Progress progress)
            throws InterruptedException {
        Parked waiting = parked.remove(id);
        if (waiting == null) {
            throw new ServerFailure(Kind.SESSION_ENDED, "the call does not wait for an answer any more");
        }
        Map<String, @Nullable Object> answer =
                call.answers().values().stream().findFirst().orElse(Trees.members("action", "cancel"));
        Connection held = waiting.connection;
        boolean isSent = false;
        try {
            held.questions.enter(waiting.exchange, waiting.tool, limit);
            held.transport.send(Trees.members("jsonrpc", "2.0", "id", waiting.question, "result", answer));
            isSent = true;
        } finally {
            if (!isSent) {
                held.questions.leave(waiting.exchange, false);
                abandon(held, waiting.exchange, "the answer to a question could not be sent");
            }
        }
        return outcome(held, waiting.exchange, waiting.tool, limit, progress);
    }

    /** Waits for the end of a call, or for a question of a legacy server. */
    private Outcome<CallResult> outcome(
            Connection held, Exchange exchange, String tool, Duration limit, Progress progress)
            throws InterruptedException {
        boolean isParked = false;
        boolean isAnswered = false;
        try {
            Map<String, @Nullable Object> message = await(held, exchange, limit, progress, true);
            if (!Incoming.isAnswer(message)) {
                isParked = true;
                held.questions.asked(exchange);
                return park(held, exchange, tool, message);
            }
            isAnswered = true;
            Map<String, @Nullable Object> result = result(message);
            return switch (String.valueOf(result.getOrDefault("resultType", "complete"))) {
                case "complete" -> new Outcome.Complete<>(ResultModel.call(result));
                case "task" -> new Outcome.Begun<>(result);
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

    private static Map<String, Map<String, @Nullable Object>> requests(Map<String, @Nullable Object> result) {
        var requests = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        Trees.map(result, "inputRequests").forEach((key, request) -> requests.put(key, Trees.map(request)));
        return requests;
    }

    private Outcome<CallResult> park(
            Connection held, Exchange exchange, String tool, Map<String, @Nullable Object> question) {
        Instant now = Instant.now();
        parked.values().removeIf(each -> {
            boolean isOld = each.since.plus(LONGEST_PARKED).isBefore(now) || parked.size() >= MOST_PARKED;
            if (isOld) {
                giveUp(each, "no answer to a question in time");
            }
            return isOld;
        });
        String id = String.valueOf(exchange.id());
        parked.put(id, new Parked(held, exchange, tool, question.get("id"), now));
        Map<String, @Nullable Object> request =
                Trees.members("method", question.get("method"), "params", question.get("params"));
        return new Outcome.Questions<>(Map.of("question", request), PARKED + id);
    }

    /** Gives up a call that waits for the answer to a question. */
    public void abandon(String state) {
        Parked waiting = state.startsWith(PARKED) ? parked.remove(state.substring(PARKED.length())) : null;
        if (waiting != null) {
            giveUp(waiting, "canceled");
        }
    }

    private void giveUp(Parked waiting, String reason) {
        waiting.connection.questions.leave(waiting.exchange, false);
        abandon(waiting.connection, waiting.exchange, reason);
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

    /** Reads a resource. */
    public List<ResourceContent> read(String uri) throws InterruptedException {
        return ResultModel.contents(request("resources/read", Trees.members("uri", uri)));
    }

    /** Any other request, such as {@code prompts/get}. */
    public Map<String, @Nullable Object> request(String method, Map<String, @Nullable Object> params)
            throws InterruptedException {
        return repeatable(held -> request(held, method, params, limits.request()));
    }

    /** A request at a connection. */
    @FunctionalInterface
    private interface Call<T> {
        T at(Connection connection) throws InterruptedException;
    }

    /** Makes a request, and once more with another connection if the server has lost the session or refuses the revision. */
    private <T> T repeatable(Call<T> call) throws InterruptedException {
        Connection before = connection();
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
                    && (refused.code() == McpException.UNSUPPORTED_VERSION
                                    && !Trees.texts(refused.data(), "supported").contains(Revision.V2026_07_28.text())
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
        return error.contains(ELICITATION);
    }

    @SuppressWarnings("ReferenceEquality") // another thread may have made an equal connection meanwhile
    private void connectAgain(Connection before, Revision newest) throws InterruptedException {
        connecting.lockInterruptibly();
        try {
            if (connection != before) {
                return;
            }
            Connection next = connected(pinned == null ? newest : pinned);
            connection = next;
            Thread.ofVirtual().name("mcp-close").start(before.transport::close); // a process has time to end
            if (closed) {
                next.transport.close();
            }
        } finally {
            connecting.unlock();
        }
        listeners.forEach(listener -> listener.accept("tools")); // it may be another program by now
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
        var pauses = new Pauses();
        try {
            while (!closed && connection().isStateless()) {
                try {
                    listen(connection(), pauses);
                } catch (ServerFailure | McpException broken) {
                    LOG.log(System.Logger.Level.DEBUG, "the server does not report changes", broken);
                    if (broken instanceof McpException
                            || broken.getCause() instanceof HttpTransport.StatusFailure status
                                    && status.status < 500
                                    && status.status != 429) {
                        break; // it has no such method, though it says that it reports changes
                    }
                }
                pauses.pause(null);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        listening = null; // the list is read again when its time is over
    }

    private void listen(Connection held, Pauses pauses) throws InterruptedException {
        var exchange = exchange();
        try {
            begin(
                    held,
                    exchange,
                    "subscriptions/listen",
                    Trees.members("notifications", Trees.members("toolsListChanged", true)));
            while (!closed) {
                Map<String, @Nullable Object> message = exchange.next(LISTEN);
                if (Incoming.isAnswer(message)) {
                    result(message);
                    return;
                }
                if (String.valueOf(message.get("method")).endsWith(LIST_CHANGED)) {
                    pauses.progress();
                }
                receive(held.transport, held.questions, message);
            }
        } finally {
            exchange.close();
        }
    }

    private Map<String, @Nullable Object> request(
            Connection held, String method, Map<String, @Nullable Object> params, Duration limit)
            throws InterruptedException {
        var exchange = exchange();
        try {
            begin(held, exchange, method, params);
            return result(await(held, exchange, limit, Progress.NONE, false));
        } finally {
            exchange.close();
        }
    }

    private void begin(Connection held, Exchange exchange, String method, Map<String, @Nullable Object> given) {
        boolean isStateless = held.isStateless();
        var params = new LinkedHashMap<>(given);
        var meta = new LinkedHashMap<>(Trees.map(given, "_meta"));
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
        held.transport.begin(exchange, request, headers);
    }

    /** An exchange with an id that the server cannot know before, so that an answer too many is not that of a later request. */
    private Exchange exchange() {
        return new Exchange(ids.addAndGet(1 + ThreadLocalRandom.current().nextInt(LARGEST_STEP)));
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

    /**
     * Waits for the answer, or for a question of the server; reports progress until then.
     *
     * @param mayAsk whether the server may ask about the request
     */
    private Map<String, @Nullable Object> await(
            Connection held, Exchange exchange, Duration limit, Progress progress, boolean mayAsk)
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
                abandon(held, exchange, "canceled");
                throw stop;
            } catch (ServerFailure failure) {
                if (failure.kind() == Kind.TIMEOUT || failure.kind() == Kind.INVALID_RESPONSE) {
                    abandon(held, exchange, String.valueOf(failure.getMessage()));
                }
                throw failure;
            }
            if (!(message.get("method") instanceof String method)) {
                return message;
            }
            Map<String, @Nullable Object> params = Trees.map(message, "params");
            if ("notifications/progress".equals(method)) {
                if (params.get("progress") instanceof Number amount && amount.doubleValue() > reached) {
                    reached = amount.doubleValue();
                    Double total = params.get("total") instanceof Number number ? number.doubleValue() : null;
                    progress.report(reached, total, Trees.text(params, "message"));
                }
            } else if (!method.equals(ELICITATION)) {
                receive(held.transport, held.questions, message);
            } else if (mayAsk && !held.isStateless()) {
                return message;
            } else {
                refuse(held.transport, message, "the request is none that the server may ask about");
            }
        }
    }

    private void abandon(Connection held, Exchange exchange, String reason) {
        Connection present = connection;
        if (present != null
                && present.transport.equals(held.transport)
                && held.transport.cancelsByNotification(held.server.revision())) {
            // On its own thread, because the calling one may be interrupted.
            Thread.ofVirtual().name("mcp-cancel").start(() -> {
                try {
                    held.transport.send(Trees.members(
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
    private void receive(Transport transport, QuestionRouter questions, Map<String, @Nullable Object> message) {
        if (!(message.get("method") instanceof String method)) {
            return; // the answer to a request that was given up
        }
        if (message.containsKey("id")) {
            asked(transport, questions, method, message);
        } else if (method.startsWith("notifications/") && method.endsWith(LIST_CHANGED)) {
            String list = method.substring("notifications/".length(), method.length() - LIST_CHANGED.length());
            listeners.forEach(listener -> listener.accept(list));
        } else if (method.equals("notifications/subscriptions/acknowledged")) {
            listeners.forEach(listener -> listener.accept("tools")); // the server did not report earlier changes
        }
    }

    /** Answers a request of a legacy server, or passes its question on. */
    private void asked(
            Transport transport, QuestionRouter questions, String method, Map<String, @Nullable Object> message) {
        if (method.equals("ping")) {
            answer(transport, Trees.members("jsonrpc", "2.0", "id", message.get("id"), "result", Map.of()));
        } else if (method.equals(ELICITATION)) {
            questions.question(message);
        } else {
            fail(transport, message, McpException.METHOD_NOT_FOUND, method + ": unsupported");
        }
    }

    /** Refuses a question. That is no answer of a user, who was not asked. */
    private void refuse(Transport transport, Map<String, @Nullable Object> question, String problem) {
        LOG.log(System.Logger.Level.WARNING, "a question of an MCP server is refused: {0}", problem);
        fail(transport, question, McpException.INTERNAL_ERROR, "the question is not passed on: " + problem);
    }

    private void fail(Transport transport, Map<String, @Nullable Object> request, int code, String problem) {
        Map<String, @Nullable Object> error = Trees.members("code", code, "message", problem);
        answer(transport, Trees.members("jsonrpc", "2.0", "id", request.get("id"), "error", error));
    }

    private void answer(Transport transport, Map<String, @Nullable Object> answer) {
        if (!answers.tryAcquire()) {
            LOG.log(System.Logger.Level.DEBUG, "a request of the server gets no answer: too many requests");
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
        Connection held = connection;
        if (held != null) {
            held.transport.close();
        }
    }
}
