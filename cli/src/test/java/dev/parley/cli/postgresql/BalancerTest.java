package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Certificates;
import dev.parley.client.AgentClient;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Three hubs of one database behind nginx and HAProxy, with the configurations of {@code deploy/}. */
@Tag("heavy")
@Tag("measured")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BalancerTest {
    private static final int HUBS = 3;
    private static final int SENDERS = 4;

    /** Statuses that tell a client to try again; HAProxy ends a call that it has repeated in vain without an answer. */
    private static final Set<Integer> TEMPORARY = Set.of(Answer.NONE, 502, Answer.UNAVAILABLE, 504);

    /** Tasks of a killed hub go on in less than 2.5 s, and a check each second finds it; the rest is for a busy machine. */
    private static final Duration REPLACED = Duration.ofSeconds(12);

    @TempDir
    private static Path directory;

    private final List<HubProcess> hubs = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();
    private DatabaseServer database;
    private Path chain;
    private Path key;
    private SSLContext trust;
    private int port;
    private int turn;

    @BeforeAll
    void start() throws Exception {
        database = DatabaseServer.primary();
        chain = directory.resolve("chain.pem");
        key = directory.resolve("key.pem");
        Certificates.selfSigned(chain, key);
        trust = Certificates.trusting(chain);
        port = DebianPostgresql.freePort();
        for (int hub = 0; hub < HUBS; hub++) {
            ports.add(DebianPostgresql.freePort());
            hubs.add(launch(hub));
            int started = hub;
            Eventually.holds("the hub works", () -> isReady(started)); // the first one has made the secrets
        }
    }

    @AfterAll
    void stop() throws Exception {
        hubs.forEach(HubProcess::close);
        database.close();
    }

    private Path home(int hub) {
        return directory.resolve("hub" + hub);
    }

    private HubProcess launch(int hub) throws IOException {
        return HubProcess.share(
                home(hub),
                home(0).resolve("data"),
                database.url(),
                ports.get(hub),
                "--public-url",
                url(),
                "--grpc-on-cards",
                "true");
    }

    private String url() {
        return "https://127.0.0.1:" + port;
    }

    private HubCalls calls(int hub) {
        return new HubCalls("http://127.0.0.1:" + ports.get(hub));
    }

    private boolean isReady(int hub) {
        return hub < ports.size() && calls(hub).ready().status() == Answer.OK;
    }

    private AgentClient client(String binding, String agent) {
        AgentClient client =
                AgentClient.builder().sslContext(trust).prefer(binding).connect(url() + "/agents/" + agent);
        assertThat(client.address().protocolBinding()).isEqualTo(binding);
        return client;
    }

    @ParameterizedTest
    @EnumSource
    void callersOfABalancerSeeOneHub(Balancer.Kind kind) throws Exception {
        try (Balancer balancer = new Balancer(kind, directory.resolve("balancer-" + kind), chain, key, port, ports)) {
            HubCalls calls = HubCalls.trusting(trust, url());

            anyHubAnswersForAll(balancer, calls);
            eventsAreSeenBeforeTheTaskEnds();
            theEndOfAHubLosesNothing(calls);
        }
    }

    /** More calls of each kind than there are hubs, each followed by reads that other hubs answer. */
    private void anyHubAnswersForAll(Balancer balancer, HubCalls calls) {
        String large = "Größe ".repeat(200_000);
        try (AgentClient grpc = client(AgentCard.Interface.GRPC, "echo")) {
            for (int hub = 0; hub < HUBS; hub++) {
                for (String text : List.of("small", large)) {
                    Answer sent = calls.send(UUID.randomUUID().toString(), text);
                    String task = sent.sentTask();
                    assertThat(task).as(sent + "\n" + balancer.log()).isNotNull();
                    assertThat(calls.task(task).status()).isEqualTo(Answer.OK);
                    assertThat(((Task) grpc.send(text)).text()).isEqualTo(text);
                }
                assertThat(calls.get("/.well-known/agent-card.json").status()).isEqualTo(Answer.OK);
                assertThat(calls.post("/admin/groups", Map.of("id", "g-" + UUID.randomUUID()))
                                .status())
                        .isEqualTo(Answer.OK);
            }
        }
    }

    private void eventsAreSeenBeforeTheTaskEnds() {
        for (String binding :
                List.of(AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC)) {
            try (AgentClient client = client(binding, "counter");
                    var stream = client.stream("5")) {
                Task begun = (Task) stream.next();
                stream.next();

                assertThat(client.task(begun.id()).state()).isEqualTo(TaskState.WORKING);
            }
        }
    }

    private void theEndOfAHubLosesNothing(HubCalls calls) throws Exception {
        int killed = turn++ % HUBS;
        int before = calls.tasks();
        try (var senders = new Senders(calls, SENDERS);
                AgentClient client = client(AgentCard.Interface.HTTP_JSON, "counter");
                var reads = Repeated.calls(2, () -> calls.get("/agents/echo/.well-known/agent-card.json"))) {
            var stream = client.stream("15");
            Task begun = (Task) stream.next();
            Callable<List<TaskEvent>> rest = () -> {
                var events = new ArrayList<TaskEvent>();
                stream.forEachRemaining(events::add);
                return events;
            };
            var followed = new FutureTask<>(rest);
            Thread.ofVirtual().start(followed);
            senders.await(50);

            hubs.get(killed).close();

            senders.await(50, REPLACED);
            hubs.set(killed, launch(killed));
            Eventually.holds("the hub works again", () -> isReady(killed));
            assertThat(followed.get()).isNotEmpty();
            assertThat(client.task(begun.id()).state()).isEqualTo(TaskState.COMPLETED);
            senders.close();
            Senders.verify(calls, senders.acknowledged());
            assertThat(calls.tasks() - before).isEqualTo(senders.acknowledged().size());
            for (Repeated repeated : List.of(senders, reads)) {
                assertThat(repeated.since(0).filter(answer -> answer.status() != Answer.OK))
                        .allMatch(answer -> TEMPORARY.contains(answer.status()));
            }
        }
    }
}
