package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.outbound.http.RefusedAddressException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GuardedClientsTest {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<HttpExchange> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private int port;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/echo", exchange -> {
            requests.add(exchange);
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(201, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        port = server.getAddress().getPort();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    /** Clients that may call 127.0.0.1, and that find each name at these addresses, one after another. */
    private static GuardedClients finding(AtomicInteger lookups, String... addresses) {
        return new GuardedClients(AddressRule.allowing(List.of("127.0.0.1"), "webhook-allow", name ->
                new InetAddress[] {InetAddress.getByName(addresses[lookups.getAndIncrement()])}));
    }

    private HttpRequest post(String host, String path, String body) {
        return HttpRequest.newBuilder(URI.create("http://" + host + ":" + port + path))
                .header("X-Own", "kept")
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    @Test
    void theAddressThatWasCheckedIsTheOneThatIsDialled() throws Exception {
        var lookups = new AtomicInteger();
        try (GuardedClients clients = finding(lookups, "127.0.0.1", "169.254.169.254")) {
            HttpResponse<String> answer = clients.of("g")
                    .send(post("pinned.example.com", "/echo", "x".repeat(100_000)), BodyHandlers.ofString());

            assertThat(answer.statusCode()).isEqualTo(201);
            assertThat(answer.body()).hasSize(100_000);
            assertThat(lookups).hasValue(1);
            assertThat(requests.getFirst().getRequestHeaders().getFirst("Host"))
                    .isEqualTo("pinned.example.com:" + port);
            assertThat(requests.getFirst().getRequestHeaders().getFirst("X-Own"))
                    .isEqualTo("kept");
        }
    }

    @Test
    void aNameThatLeadsToAPrivateAddressByNowIsRefusedAndNothingIsSent() {
        server.createContext("/", requests::add);
        var lookups = new AtomicInteger();
        try (GuardedClients clients = finding(lookups, "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.1")) {
            assertThatThrownBy(() -> AgentClient.builder()
                            .httpClient(clients.of("g"))
                            .connect("http://rebound.example.com:" + port + "/agents/a"))
                    .isInstanceOfSatisfying(ClientException.class, refused -> {
                        assertThat(refused.problem()).isEqualTo(Problem.ORIGIN_NOT_ALLOWED);
                        assertThat(refused).hasMessageContaining("webhook-allow");
                    });
            assertThat(requests).isEmpty();
        }
    }

    @Test
    void redirectsAreNotFollowed() throws Exception {
        server.createContext("/away", exchange -> {
            exchange.getResponseHeaders().set("Location", "/echo");
            exchange.sendResponseHeaders(307, -1);
            exchange.close();
        });
        try (GuardedClients clients = finding(new AtomicInteger())) {
            HttpResponse<String> answer =
                    clients.of("g").send(post("127.0.0.1", "/away", "x"), BodyHandlers.ofString());

            assertThat(answer.statusCode()).isEqualTo(307);
            assertThat(requests).isEmpty();
        }
    }

    @Test
    void aStreamIsReadAsItComesAndEndsWithItsClientOnly() throws Exception {
        var closed = new CountDownLatch(1);
        server.createContext("/stream", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream out = exchange.getResponseBody()) {
                while (true) {
                    out.write("line\n".getBytes(UTF_8));
                    out.flush();
                }
            } catch (IOException cut) {
                closed.countDown();
            }
        });
        try (GuardedClients clients = finding(new AtomicInteger())) {
            HttpClient own = clients.of("g");
            HttpClient other = clients.of("h");
            HttpResponse<java.io.InputStream> stream =
                    own.send(post("127.0.0.1", "/stream", ""), BodyHandlers.ofInputStream());
            assertThat(stream.body().readNBytes(10)).isEqualTo("line\nline\n".getBytes(UTF_8));

            own.shutdownNow();

            assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(other.send(post("127.0.0.1", "/echo", "y"), BodyHandlers.ofString())
                            .body())
                    .isEqualTo("y");
            assertThatThrownBy(() -> own.sendAsync(post("127.0.0.1", "/echo", "y"), BodyHandlers.ofString())
                            .get())
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("closed");
        }
    }

    @Test
    void aCanceledRequestIsGivenUp() throws Exception {
        var arrived = new CountDownLatch(1);
        var never = new CountDownLatch(1);
        server.createContext("/silent", exchange -> {
            arrived.countDown();
            try (exchange) {
                never.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        try (GuardedClients clients = finding(new AtomicInteger())) {
            var answer = clients.of("g").sendAsync(post("127.0.0.1", "/silent", "x"), BodyHandlers.ofString());
            assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();

            answer.cancel(true);

            assertThat(answer).isCancelled();
        } finally {
            never.countDown();
        }
    }

    /** Answers nothing after the head of its answer, byte by byte, until the test ends. */
    private CountDownLatch silent(String path, boolean headFirst) {
        var end = new CountDownLatch(1);
        server.createContext(path, exchange -> {
            requests.add(exchange);
            try (exchange) {
                if (headFirst) {
                    exchange.sendResponseHeaders(200, 0);
                    exchange.getResponseBody().write('x');
                    exchange.getResponseBody().flush();
                }
                end.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        return end;
    }

    private <T> T onVirtualThread(Callable<T> call) throws Exception {
        return threads.submit(call).get();
    }

    private HttpResponse<String> limited(GuardedClients clients, String path, Duration limit) throws Exception {
        LimitedClient client = clients.of("g");
        return onVirtualThread(() -> client.send(post("127.0.0.1", path, "x"), BodyHandlers.ofString(), null, limit));
    }

    @Test
    void aLimitedExchangeAnswersOnTheThreadOfItsCaller() throws Exception {
        try (GuardedClients clients = finding(new AtomicInteger())) {
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> answer = limited(clients, "/echo", Duration.ofSeconds(30));

                assertThat(answer.statusCode()).isEqualTo(201);
                assertThat(answer.body()).isEqualTo("x");
            }
        }
    }

    @Test
    void aLimitedExchangeEndsInTimeWithoutAnAnswerAndInTheMiddleOfOne() throws Exception {
        CountDownLatch silent = silent("/silent", false);
        CountDownLatch half = silent("/half", true);
        try (GuardedClients clients = finding(new AtomicInteger())) {
            // The longer limit comes first, so the shorter one is checked before it.
            var longer = threads.submit(() -> limited(clients, "/silent", Duration.ofMillis(200)));
            for (String path : List.of("/silent", "/half")) {
                assertThatThrownBy(() -> limited(clients, path, Duration.ofMillis(50)))
                        .hasCauseInstanceOf(HttpTimeoutException.class);
            }
            assertThatThrownBy(longer::get).hasRootCauseInstanceOf(IOException.class);
            assertThat(limited(clients, "/echo", Duration.ofSeconds(30)).body()).isEqualTo("x");
        } finally {
            silent.countDown();
            half.countDown();
        }
    }

    @Test
    void aLimitedExchangeEndsWithItsThreadAndItsClient() throws Exception {
        CountDownLatch silent = silent("/silent", false);
        try (GuardedClients clients = finding(new AtomicInteger())) {
            LimitedClient client = clients.of("g");
            Callable<HttpResponse<String>> call = () -> client.send(
                    post("127.0.0.1", "/silent", "x"), BodyHandlers.ofString(), null, Duration.ofMinutes(5));
            var failure = new CompletableFuture<Throwable>();
            Thread interrupted = Thread.ofVirtual().start(() -> {
                try {
                    failure.complete(new AssertionError(call.call()));
                } catch (Exception problem) {
                    failure.complete(problem);
                }
            });
            interrupted.interrupt();
            assertThat(failure.get()).isInstanceOf(InterruptedException.class);

            var shut = threads.submit(call);
            client.shutdownNow();
            assertThatThrownBy(shut::get).hasCauseInstanceOf(IOException.class);
        } finally {
            silent.countDown();
        }
    }

    @Test
    void aLookUpIsNoLongerThanTheLimit() {
        var never = new CountDownLatch(1);
        try (var clients = new GuardedClients(AddressRule.allowing(List.of("127.0.0.1"), "webhook-allow", name -> {
            try {
                never.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            throw new UnknownHostException(name);
        }))) {
            LimitedClient client = clients.of("g");
            assertThatThrownBy(() -> onVirtualThread(() -> client.send(
                            post("slow.example.com", "/echo", "x"),
                            BodyHandlers.ofString(),
                            null,
                            Duration.ofMillis(50))))
                    .hasCauseInstanceOf(HttpTimeoutException.class);
        } finally {
            never.countDown();
        }
    }

    @Test
    void aLimitedExchangeWithARefusedHostNamesTheSetting() {
        try (GuardedClients clients = finding(new AtomicInteger(), "10.0.0.1")) {
            LimitedClient client = clients.of("g");
            assertThatThrownBy(() -> onVirtualThread(() -> client.send(
                            post("rebound.example.com", "/echo", "x"),
                            BodyHandlers.ofString(),
                            null,
                            Duration.ofSeconds(30))))
                    .hasCauseInstanceOf(RefusedAddressException.class)
                    .hasMessageContaining("webhook-allow");
            assertThat(requests).isEmpty();
        }
    }

    @Test
    void aLimitedExchangeNamesABodyBeyondTheLimitOfBytesAsTheReason() {
        try (GuardedClients clients = finding(new AtomicInteger())) {
            LimitedClient client = clients.of("g");
            assertThatThrownBy(() -> onVirtualThread(() -> client.send(
                            post("127.0.0.1", "/echo", "x".repeat(1_000_000)),
                            head -> new LimitedBytes(10),
                            null,
                            Duration.ofSeconds(30))))
                    .hasCauseInstanceOf(LimitedBytes.TooLarge.class);
        }
    }
}
