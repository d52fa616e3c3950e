package dev.parley.guards.planted.maps;

import dev.parley.protocol.Operation;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handler that reads a member of a request without a codec. */
public final class DocumentHandler {
    /** A request with an unchecked map. */
    record Publish(Map<String, @Nullable Object> document) implements Operation.ExtensionCall<String> {
        @Override
        public String name() {
            return "planted/publish";
        }
    }

    private DocumentHandler() {}

    static @Nullable Object answer(Publish publish) {
        return publish.document().get("visibility");
    }
}
