package dev.parley.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.RestParameter;
import dev.parley.trust.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parameters of an operation of {@link AdminOperations}, which its row has checked. */
record AdminParameters(Map<String, @Nullable Object> values) {
    /** The text of a required parameter. */
    String text(String name) {
        return String.valueOf(values.get(name));
    }

    @Nullable
    String textOrNull(String name) {
        Object value = values.get(name);
        return value == null ? null : value.toString();
    }

    String group() {
        return requireNonNullElse(textOrNull("group"), Principal.DEFAULT_GROUP);
    }

    List<String> texts(String name) {
        return values.get(name) instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
    }

    @Nullable
    Instant time(String name) {
        return RestParameter.time(values.get(name));
    }

    long number(String name, long otherwise) {
        return values.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    boolean isTrue(String name) {
        return Boolean.TRUE.equals(values.get(name));
    }
}
