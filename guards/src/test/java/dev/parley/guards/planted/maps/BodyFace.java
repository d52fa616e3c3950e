package dev.parley.guards.planted.maps;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.OwnMethod;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handler that reads a member of a request in a method of its own. */
public record BodyFace() implements OwnMethod {
    @Override
    public Object call(Map<String, @Nullable Object> params, CallContext caller) {
        return text(params);
    }

    private static String text(Map<String, @Nullable Object> body) {
        return String.valueOf(body.get("text"));
    }
}
