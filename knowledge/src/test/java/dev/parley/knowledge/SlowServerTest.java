package dev.parley.knowledge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** KG27: a SPARQL server that is slow for some groups. */
@Timeout(120)
final class SlowServerTest {
    private static final String NOTHING = "{\"head\":{\"vars\":[]},\"results\":{\"bindings\":[]}}";

    private final CountDownLatch over = new CountDownLatch(1);
    private final CountDownLatch waiting = new CountDownLatch(2);

    private void answer(HttpExchange exchange) throws IOException {
        String query = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        if (query.contains("slow")) {
            waiting.countDown();
            try {
                over.await(100, TimeUnit.SECONDS);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
        byte[] body = NOTHING.getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/sparql-results+json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Test
    void theQueriesOfTwoSlowGroupsKeepNoOtherGroupWaiting(@TempDir Path directory) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        InstantSource clock = InstantSource.system();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Database database = Database.open(directory)) {
            server.setExecutor(threads);
            server.createContext("/kg", this::answer);
            server.start();
            URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/kg");
            try (Graph graph = Graph.in(
                    database, AuditTrail.in(database, clock), clock, new SparqlService(address, address, () -> ""))) {
                var ended = new AtomicInteger();
                for (int i = 0; i < 60; i++) {
                    String group = "slow" + i % 2;
                    threads.execute(() -> {
                        try {
                            ask(graph, group);
                        } catch (RuntimeException late) {
                            ended.incrementAndGet();
                        }
                    });
                }
                assertThat(waiting.await(60, TimeUnit.SECONDS)).isTrue();

                assertThat(ask(graph, "ordinary")).isEqualTo("{entity=null}");

                assertThat(ended).hasValue(0);
            } finally {
                over.countDown();
            }
        } finally {
            server.stop(0);
        }
    }

    private static String ask(Graph graph, String group) {
        return String.valueOf(graph.query(
                        Query.graphql("{ entity(id: \"ex:p1\") { id } }", Map.of()),
                        CallContext.of("ann", new Scope(group, "ann")))
                .data());
    }
}
