package dev.parley.registry.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryOperation.Publication;
import dev.parley.registry.InspectionOperation.RevokeEntry;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients of a registry that honour its signed list of revocations. */
@Timeout(120)
final class RevokedAgentsTest {
    private static final String SEARCH = "/registry/ard/search";
    private static final String REVOCATIONS = "/registry/revocations";

    @TempDir
    Path directory = Path.of("");

    /** Former answers of the cache in front of the hub, by path. */
    private final Map<String, byte[]> stale = new ConcurrentHashMap<>();

    private Hub hub;
    private HttpServer cache;
    private String cacheUrl = "";
    private Registry registry;
    private BiFunction<byte[], String, Verdict> verifier =
            (payload, jws) -> CardTrust.none().verify(payload, jws, null);
    private Instant now = Instant.now();

    @BeforeEach
    void start() throws IOException {
        Path file = directory.resolve("key.json");
        CardKeys.create(file, CardKeys.Algorithm.ES256, null);
        CardKeys keys = CardKeys.read(List.of(file));
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ofMillis(200))
                .cardKeys(keys)
                .start();
        CardTrust trust = CardTrust.of(new String(keys.published(), UTF_8));
        verifier = (payload, jws) -> trust.verify(payload, jws, null);
        cache = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        cache.createContext("/registry/", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String path = exchange.getRequestURI().getPath();
            byte[] answer = stale.containsKey(path)
                    ? stale.get(path)
                    : send(exchange.getRequestMethod(), path, new String(body, UTF_8));
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        cache.start();
        cacheUrl = "http://127.0.0.1:" + cache.getAddress().getPort();
        registry = throughTheCache();
    }

    @AfterEach
    void stop() {
        registry.close();
        cache.stop(0);
        hub.close();
    }

    private Registry throughTheCache() {
        AgentClient client = AgentClient.builder().allowOrigin(cacheUrl).connect(Registry.agent(hub.url()));
        return Registry.of(client, cacheUrl, AgentClient::builder);
    }

    private byte[] send(String method, String path, String body) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(URI.create(hub.url() + path))
                                    .header("Content-Type", "application/json")
                                    .method(method, HttpRequest.BodyPublishers.ofString(body))
                                    .build(),
                            HttpResponse.BodyHandlers.ofByteArray())
                    .body();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private String register(String name) {
        var card = Map.of(
                "name",
                name,
                "description",
                "Translates",
                "version",
                "1",
                "supportedInterfaces",
                List.of(Map.of("url", "https://a.example", "protocolBinding", "JSONRPC", "protocolVersion", "1.0")),
                "capabilities",
                Map.of(),
                "defaultInputModes",
                List.of(),
                "defaultOutputModes",
                List.of(),
                "skills",
                List.of());
        return registry.register(Publication.of(Json.write(card)).with(Visibility.PUBLIC))
                .id();
    }

    private void remember(String path, String method, String body) {
        stale.put(path, send(method, path, body));
    }

    private List<String> found() {
        return registry.find("translates").all().stream().map(Results.Found::id).toList();
    }

    private void revoke(String id) {
        registry.call(new RevokeEntry(id, "stolen"));
    }

    @Test
    @DisplayName("ONE37 a revoked agent is not handed out, even if an old answer of the registry has it")
    void revokedAgentsAreNotFound() {
        String bad = register("translator");
        String good = register("interpreter");
        remember(SEARCH, "POST", "{\"query\":{\"text\":\"translates\"}}");
        Results before = registry.find("translates");
        revoke(bad);
        assertThat(found()).as("the list is not honoured").contains(bad, good);

        registry.revocations(verifier, () -> now);

        assertThat(found()).contains(good).doesNotContain(bad);
        Results.Found old = before.all().stream()
                .filter(one -> one.id().equals(bad))
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(old::connect).isInstanceOf(RegistryException.class).hasMessageContaining("revoked");
    }

    @Test
    @DisplayName("a cached card is dropped once its entry is on the list, which is fetched again after a minute")
    void cachedCardsAreDropped() {
        Registry direct = Registry.of(AgentClient.connect(Registry.agent(hub.url())), hub.url(), AgentClient::builder)
                .revocations(verifier, () -> now);
        String id = register("translator");
        assertThat(direct.card(id).name()).isEqualTo("translator");
        assertThat(direct.isCached(id)).isTrue();
        revoke(id);
        var unused = direct.find("anything");
        assertThat(direct.isCached(id)).as("within the minute").isTrue();

        now = now.plus(RevocationCheck.REFRESH);
        unused = direct.find("anything");

        assertThat(direct.isCached(id)).isFalse();
        direct.close();
    }

    @Test
    @DisplayName(
            "an old, unsigned or expired list is not accepted: the last one counts until it expires, then nothing is found")
    void listsAreVerified() {
        String first = register("translator");
        String second = register("interpreter");
        remember(SEARCH, "POST", "{\"query\":{\"text\":\"translates\"}}");
        revoke(first);
        remember(REVOCATIONS, "GET", "");
        byte[] former = stale.remove(REVOCATIONS);
        revoke(second);
        registry.revocations(verifier, () -> now);
        assertThat(found()).doesNotContain(first, second);

        for (byte[] bad : List.of(former, Json.write(Map.of("revoked", List.of())), "e30.e30.AA".getBytes(UTF_8))) {
            stale.put(REVOCATIONS, bad);
            now = now.plus(RevocationCheck.REFRESH);
            assertThat(found()).doesNotContain(first, second);
        }
        now = now.plus(Duration.ofHours(25));
        assertThatThrownBy(this::found).isInstanceOf(RegistryException.class).hasMessageContaining("no valid list");
        Registry strangers = throughTheCache()
                .revocations((payload, jws) -> CardTrust.none().verify(payload, jws, null), Instant::now);
        assertThatThrownBy(() -> strangers.find("translates")).hasMessageContaining("no valid list");
        strangers.close();
    }
}
