package dev.parley.mesh.client;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshError;
import dev.parley.protocol.support.LruMap;
import dev.parley.server.RequestHandler;
import dev.parley.server.Server;
import dev.parley.server.ServerBuilder;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Receives messages of others for one agent, on a port of its own. Messages with one correlation id are delivered one after the other;
 * a message that arrives again is answered and not delivered again. Its address is secret, so that only peers that were given it can
 * send; with keys that it trusts, and with secrets of webhooks, it refuses other messages, too. Safe for any thread.
 */
public final class OneListener implements AutoCloseable {
    /** A message, with its content as plain JSON. */
    public record Message(Envelope envelope, MeshContent content) {}

    private record Subscription(Party sender, Consumer<MeshContent> reader) {}

    private static final int MAX_BODY = 4 * 1024 * 1024;
    private static final int MAX_CONNECTIONS = 256;

    /** Limit of the ids that are known. Signed messages with forgotten ids are too old. */
    private static final int MAX_KNOWN = 50_000;

    private static final int LOCKS = 64;

    private final OneIdentity own;
    private final MessageSecurity messages;
    private final @Nullable StandardWebhooks secrets;
    private final Consumer<Message> others;
    private final InstantSource clock;
    private final Server server;
    private final String path;
    private final Map<String, Subscription> subscriptions = new ConcurrentHashMap<>();
    private final List<ReentrantLock> locks;
    private final ReentrantLock idLock = new ReentrantLock();
    /** Sender and id of messages that were delivered; guarded by {@link #idLock}. */
    private final Map<String, Boolean> known = new LruMap<>(MAX_KNOWN);

    private OneListener(Builder builder) {
        this.own = builder.own;
        this.clock = InstantSource.system();
        this.messages = new MessageSecurity(own, clock);
        this.secrets = builder.secrets;
        this.others = builder.others;
        this.path = builder.path;
        this.locks = Stream.generate(ReentrantLock::new).limit(LOCKS).toList();
        this.server = builder.server.handler(path, this::answer).start();
    }

    /** A listener for an agent, which {@link Builder#start} opens. */
    public static Builder of(OneIdentity own) {
        return new Builder(own);
    }

    /** Settings of a listener. */
    public static final class Builder {
        private final OneIdentity own;
        private final ServerBuilder server = Server.builder(new Dialects(DialectSettings.DEFAULTS))
                .port(0)
                .maxBodyBytes(MAX_BODY)
                .maxConnections(MAX_CONNECTIONS);
        private String path = "/one/" + secret();
        private @Nullable StandardWebhooks secrets;
        private Consumer<Message> others = message -> {
            throw OneException.of(MeshError.AGENT_NOT_FOUND, "no delegation has this correlation id");
        };

        private Builder(OneIdentity own) {
            this.own = requireNonNull(own, "own");
        }

        /** Port to listen on. Default: a free one. */
        public Builder port(int port) {
            server.port(port);
            return this;
        }

        /** Address to listen on. Default: {@code 127.0.0.1}. */
        public Builder bindAddress(String address) {
            server.bindAddress(address);
            return this;
        }

        /** Base address for senders, such as that of a proxy. Default: the address that is listened on. */
        public Builder publicUrl(String url) {
            server.publicUrl(url);
            return this;
        }

        /** Serves TLS with a certificate and its key in PEM. Default: no TLS. */
        public Builder tls(Path certificate, Path key) {
            server.tls(certificate, key);
            return this;
        }

        /** Path of the address. Default: a random one, which others cannot guess. */
        public Builder path(String path) {
            this.path = requireNonNull(path, "path");
            return this;
        }

        /** Requires signatures of webhooks by one of these secrets, as hubs make them. Default: none. */
        public Builder secrets(List<String> secrets) {
            this.secrets = StandardWebhooks.of(secrets);
            return this;
        }

        /** Receives messages that belong to no delegation of a client of this listener. Default: they are refused. */
        public Builder others(Consumer<Message> reader) {
            this.others = requireNonNull(reader, "reader");
            return this;
        }

        /**
         * Opens the port.
         *
         * @throws java.io.UncheckedIOException if the address cannot be bound
         */
        public OneListener start() {
            return new OneListener(this);
        }
    }

