package dev.parley.client.webhooks;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.spi.Notification;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedHttp;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.RetryAfter;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.support.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
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

    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);
    /**
     * Statuses after which the same request again is pointless. The others are worth another try, 401 and 404 too: a
     * receiver that is being deployed, or gets its credentials changed, answers so for a while.
     */
    private static final Set<Integer> FINAL = Set.of(400, 405, 406, 410, 411, 413, 414, 415, 422, 431, 501, 505);

    private final AddressRule rule;
    private final InstantSource clock;
    private final Limits limits;
    private final GuardedHttp http;

    public WebhookSender(AddressRule rule, InstantSource clock) {
        this(rule, clock, Limits.DEFAULTS);
    }

    WebhookSender(AddressRule rule, InstantSource clock, Limits limits) {
        this.rule = requireNonNull(rule, "rule");
        this.clock = requireNonNull(clock, "clock");
        this.limits = limits;
        this.http = new GuardedHttp(rule, limits.connect(), limits.total());
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
        HttpPost post = request(target, config, sequence, notification, signer);
        var answered = new AtomicReference<Outcome>();
        var attempt = new FutureTask<>(() -> exchange(group, target, post, answered));
        // On its own thread, because neither a resolver nor a receiver that drips bytes heeds a deadline.
        Thread.ofVirtual().name("webhook").start(attempt);
        try {
            return attempt.get(limits.total().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            Outcome outcome = answered.get();
            return outcome != null ? outcome : tooLate();
        } catch (ExecutionException e) {
            return new Outcome.Failed("unexpected: " + e.getCause(), true);
        } finally {
            post.cancel(); // does nothing after a completed exchange
            attempt.cancel(true);
        }
    }

    private HttpPost request(
            HttpUrl target,
            PushConfig config,
            long sequence,
            Notification notification,
            @Nullable StandardWebhooks signer) {
        byte[] body = notification.body();
        HttpPost post = new HttpPost(target.uri());
        post.setEntity(new ByteArrayEntity(body, ContentType.create(notification.contentType())));
        notification.headers().forEach(post::setHeader);
        PushConfig.Authentication authentication = config.authentication();
        if (authentication != null) {
            String credentials = requireNonNullElse(authentication.credentials(), "");
            post.setHeader("Authorization", (authentication.scheme() + " " + credentials).strip());
        }
        if (config.token() != null) {
            // The first is what most receivers look for, the second what some do.
            post.setHeader("X-A2A-Notification-Token", config.token());
            post.setHeader("A2A-Notification-Token", config.token());
        }
        if (signer != null) {
            signer.sign(messageId(config, sequence), clock.instant(), body).forEach(post::setHeader);
        }
        return post;
    }

    /** The same for the same event to the same webhook, however often it is offered. */
    private static String messageId(PushConfig config, long sequence) {
        String name = config.taskId() + "\n" + config.id() + "\n" + sequence;
        String hash = Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(name));
        return "msg_" + hash.substring(0, 27);
    }

    private Outcome exchange(String group, HttpUrl target, HttpPost post, AtomicReference<Outcome> answered) {
        try (ClassicHttpResponse response = http.open(group, target, post)) {
            Outcome outcome = outcome(response);
            answered.set(outcome);
            if (!readWhole(response.getEntity())) {
                post.cancel(); // close() would read the rest first
            }
            return outcome;
        } catch (AddressRule.RefusedHost e) {
            return new Outcome.Failed(requireNonNullElse(e.getMessage(), "host refused"), false);
        } catch (UnknownHostException e) {
            return new Outcome.Failed(target.host().name() + " cannot be found", true);
        } catch (IOException e) {
            Outcome outcome = answered.get();
            if (outcome != null) {
                return outcome;
            }
            boolean late = e instanceof SocketTimeoutException && !(e instanceof ConnectTimeoutException);
            return late ? tooLate() : new Outcome.Failed("not delivered: " + e, true);
        }
    }

    private Outcome tooLate() {
        return new Outcome.Failed("no answer within " + limits.total(), true);
    }

    private Outcome outcome(ClassicHttpResponse response) {
        int status = response.getCode();
        if (status / 100 == 2) {
            return new Outcome.Accepted(status);
        }
        Header header = response.getFirstHeader("Retry-After");
        Duration retryAfter =
                RetryAfter.parse(header == null ? null : header.getValue(), clock.instant(), LONGEST_RETRY_AFTER);
        // Redirects are not followed: where they lead to was not checked, and never registered.
        boolean retryable = status >= 400 && !FINAL.contains(status);
        return new Outcome.Refused(status, retryAfter, retryable);
    }

    /** Reads and forgets the body, so that its connection can be used again; false if it is longer than we care for. */
    private boolean readWhole(@Nullable HttpEntity entity) throws IOException {
        if (entity == null) {
            return true;
        }
        if (entity.getContentLength() > limits.maxAnswerBytes()) {
            return false;
        }
        InputStream in = entity.getContent();
        return in.readNBytes(limits.maxAnswerBytes()).length < limits.maxAnswerBytes() || in.read() < 0;
    }

    /** Cancels running attempts and closes all connections. Idempotent. */
    @Override
    public void close() {
        http.close();
    }
}
