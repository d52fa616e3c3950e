package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.Operation;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A call of an {@link OwnMethod}.
 *
 * @param params as JSON is in Java: maps, lists, texts, numbers, truth values and null
 */
public record MethodCall(String name, Map<String, @Nullable Object> params) implements Operation.ExtensionCall<Object> {
    /** Form of an answer, which may be any JSON but null. */
    static final JsonForm<Object> ANY = new JsonForm<>() {
        @Override
        public Object fromJson(@Nullable Object json) {
            return requireNonNull(json, "json");
        }

        @Override
        public Object toJson(Object value) {
            return value;
        }
    };

    public MethodCall {
        requireNonNull(name, "name");
        params = Collections.unmodifiableMap(new LinkedHashMap<>(params));
    }

    /** A method is code of the agent. */
    @Override
    public boolean runsAgent() {
        return true;
    }
}
