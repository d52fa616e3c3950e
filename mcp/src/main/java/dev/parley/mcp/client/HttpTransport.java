package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.mcp.McpException;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.HeaderValues;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Streamable HTTP: each message is a POST, answered with JSON or with server-sent events. Each request has a virtual thread that reads
 * its answer. Source: MCP 2026-07-28 and 2025-11-25, Transports.
 */
public final class HttpTransport implements Transport {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");

    private static final String LAST_EVENT_ID = "Last-Event-ID";
    private static final String EVENTS = "text/event-stream";

    /** Largest body, and largest event of a stream, in bytes. */
    private static final int MAX_MESSAGE = 16 * 1024 * 1024;

    private static final Duration ANSWER_TO_NOTIFICATION = Duration.ofSeconds(10);
    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final int MOST_RESUMPTIONS = 5;

    /** Attempts of one request, each with other credentials. */
    private static final int MOST_RENEWALS = 3;

    /** Methods that may have had an effect when their connection breaks; others are sent once more. */
    private static final Set<String> EFFECTS = Set.of("tools/call", "tasks/update");

    private final URI url;
    private final HttpClient http;
    private final Map<String, String> headers;
    private final Credentials credentials;
    private volatile @Nullable Revision revision;
    private volatile @Nullable String session;
    private volatile Receiver receiver = message -> {};
    private volatile @Nullable Thread following;
    private volatile boolean closed;

