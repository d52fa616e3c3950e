package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.outbound.http.SseParser;
import dev.parley.outbound.http.UnreadBytes;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Streamable HTTP: each message is a POST, answered with JSON or with server-sent events. Each request has a virtual thread that reads
 * its answer. Source: MCP 2026-07-28 and 2025-11-25, Transports.
 */
public final class HttpTransport implements McpTransport {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");

    private static final String LAST_EVENT_ID = "Last-Event-ID";
    private static final String EVENTS = "text/event-stream";

    /** Largest body, and largest event of a stream, in bytes. */
    private static final int MAX_MESSAGE = 16 * 1024 * 1024;

    private static final Duration ANSWER_TO_NOTIFICATION = Duration.ofSeconds(10);

    private static final int PIECE = 16 * 1024;

    /** Methods that may have had an effect when their connection breaks; others are sent once more. */
    private static final Set<String> EFFECTS = Set.of("tools/call", "tasks/update");

    private static final Set<String> BEGINNINGS = Set.of("server/discover", "initialize");

    /** Failures of requests in a row after which a session counts as lost. */
    private static final int MOST_FAILURES = 2;

    /** Answers of servers that do not know the session, after a restart for example. */
    private static final Pattern SESSION = Pattern.compile("session|initiali[sz]", Pattern.CASE_INSENSITIVE);

    private static final Pattern UNINITIALIZED = Pattern.compile(
            "(before|during|without) ([a-z]+ )?initiali[sz]|not initiali[sz]ed", Pattern.CASE_INSENSITIVE);

    private final URI url;
    private final Map<String, String> headers;
    private final Duration patience;
    private final AuthorizedHttp authorized;
    private volatile @Nullable Revision revision;
    private volatile @Nullable String session;
    private volatile boolean isLost;
    private final AtomicInteger failures = new AtomicInteger();
    private volatile Receiver receiver = message -> {};
    private volatile @Nullable Thread following;
    private volatile boolean closed;

    /**
     * @param http follows no redirects
     * @param headers of each request
     */
    public HttpTransport(URI url, HttpClient http, Map<String, String> headers, McpCredentials credentials) {
        this(url, http, headers, credentials, ANSWER_TO_NOTIFICATION);
    }

    /** @param patience with the answers to notifications */
    HttpTransport(
            URI url, HttpClient http, Map<String, String> headers, McpCredentials credentials, Duration patience) {
        this.url = requireNonNull(url, "url");
        this.headers = Map.copyOf(headers);
        this.patience = patience;
        this.authorized = new AuthorizedHttp(url, http, credentials);
    }

    @Override
    public void open(Receiver receiver) {
        this.receiver = receiver;
    }

    @Override
    public void revision(Revision revision) {
        this.revision = revision;
    }

    @Override
    public boolean hasHeaders() {
        return true;
    }

    /** In the present revision, the end of the stream cancels. */
    @Override
    public boolean cancelsByNotification(Revision revision) {
        return !revision.isStateless();
    }

    @Override
    public void begin(ClientExchange exchange, McpMessage.Request request, Map<String, String> more) {
        Thread reader = Thread.ofVirtual().name("mcp-request").unstarted(() -> read(exchange, request, more));
        exchange.onEnd(reader::interrupt);
        reader.start();
    }

    private void read(ClientExchange exchange, McpMessage.Request request, Map<String, String> more) {
        var failure = new ServerFailure(Kind.CONNECTION, "the exchange has ended without an answer");
        try {
            if (request.method().equals("initialize")) {
                session = null;
                isLost = false;
                failures.set(0);
            }
            if (isLost) {
                throw new ServerFailure(Kind.SESSION_ENDED, "the session of the server is lost");
            }
            HttpResponse<InputStream> answer = post(request, more);
            try (InputStream body = answer.body()) {
                answered(exchange, request, answer, body);
            }
        } catch (ServerFailure problem) {
            failure = problem;
        } catch (IOException broken) {
            failure = new ServerFailure(Kind.CONNECTION, reason(broken), broken);
        } catch (InterruptedException abandoned) {
            failure = new ServerFailure(Kind.CONNECTION, "given up", abandoned);
        } catch (RuntimeException defect) {
            LOG.log(System.Logger.Level.WARNING, "answer of " + url.getHost(), defect);
            failure = new ServerFailure(Kind.INVALID_RESPONSE, "the answer cannot be read: " + defect, defect);
        } finally {
            exchange.fail(failure); // after the answer, if there is one
        }
    }

    private String reason(IOException broken) {
        String text = broken.getMessage() == null ? broken.getClass().getSimpleName() : broken.getMessage();
        return url.getRawAuthority() + ": " + (broken instanceof ConnectException ? "no connection: " + text : text);
    }

