package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("KG27: a graph with its statements on Apache Jena Fuseki")
class FusekiGraphTest extends GraphContract {
    private @Nullable FusekiServer server;

    @Override
    Database database(Path directory) throws IOException {
        server = new FusekiServer(directory);
        return Database.open(directory);
    }

    @Override
    @Nullable
    SparqlService service() {
        return requireNonNull(server).service();
    }

    /** The statements are not in the tables, but all that the server holds counts as well. */
    @Override
    String tables() {
        var endpoint = new RemoteEndpoint(new RemoteServer(requireNonNull(service())), Duration.ofSeconds(30));
        var all = new StringBuilder(super.tables());
        endpoint.ask("SELECT ?s ?p ?o { { GRAPH ?g { ?s ?p ?o } } UNION { ?s ?p ?o } }")
                .forEach(row -> all.append('\n').append(row.values()));
        return all.toString();
    }

    @AfterAll
    @Override
    void close() throws IOException {
        super.close();
        requireNonNull(server).close();
    }
}
