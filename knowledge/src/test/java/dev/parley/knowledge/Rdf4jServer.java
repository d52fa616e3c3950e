package dev.parley.knowledge;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.knowledge.model.SparqlService;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.eclipse.rdf4j.common.exception.RDF4JException;
import org.eclipse.rdf4j.query.BindingSet;
import org.eclipse.rdf4j.query.TupleQueryResult;
import org.eclipse.rdf4j.repository.RepositoryConnection;
import org.eclipse.rdf4j.repository.sail.SailRepository;
import org.eclipse.rdf4j.sail.memory.MemoryStore;

/** SPARQL 1.1 over HTTP, evaluated by Eclipse RDF4J on an empty store in memory. */
final class Rdf4jServer implements AutoCloseable {
    private final SailRepository repository = new SailRepository(new MemoryStore());
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    Rdf4jServer() throws IOException {
        repository.init();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/kg", this::answer);
        server.start();
    }

    SparqlService service() {
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/kg");
        return new SparqlService(address, address, () -> "");
    }

    private void answer(HttpExchange exchange) throws IOException {
        String text = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        boolean isUpdate =
                exchange.getRequestHeaders().getFirst("Content-Type").startsWith("application/sparql-update");
        int status = 200;
        byte[] body;
        try (RepositoryConnection connection = repository.getConnection()) {
            connection.begin();
            if (isUpdate) {
                connection.prepareUpdate(text).execute();
                body = new byte[0];
            } else {
                try (TupleQueryResult result =
                        connection.prepareTupleQuery(text).evaluate()) {
                    body = Json.write(results(result));
                }
            }
            connection.commit();
        } catch (RDF4JException refused) {
            status = 400;
            body = String.valueOf(refused.getMessage()).getBytes(UTF_8);
        }
        exchange.getResponseHeaders().add("Content-Type", "application/sparql-results+json");
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static Map<String, Object> results(TupleQueryResult result) {
        List<Object> rows = new ArrayList<>();
        for (BindingSet row : result) {
            var bindings = new LinkedHashMap<String, Object>();
            row.forEach(binding -> bindings.put(
                    binding.getName(),
                    Map.of(
                            "type",
                            binding.getValue().isIRI() ? "uri" : "literal",
                            "value",
                            binding.getValue().stringValue())));
            rows.add(bindings);
        }
        return Map.of("head", Map.of("vars", result.getBindingNames()), "results", Map.of("bindings", rows));
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        repository.shutDown();
    }
}