    private static String secret() {
        var bytes = new byte[16];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Address for callbacks. */
    public String url() {
        return server.url() + path;
    }

    void subscribe(String correlationId, Party sender, Consumer<MeshContent> reader) {
        if (subscriptions.putIfAbsent(correlationId, new Subscription(sender, reader)) != null) {
            throw new IllegalArgumentException(
                    "correlation id \"" + correlationId + "\": in use by another delegation");
        }
    }

    void unsubscribe(String correlationId) {
        subscriptions.remove(correlationId);
    }

    private WireAnswer answer(WireRequest request, RequestHandler.Body body) {
        if (!request.path().isEmpty()) {
            return answer(404, new Failure(MeshError.AGENT_NOT_FOUND.word(), "no such path", Map.of(), false));
        }
        if (!request.method().equals("POST")) {
            return answer(405, new Failure(MeshError.INVALID_MESSAGE.word(), "method: expected POST", Map.of(), false));
        }
        try {
            byte[] json = body.read(MAX_BODY);
            requireSecret(request, json);
            MessageSecurity.Received received = messages.read(json, true);
            requireHeaders(request, received.envelope());
            deliver(received);
            return new WireAnswer.Whole(204, Map.of(), new byte[0]);
        } catch (OneException refused) {
            return answer(
                    status(refused),
                    new Failure(
                            refused.code(),
                            String.valueOf(refused.getMessage()),
                            refused.details(),
                            refused.isRetryable()));
        }
    }

    private void requireSecret(WireRequest request, byte[] json) {
        if (secrets != null
                && secrets.verify(request::header, json, clock.instant())
                        instanceof StandardWebhooks.Verdict.Rejected(String reason)) {
            throw OneException.of(MeshError.INVALID_MESSAGE, "signature of the webhook: " + reason);
        }
    }

    private void requireHeaders(WireRequest request, Envelope envelope) {
        require(request, "X-A2A-Version", Envelope.VERSION);
        require(request, "X-Message-Id", envelope.messageId());
        if (!envelope.to().agentId().equals(own.agentId())) {
            throw OneException.of(
                    MeshError.AGENT_NOT_FOUND,
                    "to.agentId: " + envelope.to().agentId() + " (expected: " + own.agentId() + ")");
        }
    }

    private static void require(WireRequest request, String name, String expected) {
        String value = request.header(name);
        if (value != null && !value.equals(expected)) {
            throw OneException.of(
                    MeshError.INVALID_MESSAGE, name + ": differs from the message (expected: " + expected + ")");
        }
    }

    private void deliver(MessageSecurity.Received received) {
        Envelope envelope = received.envelope();
        String correlationId = requireNonNullElse(envelope.correlationId(), "");
        ReentrantLock lock = locks.get(Math.floorMod(correlationId.hashCode(), LOCKS));
        lock.lock();
        try {
            String id = envelope.from().agentId() + "\n" + envelope.messageId();
            if (isKnown(id)) {
                return;
            }
            Subscription subscription = subscriptions.get(correlationId);
            if (subscription == null) {
                others.accept(new Message(envelope, received.content()));
            } else {
                requireSender(subscription.sender, envelope.from());
                subscription.reader.accept(received.content());
            }
            remember(id); // after its delivery, so that a message whose delivery failed can be sent again
        } finally {
            lock.unlock();
        }
    }

    /** Only the receiver of a delegation reports about it. Its key is bound to its host, if keys are. */
    private static void requireSender(Party expected, Party sender) {
        String host = expected.host();
        if (!sender.agentId().equals(expected.agentId()) || host != null && !host.equals(sender.host())) {
            throw OneException.of(
                    MeshError.INVALID_MESSAGE,
                    "from: " + sender.agentId() + " at " + sender.endpoint() + " (expected: " + expected.agentId()
                            + " at " + host + ")");
        }
    }

    private boolean isKnown(String id) {
        idLock.lock();
        try {
            return known.containsKey(id);
        } finally {
            idLock.unlock();
        }
    }

    private void remember(String id) {
        idLock.lock();
        try {
            known.put(id, true);
        } finally {
            idLock.unlock();
        }
    }

    private static int status(OneException refused) {
        for (MeshError error : MeshError.values()) {
            if (error.word().equals(refused.code())) {
                return error.httpStatus();
            }
        }
        return MeshError.INTERNAL_ERROR.httpStatus();
    }

    private static WireAnswer answer(int status, Failure failure) {
        return new WireAnswer.Whole(
                status,
                Map.of("Content-Type", Envelope.JSON),
                Json.write(EnvelopeModel.body(failure).content()));
    }

    /** Stops listening. */
    @Override
    public void close() {
        server.close();
    }
}
