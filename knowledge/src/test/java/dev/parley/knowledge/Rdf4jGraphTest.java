package dev.parley.knowledge;

import dev.parley.knowledge.model.SparqlService;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("heavy")
@DisplayName("KG27: a graph with its statements in Eclipse RDF4J")
class Rdf4jGraphTest extends RemoteGraphContract {
    @Override
    AutoCloseable start(Path directory) throws IOException {
        return new Rdf4jServer();
    }

    @Override
    SparqlService service(AutoCloseable started) {
        return ((Rdf4jServer) started).service();
    }
}
