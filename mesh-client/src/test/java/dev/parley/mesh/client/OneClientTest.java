package dev.parley.mesh.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Priority;
import dev.parley.mesh.Envelope.Signature;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.mesh.RetryPolicy;
import dev.parley.mesh.SignedForm;
import dev.parley.protocol.Feed;
import dev.parley.protocol.retry.Backoff.Growth;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client against a scripted peer. */
@Timeout(60)
@Tag("heavy")
final class OneClientTest {
    private static final OneIdentity PLANNER = OneIdentity.of("planner", "https://a.example/agents/planner/one");
    private static final Acceptance ACCEPTED = new Acceptance("t-1", null, List.of("research"));
    private static final Result DONE = new Result("t-1", Outcome.COMPLETED, Map.of("pages", 3), null);
    private static final Status HALF = new Status("t-1", 50, "half", null, null);
    private static final RetryPolicy ONCE = new RetryPolicy(1, Growth.LINEAR);

    @TempDir
    private Path directory;

    private final Peer peer = new Peer();

    @AfterEach
    void stop() {
        peer.close();
    }

    @Test
    @DisplayName(
            "ONE02, ONE04: a delegation is sent with its headers, and its result arrives as a future and as a stream")
    void delegates() throws Exception {
        peer.answer(Peer.Answer.of(202, ACCEPTED))
                .answer(Peer.Answer.of(200, HALF))
                .answer(Peer.Answer.of(200, DONE));
        Instant deadline = Instant.ofEpochMilli(1_900_000_000_000L);
        try (OneClient researcher = OneClient.connect(PLANNER, peer.client());
                Delegated delegated = researcher.send(TaskDelegation.of("papers")
                        .parameter("topic", "graphs")
                        .priority(Priority.HIGH)
                        .timeout(Duration.ofMinutes(5))
                        .deadline(deadline)
                        .retryPolicy(ONCE))) {
            assertThat(delegated.taskId()).isEqualTo("t-1");
            assertThat(delegated.result().get(30, TimeUnit.SECONDS)).isEqualTo(DONE);
            assertThat(drained(delegated.updates())).containsExactly(HALF, DONE);
        }

        Peer.Request sent = peer.requests.getFirst();
        assertThat(sent.path()).isEqualTo("/agents/researcher/one");
        assertThat(sent.header("X-A2A-Version")).isEqualTo("1.0");
        assertThat(sent.header("Authorization")).isEqualTo("Bearer token-1");
        Envelope envelope = sent.envelope();
        assertThat(sent.header("X-Message-Id")).isEqualTo(envelope.messageId());
        assertThat(sent.header("X-Correlation-Id")).isEqualTo(envelope.correlationId());
        assertThat(envelope.timestamp()).isNotNull();
        assertThat(envelope.to().agentId()).isEqualTo("researcher");
        assertThat(envelope.metadata().priority()).isEqualTo(Priority.HIGH);
        assertThat(envelope.metadata().timeout()).isEqualTo(Duration.ofMinutes(5));
        assertThat(envelope.metadata().retryPolicy()).isEqualTo(ONCE);
        assertThat(EnvelopeModel.content(envelope.message()))
                .isEqualTo(new Delegation("papers", Map.of("topic", "graphs"), null, deadline));
        assertThat(peer.requests.get(1).path()).isEqualTo("/agents/researcher/one/tasks/t-1");
        assertThat(peer.requests.get(1).header("Prefer")).isEqualTo("wait=20");
    }

    @Test
    @DisplayName("ONE05: a task that is not a skill of the receiver is refused before anything is sent")
    void checksCapabilities() {
        try (OneClient researcher = OneClient.connect(PLANNER, peer.client())) {
            assertThatThrownBy(() -> researcher.send(TaskDelegation.of("paint")))
                    .isInstanceOfSatisfying(
                            OneException.class,
                            refused -> assertThat(refused.code()).isEqualTo("capability_mismatch"))
                    .hasMessageContaining("research");
        }

        assertThat(peer.requests).isEmpty();
    }

    @Test
    @DisplayName("ONE12, ONE15: 429, 5xx and retryable errors are repeated with the same message id, after Retry-After")
    void repeatsAsThePolicySays() {
        peer.answer(Peer.Answer.text(429, "slow down"))
                .answer(Peer.Answer.text(503, ""))
                .answer(Peer.Answer.of(409, new Failure("task_rejected", "the queue is full", Map.of(), true)))
                .answer(Peer.Answer.of(200, new Response("42", null, null)));

        try (OneClient researcher = OneClient.connect(PLANNER, peer.client())) {
            assertThat(researcher.query("meaning", Map.of()).result()).isEqualTo("42");
        }

        assertThat(peer.requests).hasSize(4);
        assertThat(peer.requests.stream()
                        .map(request -> request.envelope().messageId())
                        .distinct())
                .hasSize(1);
    }