    /**
     * @param http follows no redirects
     * @param headers of each request
     */
    public HttpTransport(URI url, HttpClient http, Map<String, String> headers, Credentials credentials) {
        this.url = requireNonNull(url, "url");
        this.http = requireNonNull(http, "http");
        this.headers = Map.copyOf(headers);
        this.credentials = requireNonNull(credentials, "credentials");
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
    public void begin(Exchange exchange, Map<String, @Nullable Object> request, Map<String, String> more) {
        Thread reader = Thread.ofVirtual().name("mcp-request").unstarted(() -> read(exchange, request, more));
        exchange.onEnd(reader::interrupt);
        reader.start();
    }

    private void read(Exchange exchange, Map<String, @Nullable Object> request, Map<String, String> more) {
        try {
            if ("initialize".equals(request.get("method"))) {
                session = null;
            }
            HttpResponse<InputStream> answer = post(request, more);
            try (InputStream body = answer.body()) {
                answered(exchange, answer, body);
            }
        } catch (ServerFailure failure) {
            exchange.fail(failure);
        } catch (IOException broken) {
            exchange.fail(new ServerFailure(Kind.CONNECTION, reason(broken), broken));
        } catch (A2AException malformed) {
            exchange.fail(new ServerFailure(
                    Kind.INVALID_RESPONSE, "the answer is no JSON: " + malformed.getMessage(), malformed));
        } catch (InterruptedException abandoned) {
            exchange.fail(new ServerFailure(Kind.CONNECTION, "given up"));
        }
    }

    private String reason(IOException broken) {
        return url.getHost() + ": "
                + (broken.getMessage() == null ? broken.getClass().getSimpleName() : broken.getMessage());
    }

    private void answered(Exchange exchange, HttpResponse<InputStream> answer, InputStream body)
            throws IOException, InterruptedException {
        int status = answer.statusCode();
        String held = session;
        if (status == 404 && held != null) {
            session = null;
            throw new ServerFailure(Kind.SESSION_ENDED, "the server has ended the session");
        }
        Revision spoken = revision;
        if (status == 200 && (spoken == null || !spoken.isStateless())) {
            answer.headers().firstValue(HeaderValues.SESSION).ifPresent(id -> session = id);
        }
        if (isEvents(answer)) {
            stream(exchange, body);
            return;
        }
        byte[] bytes = body.readNBytes(MAX_MESSAGE + 1);
        if (bytes.length > MAX_MESSAGE) {
            throw new ServerFailure(Kind.INVALID_RESPONSE, "the answer is larger than " + MAX_MESSAGE + " bytes");
        }
        Map<String, @Nullable Object> message = status == 200
                ? JsonText.request(bytes, Codecs.STRUCT)
                : error(bytes).orElseThrow(() -> {
                    String text = "the server answers with status " + status;
                    return status == 401 || status == 403
                            ? new ServerFailure(Kind.UNAUTHORIZED, text)
                            : new StatusFailure(status).failure(text);
                });
        if (status != 200 && message.get("id") == null) {
            message.put("id", exchange.id()); // of a request that the server could not read
        }
        exchange.put(message);
    }

    /** A status without a message of the protocol, as a failure with the status as its cause. */
    static final class StatusFailure extends IOException {
        private static final long serialVersionUID = 1;

        final int status;

        StatusFailure(int status) {
            super("status " + status);
            this.status = status;
        }

        ServerFailure failure(String text) {
            return new ServerFailure(Kind.INVALID_RESPONSE, text, this);
        }
    }

    private static Optional<Map<String, @Nullable Object>> error(byte[] bytes) {
        try {
            Map<String, @Nullable Object> message = JsonText.request(bytes, Codecs.STRUCT);
            return Trees.map(message, "error").isEmpty() ? Optional.empty() : Optional.of(message);
        } catch (A2AException noJson) {
            return Optional.empty();
        }
    }

    private static boolean isEvents(HttpResponse<?> answer) {
        return answer.statusCode() == 200
                && answer.headers()
                        .firstValue("Content-Type")
                        .orElse("")
                        .regionMatches(true, 0, EVENTS, 0, EVENTS.length());
    }

    /** Passes the messages of a stream on, up to the answer; a legacy stream that ends before it is resumed if its events have ids. */
    private void stream(Exchange exchange, InputStream first) throws IOException, InterruptedException {
        InputStream body = first;
        String lastId = null;
        for (int resumptions = 0; ; resumptions++) {
            var events = new EventStream(body, MAX_MESSAGE);
            String problem = "the stream ends before the answer";
            try (InputStream open = body) {
                for (String data = events.next(); data != null; data = events.next()) {
                    if (!data.isEmpty() && pass(exchange, message(data))) {
                        return;
                    }
                }
            } catch (IOException broken) {
                problem = reason(broken);
            }
            lastId = events.lastId() == null ? lastId : events.lastId();
            Revision spoken = revision;
            if (lastId == null
                    || resumptions == MOST_RESUMPTIONS
                    || Thread.currentThread().isInterrupted()
                    || spoken != null && spoken.isStateless()) {
                throw new ServerFailure(Kind.CONNECTION, problem);
            }
            pause(events.retry());
            HttpResponse<InputStream> again = listen(lastId);
            if (!isEvents(again)) {
                again.body().close();
                throw new ServerFailure(Kind.CONNECTION, problem);
            }
            body = again.body();
        }
    }

    private static Map<String, @Nullable Object> message(String data) {
        return JsonText.request(data.getBytes(UTF_8), Codecs.STRUCT);
    }

    /** @return whether it is the answer */
    private boolean pass(Exchange exchange, Map<String, @Nullable Object> message) throws InterruptedException {
        exchange.put(message);
        return !message.containsKey("method")
                && String.valueOf(message.get("id")).equals(String.valueOf(exchange.id()));
    }

    /** As long as the server wants; nothing signals the end of such a pause but its interruption. */
    private static void pause(@Nullable Duration retry) throws InterruptedException {
        try {
            new CompletableFuture<Void>().get((retry == null ? RETRY : retry).toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException over) {
            return;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
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

    private HttpResponse<InputStream> post(Map<String, @Nullable Object> message, Map<String, String> more)
            throws IOException, InterruptedException {
        byte[] body = JsonText.write(Codecs.STRUCT, message);
        Request made = authorization -> {
            HttpRequest.Builder request = request(authorization, !"initialize".equals(message.get("method")));
            more.forEach(request::setHeader);
            return request.setHeader("Accept", "application/json, " + EVENTS)
                    .setHeader("Content-Type", "application/json")
                    .POST(BodyPublishers.ofByteArray(body))
                    .build();
        };
        try {
            return authorized(made);
        } catch (IOException broken) {
            if (EFFECTS.contains(String.valueOf(message.get("method")))) {
                throw broken;
            }
            return authorized(made); // the server may have closed a connection that was idle
        }
    }

    private interface Request {
        HttpRequest with(Optional<String> authorization);
    }

    private HttpResponse<InputStream> authorized(Request request) throws IOException, InterruptedException {
        for (int renewals = 0; ; renewals++) {
            Optional<String> authorization = credentials.authorization();
            HttpResponse<InputStream> answer = http.send(request.with(authorization), BodyHandlers.ofInputStream());
            int status = answer.statusCode();
            if (status != 401 && status != 403 || renewals == MOST_RENEWALS) {
                return answer;
            }
            if (!credentials.renew(status, answer.headers(), authorization)) {
                return answer;
            }
            answer.body().close();
        }
    }

    @Override
    public void send(Map<String, @Nullable Object> message) throws InterruptedException {
        var sent = new CompletableFuture<Integer>();
        Thread sender = Thread.ofVirtual().name("mcp-notification").start(() -> {
            try {
                HttpResponse<InputStream> answer = post(message, McpClient.standardHeaders(message, revision));
                answer.body().close();
                sent.complete(answer.statusCode());
            } catch (IOException | ServerFailure failure) {
                sent.completeExceptionally(failure);
            } catch (InterruptedException stop) {
                sent.cancel(false);
            }
        });
        try {
            int status = sent.get(ANSWER_TO_NOTIFICATION.toMillis(), TimeUnit.MILLISECONDS);
            if (status >= 400) {
                throw new ServerFailure(Kind.CONNECTION, "the server refuses a message with status " + status);
            }
        } catch (ExecutionException failed) {
            throw new ServerFailure(Kind.CONNECTION, String.valueOf(failed.getCause()), failed.getCause());
        } catch (TimeoutException late) {
            throw new ServerFailure(Kind.TIMEOUT, "no answer to a message", late);
        } finally {
            sender.interrupt();
        }
    }

    /** Reads the stream that a legacy server may have beside those of requests. */
    @Override
    public void follow() {
        Thread before = following;
        if (before != null) {
            before.interrupt();
        }
        following = Thread.ofVirtual().name("mcp-stream").start(() -> {
            String lastId = null;
            Duration retry = null;
            try {
                for (int failures = 0; failures < MOST_RESUMPTIONS && !closed; failures++) {
                    HttpResponse<InputStream> answer = listen(lastId);
                    try (InputStream body = answer.body()) {
                        if (!isEvents(answer)) {
                            return; // 405: the server has none
                        }
                        var events = new EventStream(body, MAX_MESSAGE);
                        for (String data = events.next(); data != null; data = events.next()) {
                            failures = 0;
                            if (!data.isBlank()) {
                                receiver.receive(message(data));
                            }
                        }
                        lastId = events.lastId();
                        retry = events.retry();
                    }
                    pause(retry);
                }
            } catch (IOException | ServerFailure | A2AException | McpException broken) {
                LOG.log(System.Logger.Level.DEBUG, "stream of " + url.getHost(), broken);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private HttpResponse<InputStream> listen(@Nullable String lastId) throws IOException, InterruptedException {
        return authorized(authorization -> {
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
            HttpRequest request = request(credentials.authorization(), true)
                    .timeout(ANSWER_TO_NOTIFICATION)
                    .DELETE()
                    .build();
            http.send(request, BodyHandlers.discarding());
        } catch (IOException | ServerFailure gone) {
            LOG.log(System.Logger.Level.DEBUG, "session of " + url.getHost(), gone);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
