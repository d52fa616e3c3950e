package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.client.AgentClient;
import dev.parley.gateway.route.Owners;
import dev.parley.gateway.route.RemoteAgent;
import dev.parley.gateway.route.RemoteEndpoint;
import dev.parley.gateway.route.RemoteWebhooks;
import dev.parley.gateway.route.RouteTable;
import dev.parley.gateway.upstream.GatewayParts;
import dev.parley.gateway.upstream.ReplicaConnector;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.gateway.upstream.UpstreamSettings;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.ValueCipher;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;

/** Whatever a remote agent answers, callers get an answer or an error of the protocol, without its address. */
final class UpstreamAnswersFuzzTest {
    private static final FakeAgent AGENT = agent();
    private static final RemoteEndpoint ENDPOINT = endpoint();
    private static final List<Operation.Call<?>> OPERATIONS =
            List.of(SendMessage.of(Message.user(Part.text("hello"))), GetTask.of("t"), new GetExtendedAgentCard(null));
    private static final CallContext CALLER = CallContext.of("alice", new CallContext.Scope("default", "alice"));

    private static FakeAgent agent() {
        try {
            return new FakeAgent();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static RemoteEndpoint endpoint() {
        try {
            Database database = Database.open(Files.createTempDirectory("gateway-fuzz"));
            var unused = new RouteTable(database);
            var surroundings = new GatewayParts(
                    ReplicaConnector.PLAIN,
                    AgentClient::builder,
                    null,
                    Executors.newScheduledThreadPool(
                            1, Thread.ofPlatform().daemon().factory()),
                    System::nanoTime);
            Upstream upstream = Upstream.of("fuzz", UpstreamSettings.of(AGENT.url()), surroundings);
            var webhooks = new RemoteWebhooks(null, "fuzz", "1.0", upstream);
            var known = new RemoteAgent(Set.of(), Set.of(), card -> card, webhooks, false, true, List.of("127.0.0.1"));
            return new RemoteEndpoint(
                    "fuzz",
                    new Owners(database, InstantSource.system(), ValueCipher.of(List.of(ValueCipher.newKey()))),
                    upstream,
                    known,
                    () -> {},
                    () -> {},
                    InstantSource.system());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @FuzzTest
    void answers(byte[] data) {
        String answer = new String(data, StandardCharsets.UTF_8);
        AGENT.results = request -> answer.startsWith("\"") ? answer : "\"result\":" + answer;
        try (SilentCloseable allowed = BugDetectors.allowNetworkConnections()) {
            for (Operation.Call<?> operation : OPERATIONS) {
                answered(operation);
            }
        }
    }

    private static void answered(Operation.Call<?> operation) {
        try {
            assertThat((Object) ENDPOINT.call(operation, CALLER)).isNotNull();
        } catch (A2AException refused) {
            assertThat(String.valueOf(refused.getMessage())).doesNotContain("127.0.0.1");
        }
    }
}