    @Test
    @DisplayName("ONE12: attempts end after 1 + maxRetries; errors that are not retryable are not repeated")
    void givesUp() {
        peer.answer(Peer.Answer.text(503, "maintenance"))
                .answer(Peer.Answer.text(503, "maintenance"))
                .answer(Peer.Answer.of(400, new Failure("invalid_message", "to: missing", Map.of("path", "to"), false)))
                .answer(Peer.Answer.of(409, new Rejection("too busy", "task_rejected", List.of("writer"))));
        try (OneClient researcher = OneClient.connect(PLANNER, peer.client())) {
            TaskDelegation delegation = TaskDelegation.of("research").retryPolicy(ONCE);

            assertThatThrownBy(() -> researcher.send(delegation)).hasMessageContaining("maintenance");
            assertThat(peer.requests).hasSize(2);
            assertThatThrownBy(() -> researcher.send(delegation))
                    .isInstanceOfSatisfying(
                            OneException.class,
                            refused -> assertThat(refused.details()).containsEntry("path", "to"));
            assertThatThrownBy(() -> researcher.send(delegation))
                    .isInstanceOfSatisfying(
                            OneException.class,
                            refused -> assertThat(refused.code()).isEqualTo("task_rejected"))
                    .hasMessage("too busy");
        }
        assertThat(peer.requests).hasSize(4);
    }

    @Test
    @DisplayName("ONE13, ONE30: messages are signed, content is encrypted for the receiver, and its encrypted result is"
            + " decrypted")
    void signsAndEncrypts() throws Exception {
        CardKeys plannerKeys = signing("planner");
        ContentKeys plannerContent = content("planner");
        ContentKeys researcherContent = content("researcher");
        String sealed =
                publicHalf(plannerContent).encrypt("{\"secret\":\"sonata\"}".getBytes(UTF_8), "researcher", "planner");
        peer.answer(Peer.Answer.of(202, ACCEPTED))
                .answer(Peer.Answer.of(200, new Result("t-1", Outcome.COMPLETED, sealed, null)));
        OneIdentity planner = PLANNER.signing(plannerKeys).decrypting(plannerContent);

        try (OneClient researcher =
                        OneClient.connect(planner, peer.client()).encrypting(publicHalf(researcherContent));
                Delegated delegated =
                        researcher.send(TaskDelegation.of("research").parameter("topic", "moonlight"))) {
            assertThat(delegated.result().get(30, TimeUnit.SECONDS).result()).isEqualTo(Map.of("secret", "sonata"));
        }

        Peer.Request sent = peer.requests.getFirst();
        assertThat(new String(sent.body(), UTF_8)).doesNotContain("moonlight");
        Envelope envelope = sent.envelope();
        assertThat(envelope.message().mimeType()).isEqualTo("application/jose");
        assertThat(envelope.metadata().encrypted()).isTrue();
        Signature signature = requireNonNull(envelope.metadata().signature());
        var trust = CardTrust.of(new String(plannerKeys.published(), UTF_8));
        assertThat(trust.verify(signature.form(), signature.jws(), "a.example").isVerified())
                .isTrue();
        String jwe = String.valueOf(envelope.message().content());
        assertThat(new String(researcherContent.decrypt(jwe, "planner", "researcher"), UTF_8))
                .contains("\"task\":\"research\"", "moonlight");
    }

    @Test
    @DisplayName("ONE13: an answer whose signature is not valid is refused")
    void verifiesAnswers() {
        peer.signing = signing("mallory");
        OneIdentity planner =
                PLANNER.trusting(CardTrust.of(new String(signing("researcher").published(), UTF_8)));
        peer.answer(Peer.Answer.of(202, ACCEPTED));

        try (OneClient researcher = OneClient.connect(planner, peer.client())) {
            assertThatThrownBy(() -> researcher.send(TaskDelegation.of("research")))
                    .hasMessageContaining("signature")
                    .hasMessageContaining("not trusted");
        }
    }

