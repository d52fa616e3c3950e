package dev.parley.guards.planted.maps;

import dev.parley.protocol.CallContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handler that takes a request as an unchecked map. */
public final class MapHandler {
    private MapHandler() {}

    static @Nullable Object answer(Map<String, @Nullable Object> given, CallContext caller) {
        return given.get(caller.caller());
    }
}
