package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Names whose addresses change after they were checked, on each way by which a route dials. */
@Timeout(60)
final class DialledAddressesTest {
    /** Stands for a public address. */
    private static final String ALLOWED = "127.0.0.1";

    private static final String PRIVATE = "127.0.0.2";

    @TempDir
    private Path secrets;

    private final AtomicInteger hits = new AtomicInteger();
    private volatile String address = ALLOWED;
    private volatile String tokens = ALLOWED;
    private FakeAgent agent;
    private HttpServer inner;
    private Hub gateway;
    private String url;

    @BeforeEach
    void start() throws Exception {
        agent = new FakeAgent();
        agent.results = request ->
                "\"result\":{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"hi\"}]}}";
        int port = URI.create(agent.url()).getPort();
        inner = HttpServer.create(new InetSocketAddress(PRIVATE, port), 0);
        inner.createContext("/", exchange -> {
            hits.incrementAndGet();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        inner.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        inner.start();
        AddressRule.Lookup lookup = name -> new InetAddress[] {
            InetAddress.getByName(name.equals("agent.test") ? address : name.equals("as.test") ? tokens : name)
        };
        gateway = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .set("gateway-secrets", secrets.toString())
                .extension(
                        new GatewaySource(allowed -> AddressRule.allowing(List.of(ALLOWED), "gateway-allow", lookup)))
                .start();
        url = "http://agent.test:" + port;
    }

    @AfterEach
    void stop() {
        gateway.close();
        inner.stop(0);
        agent.close();
    }

    private AgentClient client() {
        return AgentClient.builder().retries(0).reconnects(0).connect(gateway.agentUrl("far"));
    }

    @Test
    @DisplayName(
            "S32 a name that leads to a private address after it was checked is not dialled: card, call, stream, replica")
    void agents() throws Exception {
        Admin.of(gateway).add("far", url, Map.of("set", List.of("retries=0", "failures=1000")));
        try (AgentClient client = client()) {
            assertThat(((Message) client.send("hello")).text()).isEqualTo("hi");

            address = PRIVATE;

            A2AException call = catchThrowableOfType(A2AException.class, () -> client.send("hello"));
            A2AException stream = catchThrowableOfType(
                    A2AException.class,
                    () -> assertThat(client.stream("hello").hasNext()).isTrue());
            assertThat(call.getMessage() + stream.getMessage()).doesNotContain(PRIVATE, "agent.test");
            assertThat(Admin.of(gateway).ask("POST", "/far/refresh", null).statusCode())
                    .isEqualTo(503);
            assertThat(Admin.of(gateway)
                            .ask("POST", "", Map.of("name", "other", "url", url))
                            .statusCode())
                    .isEqualTo(400);
            assertThat(hits).as("requests at the private address").hasValue(0);

            address = ALLOWED;
            assertThat(((Message) client.send("hello")).text()).isEqualTo("hi");
        }
    }

    @Test
    @DisplayName("S31 token endpoints are dialled by the same rule")
    void tokenEndpoint() throws Exception {
        Files.writeString(secrets.resolve("key"), "secret-of-the-gateway");
        tokens = PRIVATE;
        for (String host : List.of("as.test", PRIVATE)) {
            Admin.of(gateway)
                    .add(
                            "far",
                            url,
                            Map.of(
                                    "set",
                                    List.of(
                                            "retries=0",
                                            "credential=client-credentials",
                                            "token-url=http://" + host + ":"
                                                    + URI.create(url).getPort() + "/token",
                                            "client-id=gateway",
                                            "secret=file:key")));
            try (AgentClient client = client()) {
                assertThat(catchThrowableOfType(A2AException.class, () -> client.send("hello")))
                        .isNotNull();
            }
        }

        assertThat(hits).as("requests at the private address").hasValue(0);
    }

    @Test
    @DisplayName("redirects to private addresses are not followed")
    void redirects() throws Exception {
        Admin.of(gateway).add("far", url, Map.of("set", List.of("retries=0", "failures=1000")));
        try (AgentClient client = client()) {
            agent.redirect = "http://" + PRIVATE + ":" + URI.create(url).getPort() + "/inner";

            assertThat(catchThrowableOfType(A2AException.class, () -> client.send("hello")))
                    .isNotNull();
            assertThat(Admin.of(gateway).ask("POST", "/far/refresh", null).statusCode())
                    .isEqualTo(503);
        }

        assertThat(hits).as("requests at the private address").hasValue(0);
    }

    @Test
    @DisplayName("S32 gRPC, which looks names up itself, is refused for a host that was not named")
    void grpc() throws Exception {
        assertThat(Admin.of(gateway)
                        .ask("POST", "", Map.of("name", "far", "url", url, "binding", "GRPC"))
                        .statusCode())
                .isEqualTo(400);
        assertThat(hits).hasValue(0);
    }
}
