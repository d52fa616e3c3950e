package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.RequestHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;

/** A page of the knowledge graph extension at its one address: the specification or the JSON Schema. */
final class KnowledgePages implements RequestHandler {
    private final String contentType;
    private final byte[] page;

    private KnowledgePages(String contentType, byte[] page) {
        this.contentType = contentType;
        this.page = page;
    }

    static KnowledgePages specification() {
        return new KnowledgePages("text/markdown; charset=utf-8", resource("knowledge-graph.md"));
    }

    static KnowledgePages schema() {
        return new KnowledgePages("application/schema+json", resource("knowledge-graph.schema.json"));
    }

    @Override
    public WireAnswer answer(WireRequest request) {
        if (!request.path().isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        if (!request.method().equals("GET")) {
            throw A2AException.of(A2AError.METHOD_NOT_ALLOWED);
        }
        return new WireAnswer.Whole(
                200, Map.of("Content-Type", contentType, "Cache-Control", "public, max-age=3600"), page);
    }

    private static byte[] resource(String name) {
        try (InputStream in = KnowledgePages.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + name);
            }
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