    private void answered(
            ClientExchange exchange, McpMessage.Request request, HttpResponse<InputStream> answer, InputStream body)
            throws IOException, InterruptedException {
        int status = answer.statusCode();
        if (status == 200 && isLegacy()) {
            answer.headers().firstValue(HeaderValues.SESSION).ifPresent(id -> session = id);
        }
        if (isEvents(answer)) {
            failures.set(0);
            stream(exchange, body);
            return;
        }
        byte[] bytes = body.readNBytes(MAX_MESSAGE + 1);
        if (bytes.length > MAX_MESSAGE) {
            throw new ServerFailure(Kind.INVALID_RESPONSE, "the answer is larger than " + MAX_MESSAGE + " bytes");
        }
        if (status == 200) {
            failures.set(0);
            pass(exchange, message(exchange, answer, bytes));
            return;
        }
        if (status >= 400) {
            checkSession(exchange, request, answer, bytes);
        }
        exchange.put(error(exchange, bytes).orElseThrow(() -> new UnusableAnswer(answer, bytes).failure()));
    }

    private boolean isLegacy() {
        Revision spoken = revision;
        return spoken == null || !spoken.isStateless();
    }

    /**
     * Looks for the signs of a server that does not know the session, such as after a restart.
     *
     * @throws ServerFailure SESSION_ENDED if it says so, or has failed before
     */
    private void checkSession(
            ClientExchange exchange, McpMessage.Request request, HttpResponse<?> answer, byte[] bytes) {
        int status = answer.statusCode();
        String method = request.method();
        if (BEGINNINGS.contains(method) || Set.of(401, 403, 429).contains(status)) {
            return;
        }
        boolean isSaid = SESSION.matcher(new String(bytes, UTF_8)).find();
        if (isLegacy()) {
            boolean isUnderstood =
                    Incoming.of(bytes) instanceof Incoming.Message(var json) && exchange.isAnsweredBy(json);
            isSaid |= status == 404 && !isUnderstood;
            if (!isSaid && (isUnderstood || failures.incrementAndGet() < MOST_FAILURES)) {
                return;
            }
        } else if (!isSaid || status != 400 && status != 404) { // a server of an older revision by now
            return;
        }
        isLost = true;
        session = null;
        // A server error leaves open whether the tool has run, so only the next call begins another session.
        if (status < 500 || !EFFECTS.contains(method)) {
            throw new ServerFailure(
                    Kind.SESSION_ENDED,
                    "the server does not know the session: " + new UnusableAnswer(answer, bytes).text());
        }
    }

    /** The message of an answer with status 200. */
    private static Map<String, @Nullable Object> message(
            ClientExchange exchange, HttpResponse<?> answer, byte[] bytes) {
        return switch (Incoming.of(bytes)) {
            case Incoming.Message(var json) when exchange.isAnsweredBy(json) || Incoming.isErrorWithoutId(json) -> json;
            case Incoming.Message(var json)
            when Incoming.isAnswer(json) ->
                throw new ServerFailure(
                        Kind.INVALID_RESPONSE,
                        "the answer has the id \"" + UnusableAnswer.visible(Incoming.id(json.get("id")))
                                + "\" (expected: " + exchange.id() + ")");
            case Incoming.Damaged damaged ->
                throw new ServerFailure(
                        Kind.INVALID_RESPONSE,
                        "the answer is not JSON: " + damaged.problem() + ": "
                                + new UnusableAnswer(answer, bytes).text());
            case Incoming.Message other -> throw new UnusableAnswer(answer, bytes).failure();
            case Incoming.Noise noise -> throw new UnusableAnswer(answer, bytes).failure();
        };
    }

    /** The error in a body with another status than 200: that of the request, unless it has the id of another one. */
    private static Optional<Map<String, @Nullable Object>> error(ClientExchange exchange, byte[] bytes) {
        if (!(Incoming.of(bytes) instanceof Incoming.Message(var json))
                || !Incoming.isAnswer(json)
                || Trees.map(json, "error").isEmpty()) {
            return Optional.empty();
        }
        boolean isOfAnother = json.get("id") instanceof Number && !exchange.isAnsweredBy(json);
        return isOfAnother ? Optional.empty() : Optional.of(Trees.with(json, "id", exchange.id()));
    }

    private static boolean isEvents(HttpResponse<?> answer) {
        return answer.statusCode() == 200
                && answer.headers()
                        .firstValue("Content-Type")
                        .orElse("")
                        .regionMatches(true, 0, EVENTS, 0, EVENTS.length());
    }

