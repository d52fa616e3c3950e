package dev.parley.client.webhooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.RawServer;
import dev.parley.client.RawServer.Request;
import dev.parley.client.webhooks.StandardWebhooks.Verdict;
import dev.parley.client.webhooks.WebhookSender.Limits;
import dev.parley.client.webhooks.WebhookSender.Outcome;
import dev.parley.dialect.Notifications;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.http.HostName;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class WebhookSenderTest {
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");
    private static final String BODY = "{\"statusUpdate\":{}}";
    private static final Limits HASTY = new Limits(Duration.ofMillis(300), Duration.ofMillis(300), 64 * 1024);
    private static final StandardWebhooks SIGNER = StandardWebhooks.of(List.of(StandardWebhooks.newSecret()));

    @Test
    void anEventArrivesAsA2aJsonWithEverythingTheReceiverAskedFor() throws Exception {
        try (var receiver = accepting();
                var sender = sender(Limits.DEFAULTS)) {
            PushConfig config = new PushConfig(
                    null,
                    "c1",
                    "t1",
                    receiver.url("/hook?x=1"),
                    "tok",
                    new PushConfig.Authentication("bEarer", "s3cret"));

            Outcome outcome = offer(sender, config, event(7));

            assertThat(outcome).isEqualTo(new Outcome.Accepted(204));
            Request request = receiver.requests.getFirst();
            assertThat(request.line()).isEqualTo("POST /hook?x=1 HTTP/1.1");
            assertThat(request.header("Host")).isEqualTo("127.0.0.1:" + receiver.port());
            assertThat(request.header("Content-Type")).isEqualTo("application/a2a+json");
            assertThat(request.header("A2A-Version")).isEqualTo("1.0");
            assertThat(request.header("Authorization")).isEqualTo("bEarer s3cret");
            assertThat(request.header("X-A2A-Notification-Token")).isEqualTo("tok");
            assertThat(request.header("A2A-Notification-Token")).isEqualTo("tok");
            assertThat(request.text()).isEqualTo(BODY);
            assertThat(SIGNER.verify(request::header, request.body(), NOW)).isInstanceOf(Verdict.Genuine.class);
        }
    }

    @Test
    void whatNobodyAskedForIsNotSent() throws Exception {
        try (var receiver = accepting();
                var sender = sender(Limits.DEFAULTS)) {
            offer(sender, config(receiver.url("/")), event(1), null);

            assertThat(receiver.requests.getFirst().head().toLowerCase(java.util.Locale.ROOT))
                    .doesNotContain("authorization", "notification-token", "webhook-", "cookie", "accept-encoding");
        }
    }

    @Test
    void theSameEventKeepsItsIdAndAnotherOneHasItsOwn() throws Exception {
        try (var receiver = accepting();
                var sender = sender(Limits.DEFAULTS)) {
            PushConfig config = config(receiver.url("/"));

            offer(sender, config, event(1));
            offer(sender, config, event(1));
            offer(sender, config, event(2));
            offer(sender, config.of("t1", "other\r\nid"), event(1));

            List<String> ids = receiver.requests.stream()
                    .map(r -> String.valueOf(r.header("webhook-id")))
                    .toList();
            assertThat(ids.get(0)).isEqualTo(ids.get(1)).matches("msg_[A-Za-z0-9_-]{27}");
            assertThat(List.of(ids.get(1), ids.get(2), ids.get(3))).doesNotHaveDuplicates();
        }
    }

    @Test
    void aConnectionServesManyEvents() throws Exception {
        var connections = new AtomicInteger();
        try (var receiver = new RawServer(connection -> {
                    connections.set(connection.number);
                    while (connection.request() != null) {
                        connection.answer(200, "thanks");
                    }
                });
                var sender = sender(Limits.DEFAULTS)) {
            for (int i = 1; i <= 5; i++) {
                assertThat(offer(sender, config(receiver.url("/")), event(i))).isInstanceOf(Outcome.Accepted.class);
            }

            assertThat(connections).hasValue(1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "301, false", "302, false", "307, false", "400, false", "401, true", "403, true", "404, true", "408, true",
        "409, true", "410, false", "413, false", "422, false", "425, true", "429, true", "500, true", "501, false",
        "502, true", "503, true", "504, true",
    })
    void aRefusalSaysWhetherToTryAgain(int status, boolean retryable) throws Exception {
        try (var receiver = answering(status);
                var sender = sender(Limits.DEFAULTS)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1)))
                    .isEqualTo(new Outcome.Refused(status, null, retryable));
        }
    }

    @ParameterizedTest
    @CsvSource({"30, PT30S", "999999, PT1H", "'Fri, 20 Nov 2026 10:00:10 GMT', PT10S"})
    void aRefusalSaysWhenToTryAgain(String header, Duration wait) throws Exception {
        try (var receiver = answering(429, "Retry-After: " + header);
                var sender = sender(Limits.DEFAULTS)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1)))
                    .isEqualTo(new Outcome.Refused(429, wait, true));
        }
    }

    @Test
    void aRedirectIsNotFollowed() throws Exception {
        try (var elsewhere = accepting();
                var receiver = answering(302, "Location: " + elsewhere.url("/"));
                var sender = sender(Limits.DEFAULTS)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1)))
                    .isEqualTo(new Outcome.Refused(302, null, false));
            assertThat(elsewhere.requests).isEmpty();
        }
    }

    @Test
    void aChallengeIsNotAnswered() throws Exception {
        try (var receiver = answering(401, "WWW-Authenticate: Basic realm=\"x\"");
                var sender = sender(Limits.DEFAULTS)) {
            offer(sender, config(receiver.url("/")), event(1));

            assertThat(receiver.requests).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:1/", "http://localhost:1/", "http://2130706433:1/", "http://[::1]:1/"})
    void loopbackIsRefusedUnlessAllowed(String url) throws Exception {
        try (var sender = new WebhookSender(AddressRule.allowing(List.of()), InstantSource.fixed(NOW))) {
            Outcome outcome = offer(sender, config(url), event(1));

            assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.reason()).contains("webhook-allow");
                assertThat(failed.retryable()).isFalse();
            });
        }
    }

    @Test
    void aNameThatLeadsElsewhereByNowIsCheckedAgain() throws Exception {
        try (var receiver = accepting()) {
            var lookups = new AtomicInteger();
            AddressRule rule = AddressRule.allowing(
                    List.of(),
                    "webhook-allow",
                    name -> addresses(lookups.incrementAndGet() == 1 ? "93.184.216.34" : "127.0.0.1"));
            String url = "http://rebinding.example.com:" + receiver.port() + "/";
            rule.check("T1", url);

            try (var sender = new WebhookSender(rule, InstantSource.fixed(NOW))) {
                Outcome outcome = offer(sender, config(url), event(1));

                assertThat(outcome)
                        .isInstanceOfSatisfying(
                                Outcome.Failed.class,
                                failed -> assertThat(failed.reason()).contains("is not public"));
                assertThat(receiver.requests).isEmpty();
            }
        }
    }

    @Test
    void theAddressThatWasCheckedIsTheOneThatIsDialled() throws Exception {
        try (var receiver = accepting()) {
            var lookups = new AtomicInteger();
            // The first lookup is the sender's own; whoever looked again would be sent to another port's host.
            AddressRule rule = AddressRule.allowing(
                    List.of("127.0.0.1"),
                    "webhook-allow",
                    name -> addresses(lookups.incrementAndGet() == 1 ? "127.0.0.1" : "169.254.169.254"));

            try (var sender = new WebhookSender(rule, InstantSource.fixed(NOW))) {
                Outcome outcome = offer(sender, config("http://pinned.example.com:" + receiver.port() + "/"), event(1));

                assertThat(outcome).isInstanceOf(Outcome.Accepted.class);
                assertThat(lookups).hasValue(1);
                assertThat(receiver.requests.getFirst().header("Host"))
                        .isEqualTo("pinned.example.com:" + receiver.port());
            }
        }
    }

    @Test
    void aNameWithOnePrivateAddressIsRefusedThoughAnotherIsPublic() throws Exception {
        AddressRule rule =
                AddressRule.allowing(List.of(), "webhook-allow", name -> addresses("93.184.216.34", "10.0.0.1"));

        try (var sender = new WebhookSender(rule, InstantSource.fixed(NOW))) {
            assertThat(offer(sender, config("http://half.example.com/"), event(1)))
                    .isInstanceOf(Outcome.Failed.class);
        }
    }

    @Test
    void aNameThatCannotBeFoundMayBeFoundLater() throws Exception {
        AddressRule rule = AddressRule.allowing(List.of(), "webhook-allow", name -> {
            throw new UnknownHostException(name);
        });

        try (var sender = new WebhookSender(rule, InstantSource.fixed(NOW))) {
            assertThat(offer(sender, config("http://gone.example.com/"), event(1)))
                    .isEqualTo(new Outcome.Failed("gone.example.com cannot be found", true));
        }
    }

    @Test
    void aClosedPortMayOpenLater() throws Exception {
        RawServer gone = accepting();
        gone.close();

        try (var sender = sender(Limits.DEFAULTS)) {
            assertThat(offer(sender, config(gone.url("/")), event(1)))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.retryable()).isTrue());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ftp://hooks.example.com/", "http://u:p@127.0.0.1/", "not a url"})
    void anAddressThatNeverWasAWebhookIsRefusedForGood(String url) throws Exception {
        try (var sender = sender(Limits.DEFAULTS)) {
            assertThat(offer(sender, config(url), event(1)))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.retryable()).isFalse());
        }
    }

    @Test
    void aTokenThatWouldBreakOutOfItsHeaderIsNeverSent() throws Exception {
        try (var receiver = accepting();
                var sender = sender(Limits.DEFAULTS)) {
            var config = new PushConfig(null, "c", "t", receiver.url("/"), "a\r\nX-Evil: 1", null);

            assertThat(offer(sender, config, event(1))).isInstanceOf(Outcome.Failed.class);
            assertThat(receiver.requests).isEmpty();
        }
    }

    @Test
    void aReceiverThatSaysNothingIsGivenUp() throws Exception {
        try (var receiver = new RawServer(connection -> {
                    connection.request();
                    connection.awaitClose();
                });
                var sender = sender(HASTY)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1)))
                    .isEqualTo(new Outcome.Failed("no answer within PT0.3S", true));
        }
    }

    @Test
    void aReceiverThatDripsItsHeadersIsGivenUp() throws Exception {
        try (var receiver = new RawServer(connection -> {
                    connection.request();
                    connection.write("HTTP/1.1 100 Continue\n\n");
                    for (; ; ) {
                        connection.write("HTTP/1.1 102 Processing\n\n");
                    }
                });
                var sender = sender(HASTY)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1))).isInstanceOf(Outcome.Failed.class);
        }
    }

    @Test
    void anAcceptanceCountsThoughItsBodyNeverEnds() throws Exception {
        var closed = new CountDownLatch(1);
        try (var receiver = new RawServer(connection -> {
                    connection.request();
                    connection.write("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n");
                    connection.awaitClose();
                    closed.countDown();
                });
                var sender = sender(HASTY)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1))).isEqualTo(new Outcome.Accepted(200));
            closed.await();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Content-Length: 10000000000", "Connection: close", "Content-Encoding: gzip\nConnection: close"})
    void anAnswerOfTenGigabytesIsNotRead(String header) throws Exception {
        var written = new AtomicInteger();
        var closed = new CountDownLatch(1);
        try (var receiver = new RawServer(connection -> {
                    connection.request();
                    connection.write("HTTP/1.1 200 OK\n" + header + "\n\n");
                    try {
                        for (; ; ) {
                            connection.writeExactly(new byte[8192]);
                            written.addAndGet(8192);
                        }
                    } catch (IOException e) {
                        closed.countDown();
                    }
                });
                var sender = sender(Limits.DEFAULTS)) {
            assertThat(offer(sender, config(receiver.url("/")), event(1))).isEqualTo(new Outcome.Accepted(200));

            closed.await();
            assertThat(written.get()).isLessThan(32 * 1024 * 1024); // what the sockets' buffers hold, not more
        }
    }

    @Test
    void anInterruptionEndsTheWait() throws Exception {
        var arrived = new CountDownLatch(1);
        try (var receiver = new RawServer(connection -> {
                    connection.request();
                    arrived.countDown();
                    connection.awaitClose();
                });
                var sender = sender(Limits.DEFAULTS)) {
            Thread waiting = Thread.currentThread();
            Thread.ofVirtual().start(() -> {
                try {
                    arrived.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                waiting.interrupt();
            });

            assertThatThrownBy(() -> offer(sender, config(receiver.url("/")), event(1)))
                    .isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void theBoundsOfAnAttemptAreThese() {
        assertThat(Limits.DEFAULTS).isEqualTo(new Limits(Duration.ofSeconds(5), Duration.ofSeconds(15), 64 * 1024));
    }

    private static WebhookSender sender(Limits limits) {
        return new WebhookSender(AddressRule.allowing(List.of("127.0.0.1")), InstantSource.fixed(NOW), limits);
    }

    private static RawServer accepting() throws IOException {
        return answering(204);
    }

    private static RawServer answering(int status, String... headers) throws IOException {
        return new RawServer(connection -> {
            while (connection.request() != null) {
                connection.answer(status, "", headers);
            }
        });
    }

    private static PushConfig config(String url) {
        return new PushConfig(null, "c1", "t1", url, null, null);
    }

    private static LoggedEvent event(long sequence) {
        var event = new LoggedEvent(
                sequence, new TaskStatusUpdateEvent("t1", "ctx", TaskStatus.of(TaskState.WORKING, NOW), Map.of()));
        event.encoded(anything -> BODY.getBytes(UTF_8));
        return event;
    }

    private static InetAddress[] addresses(String... literals) throws UnknownHostException {
        var found = new InetAddress[literals.length];
        for (int i = 0; i < found.length; i++) {
            found[i] = InetAddress.getByAddress(HostName.literal(literals[i]).orElseThrow());
        }
        return found;
    }

    private static Outcome offer(WebhookSender sender, PushConfig config, LoggedEvent event)
            throws InterruptedException {
        return offer(sender, config, event, SIGNER);
    }

    private static Outcome offer(
            WebhookSender sender, PushConfig config, LoggedEvent event, @Nullable StandardWebhooks signer)
            throws InterruptedException {
        var notification = Notifications.of("1.0", config, null, event, () -> {
            throw new AssertionError("1.0 tells the event");
        });
        return sender.send("T1", config, event.sequence(), requireNonNull(notification), signer);
    }
}
