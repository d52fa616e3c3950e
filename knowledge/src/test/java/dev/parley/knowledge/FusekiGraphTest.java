package dev.parley.knowledge;

import dev.parley.knowledge.model.SparqlService;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("KG27: a graph with its statements on Apache Jena Fuseki")
@Tag("heavy")
class FusekiGraphTest extends RemoteGraphContract {
    @Override
    AutoCloseable start(Path directory) throws IOException {
        return new FusekiServer(directory);
    }

    @Override
    SparqlService service(AutoCloseable started) {
        return ((FusekiServer) started).service();
    }
}