    /** Messages of a stream of events. For one thread. */
    private static final class Events {
        private final InputStream body;
        private final SseParser parser = new SseParser(MAX_MESSAGE);
        private final Queue<String> ready = new ArrayDeque<>();

        Events(InputStream body) {
            this.body = body;
        }

        /** Returns the data of the next event; null at the end of the stream. */
        @Nullable
        String next() throws IOException {
            var piece = new byte[PIECE];
            while (ready.isEmpty()) {
                int length = body.read(piece);
                if (length < 0) {
                    return null;
                }
                parser.read(ByteBuffer.wrap(piece, 0, length), frame -> ready.add(frame.data()));
            }
            return ready.remove();
        }
    }

    /** Passes the messages of a stream on, up to the answer; a legacy stream that ends before it is resumed if its events have ids. */
    private void stream(ClientExchange exchange, InputStream first) throws IOException, InterruptedException {
        InputStream body = first;
        String lastId = null;
        var pauses = new Pauses();
        while (true) {
            var events = new Events(body);
            String problem = "the stream ends before the answer";
            try (InputStream open = body) {
                for (String data = events.next(); data != null; data = events.next()) {
                    pauses.progress();
                    if (pass(exchange, data)) {
                        return;
                    }
                }
            } catch (SseParser.TooLarge tooLarge) {
                throw new ServerFailure(Kind.INVALID_RESPONSE, String.valueOf(tooLarge.getMessage()), tooLarge);
            } catch (IOException broken) {
                problem = reason(broken);
            }
            lastId = events.parser.lastId() == null ? lastId : events.parser.lastId();
            if (lastId == null || lastId.isEmpty() || Thread.currentThread().isInterrupted() || !isLegacy()) {
                throw new ServerFailure(Kind.CONNECTION, problem);
            }
            pauses.await(events.parser.retry());
            HttpResponse<InputStream> again = listen(lastId);
            if (!isEvents(again)) {
                again.body().close();
                throw new ServerFailure(
                        Kind.CONNECTION, problem + ", and cannot be resumed: status " + again.statusCode());
            }
            body = again.body();
        }
    }

    /** @return whether it is the answer */
    private boolean pass(ClientExchange exchange, String data) throws InterruptedException {
        switch (Incoming.of(data.getBytes(UTF_8))) {
            case Incoming.Message(var json) -> {
                return pass(exchange, json);
            }
            case Incoming.Damaged(var id, var method, var problem) -> {
                if (method == null) {
                    throw new ServerFailure(
                            Kind.INVALID_RESPONSE,
                            "the answer is not JSON: " + problem + ": " + UnusableAnswer.visible(data));
                }
                LOG.log(System.Logger.Level.WARNING, "{0}: {1} cannot be read: {2}", url.getHost(), method, problem);
            }
            case Incoming.Noise noise ->
                LOG.log(System.Logger.Level.DEBUG, "{0} sends an event that is not a message", url.getHost());
        }
        return false;
    }

    /** @return whether it is the answer */
    private boolean pass(ClientExchange exchange, Map<String, @Nullable Object> message) throws InterruptedException {
        boolean isAnswer = exchange.isAnsweredBy(message) || Incoming.isErrorWithoutId(message);
        if (isAnswer && isLegacy() && !isInitialized(message)) {
            isLost = true;
            session = null;
            throw new ServerFailure(
                    Kind.SESSION_ENDED,
                    "the server does not know the session: "
                            + UnusableAnswer.visible(String.valueOf(message.get("error"))));
        }
        if (isAnswer || !Incoming.isAnswer(message)) {
            exchange.put(isAnswer ? Trees.with(message, "id", exchange.id()) : message);
        } else {
            LOG.log(System.Logger.Level.WARNING, "{0} sends an answer to another request", url.getHost());
        }
        return isAnswer;
    }

    /** False for the error of a server that waits for another {@code initialize}. */
    private static boolean isInitialized(Map<String, @Nullable Object> answer) {
        String text = Trees.text(Trees.map(answer, "error"), "message");
        return text == null || !UNINITIALIZED.matcher(text).find();
    }

    /** @param isAgreed false as long as no revision is agreed on */
    private HttpRequest.Builder request(Optional<String> authorization, boolean isAgreed) {
        HttpRequest.Builder request = HttpRequest.newBuilder(url);
        headers.forEach(request::setHeader);
        authorization.ifPresent(value -> request.setHeader("Authorization", value));
        Revision spoken = revision;
        if (spoken != null && isAgreed) {
            request.setHeader(HeaderValues.VERSION, spoken.text());
        }
        String id = session;
        if (id != null) {
            request.setHeader(HeaderValues.SESSION, id);
        }
        return request;
    }

