package dev.parley.gateway.upstream;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.gateway.hub.Admin;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Credentials of routes through a whole hub: renewal, an authorization server that hangs, and places where secrets must not be. */
@Timeout(60)
final class RouteCredentialsTest {
    private static final String SECRET = "canary-secret-77c1";
    private static final String TOKEN = "canary-token-";
    private static final Logger LOGS = Logger.getLogger("dev.parley");

    @TempDir
    private Path directory;

    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);
    private final Queue<String> logged = new ConcurrentLinkedQueue<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            Object[] values = entry.getParameters();
            logged.add(entry.getMessage() + (values == null ? "" : Arrays.asList(values)) + entry.getThrown());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private volatile String accepted = TOKEN;
    private HttpServer server;
    private ScriptedReplica agent;
    private Hub gateway;

    @BeforeEach
    void start() throws IOException {
        LOGS.setLevel(Level.ALL);
        LOGS.addHandler(handler);
        Path secrets = Files.createDirectory(directory.resolve("secrets"));
        Files.writeString(secrets.resolve("key"), SECRET);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            if (exchange.getRequestURI().getPath().equals("/hangs")) {
                asked.countDown();
                try {
                    answered.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            }
            byte[] body = ("{\"access_token\":\"" + TOKEN + requests.incrementAndGet()
                            + "\",\"token_type\":\"Bearer\",\"expires_in\":600}")
                    .getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        agent = new ScriptedReplica((body, out, in) -> {
            if (lastHead().contains("authorization: bearer " + accepted)) {
                ScriptedReplica.result(out, ScriptedReplica.MESSAGE);
            } else {
                ScriptedReplica.error(out, "401 Unauthorized", "WWW-Authenticate: Bearer\r\n");
            }
        });
        gateway = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ZERO)
                .set("gateway-secrets", secrets.toString())
                .start();
    }

    @AfterEach
    void stop() {
        answered.countDown();
        gateway.close();
        agent.close();
        server.stop(0);
        LOGS.removeHandler(handler);
        LOGS.setLevel(null);
    }

    private String lastHead() {
        String last = "";
        for (String head : agent.heads) {
            last = head.toLowerCase(Locale.ROOT);
        }
        return last;
    }

    private void route(String name, String path) throws Exception {
        Admin.of(gateway)
                .add(
                        name,
                        agent.url(),
                        Map.of(
                                "set",
                                List.of(
                                        "credential=client-credentials",
                                        "token-url=http://127.0.0.1:"
                                                + server.getAddress().getPort() + path,
                                        "client-id=gateway",
                                        "secret=file:key",
                                        "retries=1",
                                        "probe=1h")));
    }

    private String send(String route) {
        try (AgentClient client = AgentClient.builder().retries(0).connect(gateway.agentUrl(route))) {
            return ((Message) client.send("hello")).text();
        }
    }

    @Test
    void aRefusedTokenIsRenewedOnceAndSecretsAreNowhere() throws Exception {
        route("far", "/token");
        assertThat(send("far")).isEqualTo("hi");
        assertThat(send("far")).isEqualTo("hi");
        assertThat(requests).as("a token is kept").hasValue(1);

        accepted = TOKEN + "2";
        assertThat(send("far")).isEqualTo("hi");
        assertThat(send("far")).isEqualTo("hi");
        assertThat(requests).as("one renewal").hasValue(2);

        accepted = "none";
        A2AException refused = catchThrowableOfType(A2AException.class, () -> send("far"));
        assertThat(requests).as("one renewal of a call").hasValue(3);
        String shown = String.valueOf(Admin.of(gateway).show("far"));
        gateway.close();

        var stored = new StringBuilder();
        try (var files = Files.walk(directory.resolve("data"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                stored.append(Files.readString(file, ISO_8859_1));
            }
        }
        assertThat(logged.toString()).contains("far").doesNotContain(SECRET, TOKEN);
        assertThat(stored.toString()).contains("file:key").doesNotContain(SECRET, TOKEN);
        assertThat(shown + refused).contains("file:key").doesNotContain(SECRET, TOKEN);
    }

    @Test
    void anAuthorizationServerThatHangsHoldsUpNoOtherRoute() throws Exception {
        route("slow", "/hangs");
        route("far", "/token");
        var slow = CompletableFuture.supplyAsync(() -> send("slow"));
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();

        for (int i = 0; i < 5; i++) {
            assertThat(send("far")).isEqualTo("hi");
        }

        assertThat(slow).isNotDone();
        answered.countDown();
        assertThat(slow.get(30, TimeUnit.SECONDS)).isEqualTo("hi");
    }
}
