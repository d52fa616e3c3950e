package dev.parley.dialect;

import dev.parley.dialect.spi.WireAnswer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A JSON answer, to look into. */
record Tree(@Nullable Object value) {
    static Tree of(WireAnswer.Whole answer) {
        return new Tree(Wire.tree(answer.body()));
    }

    static Tree of(String json) {
        return new Tree(Wire.tree(json));
    }

    /** Follows member names and indexes: {@code at("error", "data", 0)}. */
    Tree at(Object... path) {
        Object here = value;
        for (Object step : path) {
            here = switch (here) {
                case List<?> list when step instanceof Integer index -> list.get(index);
                case Map<?, ?> map -> map.get(step);
                case null, default -> null;
            };
        }
        return new Tree(here);
    }

    String text() {
        return Objects.toString(value);
    }

    boolean isAbsent() {
        return value == null;
    }
}