    private HttpResponse<InputStream> post(McpMessage message, Map<String, String> more)
            throws IOException, InterruptedException {
        byte[] body = message.bytes();
        AuthorizedHttp.Request made = authorization -> {
            HttpRequest.Builder request =
                    request(authorization, !message.method().equals("initialize"));
            more.forEach(request::setHeader);
            return request.setHeader("Accept", "application/json, " + EVENTS)
                    .setHeader("Content-Type", "application/json")
                    .POST(BodyPublishers.ofByteArray(body))
                    .build();
        };
        try {
            return authorized.send(made);
        } catch (UnreadBytes unsent) {
            return authorized.send(made);
        } catch (IOException broken) {
            if (EFFECTS.contains(message.method())) {
                throw broken;
            }
            return authorized.send(made); // the server may have closed a connection that was idle
        }
    }

    @Override
    public void send(McpMessage message) throws InterruptedException {
        var sent = new CompletableFuture<String>();
        Thread sender = Thread.ofVirtual().name("mcp-notification").start(() -> {
            try {
                HttpResponse<InputStream> answer = post(message, HeaderValues.standard(message, revision));
                try (InputStream body = answer.body()) {
                    boolean isTaken = answer.statusCode() / 100 == 2;
                    sent.complete(
                            isTaken
                                    ? ""
                                    : new UnusableAnswer(answer, body.readNBytes(UnusableAnswer.MOST_BYTES)).text());
                }
            } catch (IOException | RuntimeException failure) {
                sent.completeExceptionally(failure);
            } catch (InterruptedException stop) {
                sent.cancel(false);
            }
        });
        try {
            String refusal = sent.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (!refusal.isEmpty()) {
                throw new ServerFailure(Kind.CONNECTION, "the server refuses " + named(message) + " with " + refusal);
            }
        } catch (ExecutionException failed) {
            Throwable cause = requireNonNullElse(failed.getCause(), failed);
            throw new ServerFailure(Kind.CONNECTION, named(message) + ": " + cause.getMessage(), cause);
        } catch (TimeoutException late) {
            throw new ServerFailure(Kind.TIMEOUT, "no answer to " + named(message), late);
        } finally {
            sender.interrupt();
        }
    }

    private static String named(McpMessage message) {
        return message.method().isEmpty() ? "an answer" : message.method();
    }

    /** Reads the stream that a legacy server may have beside those of requests. */
    @Override
    public void follow() {
        Thread before = following;
        if (before != null) {
            before.interrupt();
        }
        following = Thread.ofVirtual().name("mcp-stream").start(() -> {
            try {
                followStream();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void followStream() throws InterruptedException {
        var pauses = new Pauses();
        String lastId = null;
        boolean hasBegun = false;
        while (!closed) {
            Duration retry = null;
            try {
                HttpResponse<InputStream> answer = listen(lastId);
                try (InputStream body = answer.body()) {
                    if (isEvents(answer)) {
                        hasBegun = true;
                        var events = new Events(body);
                        for (String data = events.next(); data != null; data = events.next()) {
                            if (Incoming.of(data.getBytes(UTF_8)) instanceof Incoming.Message(var json)) {
                                pauses.progress();
                                receiver.receive(json);
                            }
                        }
                        lastId = events.parser.lastId() == null ? lastId : events.parser.lastId();
                        retry = events.parser.retry();
                    } else if (answer.statusCode() < 500 && answer.statusCode() != 429) {
                        if (hasBegun) { // the session has ended; another one begins with the next request
                            receiver.receive(Map.of("method", "notifications/tools/list_changed"));
                        }
                        return; // such as 405: the server has none
                    }
                }
            } catch (IOException | RuntimeException broken) {
                LOG.log(System.Logger.Level.DEBUG, "stream of " + url.getHost(), broken);
            }
            pauses.await(retry);
        }
    }

    private HttpResponse<InputStream> listen(@Nullable String lastId) throws IOException, InterruptedException {
        return authorized.send(authorization -> {
            HttpRequest.Builder request =
                    request(authorization, true).setHeader("Accept", EVENTS).GET();
            if (lastId != null) {
                request.setHeader(LAST_EVENT_ID, lastId);
            }
            return request.build();
        });
    }

    /** Ends the session of a legacy server. */
    @Override
    public void close() {
        closed = true;
        Thread stream = following;
        if (stream != null) {
            stream.interrupt();
        }
        if (session == null) {
            return;
        }
        try {
            HttpRequest request = request(authorized.credentials().authorization(), true)
                    .timeout(patience)
                    .DELETE()
                    .build();
            authorized.http().send(request, BodyHandlers.discarding());
        } catch (IOException | ServerFailure gone) {
            LOG.log(System.Logger.Level.DEBUG, "session of " + url.getHost(), gone);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
