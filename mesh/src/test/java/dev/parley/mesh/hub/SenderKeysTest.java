package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Key sets of other hubs. */
@Timeout(60)
final class SenderKeysTest {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
    private final AtomicReference<String> published = new AtomicReference<>("first");
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger requests = new AtomicInteger();
    private HttpServer server;
    private String base;
    private SenderKeys keys;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            requests.incrementAndGet();
            String keySet = requireNonNull(published.get());
            boolean isAddress = keySet.startsWith("http");
            if (isAddress) {
                exchange.getResponseHeaders().set("Location", keySet);
            }
            if (keySet.equals("slow")) {
                asked.countDown();
                await(released);
            }
            byte[] body = keySet.getBytes(UTF_8);
            exchange.sendResponseHeaders(isAddress ? 302 : keySet.equals("failure") ? 500 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        base = "http://127.0.0.1:" + server.getAddress().getPort();
        keys = new SenderKeys(List.of(base, "b.example"), now::get);
    }

    @AfterEach
    void stop() {
        keys.close();
        server.stop(0);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private @Nullable String keys(@Nullable String other) {
        return keys.of(base + "/agents/planner", "default", other);
    }

    private void pass(Duration time) {
        now.updateAndGet(before -> before.plus(time));
    }

    @Test
    void aCopyServesUntilAKeyIsMissingOrItIsOld() {
        assertThat(keys(null)).isEqualTo("first");
        published.set("second");
        assertThat(keys(null)).isEqualTo("first");
        assertThat(keys("first")).as("fetched a moment ago").isEqualTo("first");
        assertThat(requests).hasValue(1);

        pass(Duration.ofSeconds(10));
        assertThat(keys("first")).isEqualTo("second");

        published.set("third");
        pass(Duration.ofMinutes(5));
        assertThat(keys(null)).isEqualTo("third");
        assertThat(requests).hasValue(3);
    }

    @Test
    void aFailureIsNotRepeatedAtOnceAndOldKeysDoNotOutliveTheirTime() {
        assertThat(keys(null)).isEqualTo("first");
        published.set("failure");
        pass(Duration.ofMinutes(5));

        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(A2AException.class)
                    .isThrownBy(() -> keys(null))
                    .matches(refused -> refused.error() == A2AError.UNAVAILABLE);
        }
        assertThat(requests).hasValue(2);

        published.set("second");
        pass(Duration.ofSeconds(10));
        assertThat(keys(null)).isEqualTo("second");
    }

    @Test
    void aCopyServesWhileItIsFetchedAgain() throws Exception {
        assertThat(keys(null)).isEqualTo("first");
        pass(Duration.ofSeconds(10));
        published.set("slow");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var renewed = threads.submit(() -> keys("first"));
            assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();

            assertThat(keys(null)).isEqualTo("first");

            released.countDown();
            assertThat(renewed.get(60, TimeUnit.SECONDS)).isEqualTo("slow");
        } finally {
            released.countDown();
        }
    }

    @Test
    void aRedirectIsNotTheKeySetOfTheHub() {
        published.set(base + "/other");

        assertThatExceptionOfType(A2AException.class).isThrownBy(() -> keys(null));
    }

    @Test
    void onlyNamedHubsAreAsked() {
        for (String endpoint :
                List.of(base + "0/x", base + "@c.example/x", "https://c.example/x", "", base.substring(7))) {
            assertThat(keys.of(endpoint, "default", null)).as(endpoint).isNull();
        }
        assertThat(requests).hasValue(0);
    }

    @Test
    void anEntryIsAHostOrAnAddress() {
        for (String entry :
                List.of("", "ftp://b.example", "https://user@b.example", "b example", "https://b.example?x")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new SenderKeys(List.of(entry), now::get))
                    .withMessageContaining("one-trust-hosts");
        }
    }
}
