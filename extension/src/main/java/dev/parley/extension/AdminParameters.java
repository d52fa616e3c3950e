package dev.parley.extension;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.extension.RestParameter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parameters of an operation of the administration, which its row has checked. */
public record AdminParameters(Map<String, @Nullable Object> values) {
    private static final String DEFAULT_GROUP = "default";

    /** The text of a required parameter. */
    public String text(String name) {
        return String.valueOf(values.get(name));
    }

    public @Nullable String textOrNull(String name) {
        Object value = values.get(name);
        return value == null ? null : value.toString();
    }

    /** The group that the operation is about. */
    public String group() {
        return requireNonNullElse(textOrNull("group"), DEFAULT_GROUP);
    }

    public List<String> texts(String name) {
        return values.get(name) instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
    }

    public @Nullable Instant time(String name) {
        return RestParameter.time(values.get(name));
    }

    public long number(String name, long otherwise) {
        return values.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    public boolean isTrue(String name) {
        return Boolean.TRUE.equals(values.get(name));
    }
}
