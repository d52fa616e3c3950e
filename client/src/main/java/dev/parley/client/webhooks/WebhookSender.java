package dev.parley.client.webhooks;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static java.util.Objects.requireNonNullElseGet;

import dev.parley.dialect.spi.Notification;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.outbound.http.OutboundRequest;
import dev.parley.outbound.http.RefusedAddressException;
import dev.parley.outbound.http.RetryAfter;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.support.Sha256;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Delivers events to webhooks: one attempt at a time, to an address that {@link AddressRule} has passed.
 *
 * <p>Retrying, order and remembering are the caller's. Safe for any thread; {@link #send} blocks.
 *
 * <p>Source: A2A specification 1.0, sections 4.3.3 and 13.2.
 */
public final class WebhookSender implements AutoCloseable {
    /** Result of an attempt. {@code retryable}: the same attempt may succeed later. */
    public sealed interface Outcome {
        /** The receiver has it. */
        record Accepted(int status) implements Outcome {}

        /** The receiver answered, and does not want it: now, or ever. {@code retryAfter} is at most an hour. */
        record Refused(int status, @Nullable Duration retryAfter, boolean retryable) implements Outcome {}

        /** No answer; whether the receiver has the event is unknown. {@code reason} holds no secret. */
        record Failed(String reason, boolean retryable) implements Outcome {}
    }

    /** Limits of one attempt: time to connect, time in total, and bytes of the answer's body. */
    record Limits(Duration connect, Duration total, int maxAnswerBytes) {
        static final Limits DEFAULTS = new Limits(Duration.ofSeconds(5), Duration.ofSeconds(15), 64 * 1024);
    }

    private static final int CONNECTIONS_PER_HOST = 64;
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);
    /**
     * Statuses after which the same request again is pointless. The others are worth another try, 401 and 404 too: a
     * receiver that is being deployed, or gets its credentials changed, answers so for a while.
     */
    private static final Set<Integer> FINAL = Set.of(400, 405, 406, 410, 411, 413, 414, 415, 422, 431, 501, 505);

    private final AddressRule rule;
    private final InstantSource clock;
    private final Limits limits;
    private final GuardedClients clients;

    public WebhookSender(AddressRule rule, InstantSource clock) {
        this(rule, clock, Limits.DEFAULTS);
    }

    WebhookSender(AddressRule rule, InstantSource clock, Limits limits) {
        this.rule = requireNonNull(rule, "rule");
        this.clock = requireNonNull(clock, "clock");
        this.limits = limits;
        this.clients = new GuardedClients(rule, limits.connect(), CONNECTIONS_PER_HOST, false);
    }

    /**
     * Offers an event to a webhook, once. Takes 15 seconds at most, 5 of them to connect.
     *
     * @param group of the task, whose share of look-ups it uses
     * @param sequence the number of the event, by which a receiver knows a repetition
     * @param signer of notifications; null to send them unsigned
     * @throws InterruptedException if the waiting thread was interrupted; the event may have arrived
     */
    public Outcome send(
            String group,
            PushConfig config,
            long sequence,
            Notification notification,
            @Nullable StandardWebhooks signer)
            throws InterruptedException {
        HttpUrl target;
        try {
            WebhookHeaders.check(config);
            target = rule.target(config.url());
        } catch (A2AException e) {
            return new Outcome.Failed(requireNonNull(e.getMessage()), false);
        }
        OutboundRequest request = request(target, config, sequence, notification, signer);
        var answered = new AtomicReference<Outcome>();
        try {
            LimitedClient.exchange(
                    clients.of(group),
                    request,
                    head -> {
                        answered.set(outcome(head));
                        return new LimitedBytes(limits.maxAnswerBytes());
                    },
                    this,
                    limits.total());
        } catch (IOException | RuntimeException failure) {
            return requireNonNullElseGet(answered.get(), () -> failed(target, failure));
        }
        return requireNonNull(answered.get());
    }

    private Outcome failed(HttpUrl target, Exception failure) {
        return switch (failure) {
            case RefusedAddressException refused ->
                new Outcome.Failed(requireNonNullElse(refused.getMessage(), "host refused"), false);
            case ConnectException none
            when none.getCause() instanceof UnresolvedAddressException ->
                new Outcome.Failed(target.host().name() + " cannot be found", true);
            case HttpConnectTimeoutException silent -> new Outcome.Failed("not delivered: " + silent, true);
            case HttpTimeoutException late -> new Outcome.Failed("no answer within " + limits.total(), true);
            case IOException broken -> new Outcome.Failed("not delivered: " + broken, true);
            default -> new Outcome.Failed("unexpected: " + failure, true);
        };
    }

    private OutboundRequest request(
            HttpUrl target,
            PushConfig config,
            long sequence,
            Notification notification,
            @Nullable StandardWebhooks signer) {
        byte[] body = notification.body();
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", notification.contentType());
        headers.putAll(notification.headers());
        PushConfig.Authentication authentication = config.authentication();
        if (authentication != null) {
            String credentials = requireNonNullElse(authentication.credentials(), "");
            headers.put("Authorization", (authentication.scheme() + " " + credentials).strip());
        }
        if (config.token() != null) {
            // The first is what most receivers look for, the second what some do.
            headers.put("X-A2A-Notification-Token", config.token());
            headers.put("A2A-Notification-Token", config.token());
        }
        if (signer != null) {
            headers.putAll(signer.sign(messageId(config, sequence), clock.instant(), body));
        }
        return new OutboundRequest(target, headers, body);
    }

    /** The same for the same event to the same webhook, however often it is offered. */
    private static String messageId(PushConfig config, long sequence) {
        String name = config.taskId() + "\n" + config.id() + "\n" + sequence;
        String hash = Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(name));
        return "msg_" + hash.substring(0, 27);
    }

    private Outcome outcome(ResponseInfo head) {
        int status = head.statusCode();
        if (status / 100 == 2) {
            return new Outcome.Accepted(status);
        }
        Duration retryAfter = RetryAfter.parse(
                head.headers().firstValue("Retry-After").orElse(null), clock.instant(), LONGEST_RETRY_AFTER);
        // Redirects are not followed: where they lead to was not checked, and never registered.
        boolean retryable = status >= 400 && !FINAL.contains(status);
        return new Outcome.Refused(status, retryAfter, retryable);
    }

    /** Cancels running attempts and closes all connections. Idempotent. */
    @Override
    public void close() {
        clients.close();
    }
}
