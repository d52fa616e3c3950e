package dev.parley.protocol.json;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.io.SerializedString;

/** A closed choice as JSON: an object with exactly one member, whose name is the kind. */
public final class OneOf<T> implements Codec<T> {
    private record Choice(String name, String snake, SerializedString label, Class<?> type, Codec<Object> codec) {}

    private final List<Choice> choices = new ArrayList<>();

    /** A choice of no kinds yet. */
    public OneOf() {}

    /** This choice with one more kind. Only while it is being declared. */
    public <V extends T> OneOf<T> or(String name, Class<V> type, Codec<V> codec) {
        @SuppressWarnings("unchecked") // meets only values of this type
        var same = (Codec<Object>) (Codec<?>) codec;
        choices.add(new Choice(name, ObjectCodec.snakeCase(name), new SerializedString(name), type, same));
        return this;
    }

    @Override
    public String expected() {
        return "exactly one of "
                + String.join(", ", choices.stream().map(Choice::name).toList());
    }

    @Override
    public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
        var properties = new TreeMap<String, Object>();
        choices.forEach(choice -> properties.put(choice.name, others.apply(choice.codec)));
        // A list of alternatives says the same, but generated clients cannot tell objects of it apart.
        return Map.of("type", "object", "properties", properties, "minProperties", 1, "maxProperties", 1);
    }

    @Override
    public T read(JsonParser in) {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            throw FieldPath.unexpected(in, "an object");
        }
        Object found = null;
        for (String name = in.nextName(); name != null; name = in.nextName()) {
            JsonToken token = in.nextToken();
            Choice choice = named(name);
            if (choice == null || token == JsonToken.VALUE_NULL) {
                in.skipChildren();
            } else if (found != null) {
                throw FieldPath.fault(in, "", "a second kind (expected: " + expected() + ")");
            } else {
                found = choice.codec.read(in);
            }
        }
        if (found == null) {
            throw FieldPath.fault(in, "", "of no known kind (expected: " + expected() + ")");
        }
        @SuppressWarnings("unchecked") // every choice is a T
        T value = (T) found;
        return value;
    }

    @Override
    public void write(JsonGenerator out, T value) {
        Choice choice = requireNonNull(of(value));
        out.writeStartObject();
        out.writeName(choice.label);
        choice.codec.write(out, value);
        out.writeEndObject();
    }

    private @Nullable Choice named(String name) {
        for (Choice choice : choices) {
            if (choice.name.equals(name) || choice.snake.equals(name)) {
                return choice;
            }
        }
        return null;
    }

    private @Nullable Choice of(Object value) {
        for (Choice choice : choices) {
            if (choice.type == value.getClass()) {
                return choice;
            }
        }
        return null;
    }
}