    @Test
    @DisplayName("ONE08: callbacks arrive at the listener in order, once, and only from the receiver with its key")
    void receivesCallbacks() throws Exception {
        CardKeys keys = signing("researcher");
        peer.signing = keys;
        OneIdentity planner = PLANNER.trusting(CardTrust.of(new String(keys.published(), UTF_8)));
        peer.answer(Peer.Answer.of(202, ACCEPTED));
        try (OneListener listener = OneListener.of(planner).start();
                OneClient researcher = OneClient.connect(planner, peer.client()).listening(listener);
                Delegated delegated = researcher.send(TaskDelegation.of("research"))) {
            Delegation sent = (Delegation)
                    EnvelopeModel.content(peer.requests.getFirst().envelope().message());
            String callback = requireNonNull(sent.callback());
            String id = delegated.correlationId();
            byte[] half = Peer.bytes(peer.message(HALF, "planner", id));
            byte[] changed = Peer.bytes(
                    peer.message(DONE, "planner", id).at(Instant.now().minusSeconds(7)));
            byte[] stale = Peer.bytes(SignedForm.sign(
                    peer.message(DONE, "planner", id).at(Instant.now().minusSeconds(400)), keys::sign));
            byte[] ofAnother = Peer.bytes(peer.message(DONE, "painter", id));
            peer.signing = null;
            byte[] unsigned = Peer.bytes(peer.message(DONE, "planner", id));

            assertThat(callback).isEqualTo(listener.url());
            assertThat(Peer.post(callback, half, Map.of())).isEqualTo(204);
            assertThat(Peer.post(callback, half, Map.of())).isEqualTo(204);
            assertThat(Peer.post(callback, unsigned, Map.of())).isEqualTo(400);
            assertThat(Peer.post(callback, changed, Map.of())).isEqualTo(400);
            assertThat(Peer.post(callback, stale, Map.of())).isEqualTo(400);
            assertThat(Peer.post(callback, ofAnother, Map.of())).isEqualTo(404);
            assertThat(Peer.post(callback, half, Map.of("X-Message-Id", "other")))
                    .isEqualTo(400);
            assertThat(delegated.result()).isNotDone();

            peer.signing = keys;
            byte[] done = Peer.bytes(peer.message(DONE, "planner", id));
            assertThat(Peer.post(callback, done, Map.of())).isEqualTo(204);
            assertThat(delegated.result().get(30, TimeUnit.SECONDS)).isEqualTo(DONE);
            assertThat(drained(delegated.updates())).containsExactly(HALF, DONE);
        }
    }

    @Test
    @DisplayName("a listener refuses large bodies, other methods and paths, text, and messages about no delegation")
    void listenerIsBounded() throws Exception {
        var others = new LinkedBlockingQueue<OneListener.Message>();
        byte[] half = Peer.bytes(peer.message(HALF, "planner", "c-9"));
        try (OneListener closed = OneListener.of(PLANNER).start();
                OneListener open = OneListener.of(PLANNER)
                        .path("/inbox")
                        .others(others::add)
                        .start()) {
            assertThat(Peer.post(closed.url(), half, Map.of())).isEqualTo(404);
            assertThat(Peer.post(open.url(), half, Map.of())).isEqualTo(204);
            assertThat(requireNonNull(others.poll(30, TimeUnit.SECONDS))
                            .envelope()
                            .correlationId())
                    .isEqualTo("c-9");
            assertThat(Peer.post(open.url(), new byte[5 * 1024 * 1024], Map.of()))
                    .isEqualTo(413);
            assertThat(Peer.post(open.url(), "no json".getBytes(UTF_8), Map.of()))
                    .isEqualTo(400);
            assertThat(Peer.post(open.url() + "/x", half, Map.of())).isEqualTo(404);
        }
    }

    @Test
    @DisplayName("a listener with secrets accepts only webhooks that are signed by one")
    void listenerChecksWebhookSignatures() throws Exception {
        String secret = StandardWebhooks.newSecret();
        byte[] half = Peer.bytes(peer.message(HALF, "planner", "c-9"));
        try (OneListener listener = OneListener.of(PLANNER)
                .secrets(List.of(secret))
                .others(message -> {})
                .start()) {
            assertThat(Peer.post(listener.url(), half, Map.of())).isEqualTo(400);
            assertThat(Peer.post(
                            listener.url(),
                            half,
                            StandardWebhooks.of(List.of(secret)).sign("m-1", Instant.now(), half)))
                    .isEqualTo(204);
        }
    }

    @Test
    @DisplayName("a receiver that declines an accepted task fails the result; a closed delegation ends its stream")
    void failures() throws Exception {
        peer.answer(Peer.Answer.of(202, ACCEPTED))
                .answer(Peer.Answer.of(200, new Rejection("no paper", null, List.of())))
                .answer(Peer.Answer.of(202, ACCEPTED));
        try (OneClient researcher = OneClient.connect(PLANNER, peer.client())) {
            Delegated declined = researcher.send(TaskDelegation.of("research"));
            assertThatThrownBy(() -> declined.result().get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("no paper");

            Delegated closed = researcher.send(TaskDelegation.of("research"));
            closed.close();
            assertThat(closed.updates().next(Duration.ofSeconds(30))).isNull();
            assertThat(closed.result()).isCompletedExceptionally();
        }
    }

    private static List<MeshContent> drained(Feed<MeshContent> updates) throws InterruptedException {
        var all = new ArrayList<MeshContent>();
        for (List<MeshContent> next = updates.next(Duration.ofSeconds(30));
                next != null;
                next = updates.next(Duration.ofSeconds(30))) {
            assertThat(next).isNotEmpty();
            all.addAll(next);
        }
        return all;
    }

    private CardKeys signing(String name) {
        Path file = directory.resolve(name + "-sig.json");
        CardKeys.create(file, CardKeys.Algorithm.EDDSA, null);
        return CardKeys.read(List.of(file));
    }

    private ContentKeys content(String name) {
        Path file = directory.resolve(name + "-enc.json");
        ContentKeys.create(file);
        return ContentKeys.read(file);
    }

    private static ContentKeys publicHalf(ContentKeys keys) {
        return ContentKeys.of(new String(keys.published(), UTF_8));
    }
}
