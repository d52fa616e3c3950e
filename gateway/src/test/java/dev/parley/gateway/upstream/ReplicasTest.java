package dev.parley.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.gateway.upstream.Upstream.Answer;
import dev.parley.gateway.upstream.UpstreamSettings.Address;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ReplicasTest {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final AtomicLong skipped = new AtomicLong();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
        timer.shutdownNow();
    }

    private Upstream upstream(UpstreamSettings settings) {
        var parts = new GatewayParts(
                ReplicaConnector.PLAIN, AgentClient::builder, null, timer, () -> System.nanoTime() + skipped.get());
        Upstream upstream = Upstream.of("route", settings, parts);
        open.add(upstream);
        return upstream;
    }

    private Upstream upstream(Map<String, Object> changes, ScriptedReplica... replicas) {
        var json = new HashMap<String, Object>(changes);
        json.put(
                "replicas", List.of(replicas).stream().map(ScriptedReplica::url).toList());
        json.putIfAbsent("probe", "1h");
        json.putIfAbsent("pause", "1h");
        return upstream(UpstreamSettings.read(json));
    }

    private ScriptedReplica replica() throws IOException {
        return replica((body, out, in) -> ScriptedReplica.result(out, ScriptedReplica.MESSAGE));
    }

    private ScriptedReplica replica(ScriptedReplica.Script script) throws IOException {
        var replica = new ScriptedReplica(script);
        open.add(replica);
        return replica;
    }

    private static Operation.SendMessage message() {
        return Operation.SendMessage.of(Message.user(Part.text("hello")));
    }

    private static Operation.SendStreamingMessage streaming() {
        var send = message();
        return new Operation.SendStreamingMessage(null, send.message(), send.configuration(), Map.of());
    }

    private static Answer<SendResult> send(Upstream upstream) {
        return upstream.call(message(), CallContext.anonymous(), null);
    }

    private static A2AException refused(Runnable call) {
        return catchThrowableOfType(A2AException.class, call::run);
    }

    private static String unreachable() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "http://127.0.0.1:" + server.getLocalPort() + "/agent";
        }
    }

    @Test
    void aMessageThatWasNotSentGoesToAnotherReplica() throws Exception {
        ScriptedReplica working = replica();
        String closed = unreachable();
        Upstream upstream = upstream(UpstreamSettings.of(closed, working.url()));

        for (int i = 0; i < 8; i++) {
            assertThat(send(upstream).replica()).isEqualTo(Replica.id(working.url()));
        }

        assertThat(working.calls).hasValue(8);
    }

    @Test
    void aLostMessageIsRepeatedOnlyIfTheAgentDeduplicates() throws Exception {
        ScriptedReplica cutting = replica((body, out, in) -> {});
        ScriptedReplica other = replica((body, out, in) -> {});

        A2AException lost = refused(() -> send(upstream(Map.of(), cutting, other)));

        assertThat(lost.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(lost).hasMessageContaining("whether the agent acted is unknown");
        assertThat(cutting.calls.get() + other.calls.get()).isEqualTo(1);

        cutting.calls.set(0);
        other.calls.set(0);
        assertThat(refused(() -> send(upstream(Map.of("deduplicates", true), cutting, other))))
                .isNotNull();
        assertThat(List.of(cutting.calls.get(), other.calls.get())).containsExactlyInAnyOrder(0, 3);
    }

    @Test
    void aReadThatWasLostIsRepeated() throws Exception {
        ScriptedReplica cutting = replica((body, out, in) -> {});
        Upstream upstream = upstream(Map.of(), cutting);
        cutting.script((body, out, in) -> {
            if (cutting.calls.get() == 2) {
                ScriptedReplica.result(
                        out, ScriptedReplica.task("t", "TASK_STATE_WORKING").replaceFirst("^\\{\"task\":(.*)}$", "$1"));
            }
        });

        var task = upstream.call(Operation.GetTask.of("t"), CallContext.anonymous(), Replica.id(cutting.url()));

        assertThat(task.value().id()).isEqualTo("t");
    }

    @Test
    void aCallOfATaskStaysAtItsReplicaAlsoIfThatFails() throws Exception {
        ScriptedReplica mine = replica();
        ScriptedReplica other = replica();
        Upstream upstream = upstream(Map.of("retries", 0), mine, other);

        for (int i = 0; i < 5; i++) {
            upstream.call(message(), CallContext.anonymous(), Replica.id(mine.url()));
        }
        mine.close();
        A2AException refused = refused(() -> upstream.call(message(), CallContext.anonymous(), Replica.id(mine.url())));

        assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(refused.getMessage()).doesNotContain("127.0.0.1");
        assertThat(other.calls).hasValue(0);
    }

    @Test
    void aDrainingReplicaKeepsItsTasksAndGetsNoOthers() throws Exception {
        ScriptedReplica draining = replica();
        ScriptedReplica other = replica();
        Upstream upstream = upstream(Map.of(), draining, other);
        UpstreamSettings settings = UpstreamSettings.of(draining.url(), other.url());
        upstream.use(settings.draining(draining.url(), true));

        for (int i = 0; i < 10; i++) {
            assertThat(send(upstream).replica()).isEqualTo(Replica.id(other.url()));
        }
        upstream.call(message(), CallContext.anonymous(), Replica.id(draining.url()));
        assertThat(draining.calls).hasValue(1);

        upstream.use(settings.draining(other.url(), true));
        assertThat(send(upstream).replica()).isEqualTo(Replica.id(draining.url()));
    }

    @Test
    void aSlowReplicaIsAvoided() throws Exception {
        ScriptedReplica slow = replica((body, out, in) -> {
            skipped.addAndGet(TimeUnit.MILLISECONDS.toNanos(400));
            ScriptedReplica.result(out, ScriptedReplica.MESSAGE);
        });
        ScriptedReplica fast = replica();
        Upstream upstream = upstream(Map.of(), slow, fast);

        for (int i = 0; i < 40; i++) {
            send(upstream);
        }

        assertThat(slow.calls.get()).isBetween(1, 8);
        assertThat(fast.calls.get()).isGreaterThan(31);
    }

    @Test
    void weightsShareTheCalls() throws Exception {
        var held = new CountDownLatch(1);
        ScriptedReplica.Script holding = (body, out, in) -> held.await();
        ScriptedReplica heavy = replica(holding);
        ScriptedReplica light = replica(holding);
        var settings = new ArrayList<Address>();
        settings.add(new Address(heavy.url(), 4, false));
        settings.add(Address.of(light.url()));
        UpstreamSettings defaults = UpstreamSettings.of(heavy.url(), light.url());
        Upstream upstream = upstream(new UpstreamSettings(
                settings, defaults.timeouts(), 100, 0, 0, 5, Duration.ofHours(1), Duration.ofHours(1), false));
        var threads = new ArrayList<Thread>();

        for (int i = 0; i < 50; i++) {
            int before = heavy.calls.get() + light.calls.get();
            threads.add(Thread.ofVirtual().start(() -> refused(() -> send(upstream))));
            Eventually.holds("a replica has the call", () -> heavy.calls.get() + light.calls.get() > before);
        }

        assertThat(heavy.calls.get()).isBetween(35, 45);
        threads.forEach(Thread::interrupt);
        held.countDown();
    }

    @Test
    void theBreakerOpensAndClosesByAProbe() throws Exception {
        ScriptedReplica failing = replica((body, out, in) -> {});
        Upstream upstream = upstream(Map.of("failures", 2, "retries", 0), failing);
        refused(() -> send(upstream));
        assertThat(upstream.status().getFirst().breaker()).isEqualTo(Breaker.State.CLOSED);
        refused(() -> send(upstream));
        assertThat(upstream.status().getFirst().breaker()).isEqualTo(Breaker.State.OPEN);

        A2AException refused = refused(() -> send(upstream));
        assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(refused.retryAfter()).isGreaterThan(Duration.ofMinutes(59));
        assertThat(failing.calls).as("an open breaker calls nobody").hasValue(2);

        failing.showsCard(false);
        ((Replicas) upstream).probe();
        assertThat(upstream.status().getFirst().breaker()).isEqualTo(Breaker.State.OPEN);
        failing.showsCard(true);
        failing.script((body, out, in) -> ScriptedReplica.result(out, ScriptedReplica.MESSAGE));
        ((Replicas) upstream).probe();
        assertThat(upstream.status().getFirst().breaker()).isEqualTo(Breaker.State.CLOSED);
        assertThat(send(upstream).replica()).isEqualTo(Replica.id(failing.url()));
    }

    @Test
    void anOpenBreakerIsProbedAfterItsPause() throws Exception {
        ScriptedReplica failing = replica((body, out, in) -> {});
        Upstream upstream =
                upstream(Map.of("failures", 1, "retries", 6, "pause", "0.05s", "deduplicates", true), failing);
        failing.script((body, out, in) -> {
            if (failing.calls.get() > 1) {
                ScriptedReplica.result(out, ScriptedReplica.MESSAGE);
            }
        });

        assertThat(send(upstream).replica()).isEqualTo(Replica.id(failing.url()));

        assertThat(failing.calls).hasValue(2);
        assertThat(failing.cards).as("the connection and the probe").hasValueGreaterThanOrEqualTo(2);
    }

    @Test
    void aBusyReplicaIsLeftInPeaceForTheTimeThatItAsksFor() throws Exception {
        ScriptedReplica busy =
                replica((body, out, in) -> ScriptedReplica.error(out, "429 Too Many Requests", "Retry-After: 60\r\n"));
        ScriptedReplica other = replica();
        Upstream upstream = upstream(Map.of(), busy, other);

        for (int i = 0; i < 10; i++) {
            assertThat(send(upstream).replica()).isEqualTo(Replica.id(other.url()));
        }

        assertThat(busy.calls.get()).isLessThanOrEqualTo(1);
        skipped.addAndGet(TimeUnit.SECONDS.toNanos(61));
        busy.script((body, out, in) -> ScriptedReplica.result(out, ScriptedReplica.MESSAGE));
        var served = new HashSet<String>();
        for (int i = 0; i < 20; i++) {
            served.add(send(upstream).replica());
        }
        assertThat(served).hasSize(2);
    }

    @Test
    void aRetryAfterIsKeptToWithinTheTotalTimeout() throws Exception {
        ScriptedReplica busy = replica();
        busy.script((body, out, in) -> {
            if (busy.calls.get() == 1) {
                ScriptedReplica.error(out, "503 Service Unavailable", "Retry-After: 1\r\n");
            } else {
                ScriptedReplica.result(out, ScriptedReplica.MESSAGE);
            }
        });
        long begun = System.nanoTime();
        send(upstream(Map.of(), busy));
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));

        busy.calls.set(0);
        A2AException refused = refused(() -> send(upstream(Map.of("total-timeout", "0.5s"), busy)));
        assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(1));
        assertThat(busy.calls).hasValue(1);
    }

    @Test
    void theConcurrencyOfAReplicaIsLimited() throws Exception {
        var arrived = new CountDownLatch(1);
        ScriptedReplica holding = replica((body, out, in) -> {
            arrived.countDown();
            in.read();
        });
        Upstream upstream = upstream(Map.of("concurrency", 1, "retries", 0), holding);
        Thread first = Thread.ofVirtual().start(() -> refused(() -> send(upstream)));
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();

        assertThat(refused(() -> send(upstream)).error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(holding.calls).hasValue(1);

        first.interrupt();
        first.join();
        assertThat(upstream.status().getFirst().outstanding()).isZero();
    }

    @Test
    void theConnectTimeoutEndsACallThatWasNotSent() throws Exception {
        try (var full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var one = new Socket(full.getInetAddress(), full.getLocalPort());
                var two = new Socket(full.getInetAddress(), full.getLocalPort())) {
            assertThat(one.isConnected() && two.isConnected()).isTrue();
            Upstream upstream = upstream(UpstreamSettings.read(Map.of(
                    "replicas",
                    List.of("http://127.0.0.1:" + full.getLocalPort() + "/agent"),
                    "connect-timeout",
                    "0.2s",
                    "retries",
                    0)));

            A2AException refused = refused(() -> send(upstream));

            assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE);
            assertThat(refused).hasMessage("The agent cannot be reached");
        }
    }

    @Test
    void theFirstByteTimeoutEndsACallAndAStream() throws Exception {
        ScriptedReplica silent = replica((body, out, in) -> in.read());
        Upstream upstream = upstream(Map.of("first-byte-timeout", "0.2s", "retries", 0), silent);

        A2AException call = refused(
                () -> upstream.call(Operation.GetTask.of("t"), CallContext.anonymous(), Replica.id(silent.url())));
        A2AException stream = refused(() -> upstream.watch(streaming(), CallContext.anonymous(), null));

        assertThat(call).hasMessage("The agent did not answer within its first-byte timeout (PT0.2S)");
        assertThat(stream).hasMessage("The agent did not answer within its first-byte timeout (PT0.2S)");
        assertThat(stream.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(upstream.status().getFirst().outstanding()).isZero();
    }

    @Test
    void theTotalTimeoutEndsABlockingSend() throws Exception {
        ScriptedReplica silent = replica((body, out, in) -> in.read());
        Upstream upstream = upstream(Map.of("total-timeout", "0.2s", "retries", 0), silent);

        assertThat(refused(() -> send(upstream)))
                .hasMessage("The agent did not answer within its total timeout (PT0.2S)");
        assertThat(upstream.status().getFirst().breaker()).isEqualTo(Breaker.State.CLOSED);
    }

    private static List<LoggedEvent> rest(Feed<LoggedEvent> feed) throws InterruptedException {
        var all = new ArrayList<LoggedEvent>();
        for (List<LoggedEvent> next = feed.next(Duration.ofSeconds(10));
                next != null;
                next = feed.next(Duration.ofSeconds(10))) {
            all.addAll(next);
        }
        return all;
    }

    @Test
    void theIdleTimeoutEndsASilentStream() throws Exception {
        ScriptedReplica silent = replica((body, out, in) -> {
            if (body.contains("GetTask")) {
                ScriptedReplica.result(
                        out, ScriptedReplica.task("t", "TASK_STATE_WORKING").replaceFirst("^\\{\"task\":(.*)}$", "$1"));
                return;
            }
            ScriptedReplica.stream(out);
            if (body.contains("SendStreamingMessage")) {
                ScriptedReplica.event(out, ScriptedReplica.task("t", "TASK_STATE_WORKING"));
            }
            in.read();
        });
        Upstream upstream = upstream(Map.of("idle-timeout", "0.05s", "resumes", 1), silent);

        Feed<LoggedEvent> feed =
                upstream.watch(streaming(), CallContext.anonymous(), null).value();

        assertThatThrownBy(() -> rest(feed)).hasMessageContaining("ended by the idle timeout of the gateway (PT0.05S)");
        assertThat(upstream.status().getFirst().outstanding()).isZero();
    }

    @Test
    void theTotalTimeoutEndsAStream() throws Exception {
        ScriptedReplica chatty = replica((body, out, in) -> {
            ScriptedReplica.stream(out);
            ScriptedReplica.event(out, ScriptedReplica.task("t", "TASK_STATE_WORKING"));
            in.read();
        });
        Upstream upstream = upstream(Map.of("total-timeout", "0.3s"), chatty);

        Feed<LoggedEvent> feed =
                upstream.watch(streaming(), CallContext.anonymous(), null).value();

        assertThatThrownBy(() -> rest(feed)).hasMessageContaining("ended by the total timeout of the gateway (PT0.3S)");
    }

    @Test
    void aCallerThatLeavesFreesTheUpstreamCall() throws Exception {
        var arrived = new CountDownLatch(2);
        var left = new CountDownLatch(2);
        ScriptedReplica holding = replica((body, out, in) -> {
            if (body.contains("SendStreamingMessage")) {
                ScriptedReplica.stream(out);
                ScriptedReplica.event(out, ScriptedReplica.task("t", "TASK_STATE_WORKING"));
            }
            arrived.countDown();
            try {
                assertThat(in.read()).isNegative();
            } catch (SocketException reset) {
                assertThat(reset).hasMessageContaining("reset");
            }
            left.countDown();
        });
        Upstream upstream = upstream(Map.of(), holding);
        var failure = new CompletableFuture<A2AException>();
        Thread caller = Thread.ofVirtual().start(() -> failure.complete(refused(() -> send(upstream))));
        Feed<LoggedEvent> feed =
                upstream.watch(streaming(), CallContext.anonymous(), null).value();
        assertThat(arrived.await(10, TimeUnit.SECONDS)).isTrue();

        caller.interrupt();
        feed.close();

        assertThat(left.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(failure.get(10, TimeUnit.SECONDS).error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(upstream.status().getFirst().outstanding()).isZero();
    }

    @Test
    void anUnauthenticatedGatewayIsNoUnauthenticatedCaller() throws Exception {
        ScriptedReplica refusing = replica((body, out, in) ->
                ScriptedReplica.error(out, "401 Unauthorized", "WWW-Authenticate: Bearer realm=\"inner.example\"\r\n"));
        Upstream upstream = upstream(Map.of(), refusing);

        A2AException refused = refused(() -> send(upstream));

        assertThat(refused.error()).isEqualTo(A2AError.INTERNAL);
        assertThat(refused.getMessage() + refused.metadata()).doesNotContain("inner.example");
    }

    @Test
    void settingsSurviveTheirJson() {
        UpstreamSettings settings = UpstreamSettings.read(Map.of(
                "replicas",
                List.of(Map.of("url", "http://a.example/x", "weight", 3), "https://b.example"),
                "idle-timeout",
                "90s",
                "deduplicates",
                true));

        assertThat(UpstreamSettings.read(settings.json())).isEqualTo(settings);
        assertThat(UpstreamSettings.of("3*http://a.example/x")
                        .replicas()
                        .getFirst()
                        .weight())
                .isEqualTo(3);
        assertThatThrownBy(() -> UpstreamSettings.of("ftp://a.example"))
                .hasMessageContaining("expected: http or https");
        assertThatThrownBy(() -> UpstreamSettings.of("http://a.example", "http://a.example/"))
                .hasMessageContaining("duplicate");
        assertThatThrownBy(() -> UpstreamSettings.read(Map.of("replicas", List.of("http://a"), "idle-timeout", "soon")))
                .hasMessageContaining("idle-timeout \"soon\"");
    }
}
