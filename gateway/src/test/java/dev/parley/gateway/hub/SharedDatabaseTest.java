package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardKeys.Algorithm;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Gateways of two hubs that work with one database of PostgreSQL at the same time. */
@Timeout(120)
@Tag("heavy")
final class SharedDatabaseTest {
    private static final String ALICE = "alice-key-0123456789";
    private static final String BOB = "bob-key-0123456789";

    /** A gateway with another database than that of its hub. */
    private record Elsewhere(HubExtensionSource source, Database database) implements HubExtensionSource {
        @Override
        public String uri() {
            return source.uri();
        }

        @Override
        public HubExtensionSource configured(SettingReader in) {
            return new Elsewhere(source.configured(in), database);
        }

        @Override
        public List<ExtensionMethod<?, ?>> administration() {
            return source.administration();
        }

        @Override
        public HubExtension open(HubParts hub) {
            return source.open((HubParts) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {HubParts.class}, (own, of, args) -> {
                        if (of.getName().equals("database")) {
                            return database;
                        }
                        try {
                            return of.invoke(hub, args);
                        } catch (InvocationTargetException thrown) {
                            throw thrown.getCause();
                        }
                    }));
        }
    }

    private static Hub hub(Database database) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .extension(new Elsewhere(new GatewaySource(), database))
                .set("gateway-allow", "localhost")
                .authentication(Authentication.named(List.of("required")))
                .callers(Callers.builder()
                        .apiKey("alice", ALICE)
                        .apiKey("bob", BOB)
                        .build())
                .start();
    }

    private static AgentClient client(Hub hub, String key) {
        return AgentClient.builder().apiKey(key).retries(0).connect(hub.agentUrl("shared"));
    }

    private static A2AError refused(Runnable call) {
        return (A2AError) catchThrowableOfType(A2AException.class, call::run).error();
    }

    @Test
    @DisplayName("routes, owners and pauses of one hub hold at the other one, and both may read a changed card")
    void sharedByTwoHubs() throws Exception {
        var schema = new SharedSchema();
        try (var agent = new FakeAgent();
                Database firstDatabase = schema.shared();
                Database secondDatabase = schema.shared();
                Hub first = hub(firstDatabase);
                Hub second = hub(secondDatabase)) {
            agent.results = request -> FakeAgent.task("t1", "c1", "of alice");

            Admin.of(first).add("shared", agent.url(), Map.of());

            try (AgentClient alice = client(first, ALICE);
                    AgentClient aliceThere = client(second, ALICE);
                    AgentClient bobThere = client(second, BOB)) {
                String id = ((Task) alice.send("hello")).id();
                agent.results = request -> "\"result\":" + FakeAgent.bare("t1", "c1", "of alice");
                assertThat(aliceThere.task(id).text()).isEqualTo("of alice");
                assertThat(refused(() -> bobThere.task(id))).isEqualTo(A2AError.TASK_NOT_FOUND);
                Message message = Message.user(Part.text("hello")).in("c1", null);
                assertThat(refused(() -> bobThere.send(message))).isEqualTo(A2AError.TASK_NOT_FOUND);
                agent.results = request -> FakeAgent.task("t2", "c1", "of alice");
                assertThat(((Task) aliceThere.send(message)).id()).isEqualTo("t2");

                for (int i = 0; i < 10; i++) { // each answer means that the other hub has the change
                    Admin.of(i % 2 == 0 ? first : second).done("POST", "/shared/pause", Map.of());
                    assertThat(refused(() -> alice.send(message))).isEqualTo(A2AError.UNAVAILABLE);
                    assertThat(refused(() -> aliceThere.send(message))).isEqualTo(A2AError.UNAVAILABLE);
                    Admin.of(i % 2 == 0 ? second : first).done("POST", "/shared/resume", null);
                    assertThat(((Task) alice.send(message)).id()).isEqualTo("t2");
                    assertThat(((Task) aliceThere.send(message)).id()).isEqualTo("t2");
                }

                agent.card = agent.card("true", "[{\"schemes\":{\"key\":{\"list\":[]}}}]", "talk");
                assertThat(Admin.of(first).done("POST", "/shared/refresh", null).get("state"))
                        .isEqualTo("changed");
                assertThat(refused(() -> aliceThere.task(id))).isEqualTo(A2AError.UNAVAILABLE);
                assertThat(Admin.of(second)
                                .done("POST", "/shared/refresh", null)
                                .get("state"))
                        .isEqualTo("changed");

                Admin.of(second).done("DELETE", "/shared", null);
                assertThat(refused(() -> alice.task(id))).isNotEqualTo(A2AError.UNAVAILABLE);
            }
        }
    }

    @Test
    @DisplayName(
            "readings of a card whose signature is gone, and removals of unknown routes, are no changes for other hubs")
    void withoutChange(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("key.json");
        CardKeys.create(file, Algorithm.ES256, null);
        CardKeys keys = CardKeys.read(List.of(file));
        var schema = new SharedSchema();
        try (var agent = new FakeAgent();
                Database firstDatabase = schema.shared();
                Database secondDatabase = schema.shared();
                Hub first = hub(firstDatabase);
                Hub second = hub(secondDatabase)) {
            String unsigned = agent.card;
            agent.card = new String(keys.signer(agent.url()).signed(unsigned.getBytes(UTF_8)), UTF_8);
            Admin.of(first).add("shared", agent.url(), Map.of("trust", new String(keys.published(), UTF_8)));
            agent.card = unsigned;
            assertThat(Admin.of(first).done("POST", "/shared/refresh", null).get("state"))
                    .isEqualTo("changed");
            long changes = changes(firstDatabase);

            for (Hub hub : List.of(first, second)) {
                assertThat(Admin.of(hub).done("POST", "/shared/refresh", null).get("state"))
                        .isEqualTo("changed");
                assertThat(Admin.of(hub).ask("DELETE", "/unknown", null).statusCode())
                        .isEqualTo(400);
            }

            assertThat(changes(firstDatabase)).isEqualTo(changes);
        }
    }

    private static long changes(Database database) {
        return database.read(session -> session.number("SELECT n FROM epoch WHERE kind = 4"));
    }
}
