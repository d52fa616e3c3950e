package dev.parley.dialect.grpc;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.parley.protocol.InvalidField;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Field table of a message of gRPC: writes a value of the model as the message, and reads it back. Fields are found by their names in
 * the proto file, so versions of A2A share a table; a field that a version lacks is left out.
 */
final class Fields<T> implements Kind<T> {
    private enum Presence {
        PLAIN,
        OPTIONAL,
        REQUIRED
    }

    private static final class Field<T> {
        final @Nullable FieldDescriptor at;
        final boolean repeated;
        final boolean hasPresence;
        final Kind<Object> kind;
        final Function<T, @Nullable Object> of;
        final Presence presence;
        final @Nullable Object absent;

        @SuppressWarnings("unchecked") // a field's kind meets only values of that field
        Field(
                @Nullable FieldDescriptor at,
                Kind<?> kind,
                Function<T, @Nullable Object> of,
                Presence presence,
                @Nullable Object absent) {
            this.at = at;
            this.repeated = at != null && at.isRepeated();
            this.hasPresence = at != null && at.hasPresence();
            this.kind = (Kind<Object>) kind;
            this.of = of;
            this.presence = presence;
            this.absent = absent;
        }

        @Nullable
        Object read(FieldDescriptor at, Message message) {
            if (repeated) {
                return elements((List<?>) message.getField(at));
            }
            if (hasPresence && !message.hasField(at)) {
                if (presence == Presence.REQUIRED) {
                    throw InvalidField.of("", "must not be missing");
                }
                return absent;
            }
            Object value = message.getField(at);
            boolean none = presence == Presence.OPTIONAL && !hasPresence && value.equals(at.getDefaultValue());
            return none ? absent : kind.read(value);
        }

        private List<Object> elements(List<?> values) {
            var elements = new ArrayList<>(values.size());
            for (Object value : values) {
                try {
                    elements.add(kind.read(value));
                } catch (InvalidField fault) {
                    throw below("[" + elements.size() + "]", fault);
                }
            }
            return elements;
        }

        void write(FieldDescriptor at, T value, Message.Builder message) {
            Object written = of.apply(value);
            if (repeated) {
                for (Object element : (List<?>) (written == null ? List.of() : written)) {
                    message.addRepeatedField(at, kind.write(element, message, at));
                }
            } else if (written != null) {
                message.setField(at, kind.write(written, message, at));
            }
        }
    }

    /** The values of a message, in the order of the table. */
    static final class Row {
        private final @Nullable Object[] values;
        private int next;

        private Row(@Nullable Object[] values) {
            this.values = values;
        }

        /** The next value, null only if the table says that it may be absent. */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals", "NullAway"}) // as the table says
        <V extends @Nullable Object> V next() {
            return (V) values[next++];
        }
    }

    private final Descriptor type;
    private final List<Field<T>> fields = new ArrayList<>();
    private Function<Row, T> constructor = row -> {
        throw new IllegalStateException("a table without constructor");
    };

    private Fields(Descriptor type) {
        this.type = type;
    }

    static <T> Fields<T> of(Descriptor type) {
        return new Fields<>(type);
    }

    /** A field that has a value in any message: as the proto file says, that of its type if it is absent. */
    <V> Fields<T> plain(String names, Kind<V> kind, Function<T, ? extends @Nullable V> of) {
        return add(names, kind, of, Presence.PLAIN, null);
    }

    /** A field that may be absent, which without explicit presence equals the empty value. */
    <V> Fields<T> optional(String names, Kind<V> kind, Function<T, ? extends @Nullable V> of) {
        return add(names, kind, of, Presence.OPTIONAL, null);
    }

    <V> Fields<T> optional(String names, Kind<V> kind, V absent, Function<T, ? extends @Nullable V> of) {
        return add(names, kind, of, Presence.OPTIONAL, absent);
    }

    /** A message that must not be absent. */
    <V> Fields<T> required(String names, Kind<V> kind, Function<T, V> of) {
        return add(names, kind, of, Presence.REQUIRED, null);
    }

    /** One of several fields, for values of one type. */
    <V extends T> Fields<T> choice(String names, Kind<V> kind, Class<V> type) {
        return add(names, kind, value -> type.isInstance(value) ? value : null, Presence.OPTIONAL, null);
    }

    <V> Fields<T> each(String names, Kind<V> kind, Function<T, List<V>> of) {
        return add(names, kind, of, Presence.PLAIN, List.of());
    }

    Fields<T> metadata(Function<T, Map<String, @Nullable Object>> of) {
        return add(
                "metadata",
                Kind.STRUCT,
                value -> of.apply(value).isEmpty() ? null : of.apply(value),
                Presence.OPTIONAL,
                Map.of());
    }

    /** @param names of the field in each version that calls it otherwise, separated by a bar */
    private Fields<T> add(
            String names,
            Kind<?> kind,
            Function<T, ? extends @Nullable Object> of,
            Presence presence,
            @Nullable Object absent) {
        FieldDescriptor at = null;
        for (String name : names.split("\\|", -1)) {
            at = at == null ? type.findFieldByName(name) : at;
        }
        fields.add(new Field<>(at, kind, of::apply, presence, absent));
        return this;
    }

    /** Finishes the table; {@code constructor} takes each of the values once, in the order of the fields. */
    Fields<T> as(Function<Row, T> constructor) {
        this.constructor = constructor;
        return this;
    }

    @Override
    public T read(Object message) {
        return read((Message) message);
    }

    T read(Message message) {
        @Nullable Object[] values = new @Nullable Object[fields.size()];
        for (int i = 0; i < values.length; i++) {
            Field<T> field = fields.get(i);
            FieldDescriptor at = field.at;
            try {
                values[i] = at == null ? field.absent : field.read(at, message);
            } catch (InvalidField fault) {
                throw below(at == null ? "" : at.getJsonName(), fault);
            }
        }
        return constructor.apply(new Row(values));
    }

    @Override
    public Object write(T value, Message.Builder message, FieldDescriptor field) {
        return write(value, message.newBuilderForField(field));
    }

    Message write(T value, Message.Builder message) {
        for (Field<T> field : fields) {
            if (field.at != null) {
                field.write(field.at, value, message);
            }
        }
        return message.build();
    }

    /** The fault of a field, by the path from the message that has the field. */
    private static InvalidField below(String field, InvalidField fault) {
        String path = fault.field().isEmpty() || fault.field().startsWith("[") ? fault.field() : "." + fault.field();
        return InvalidField.of(field + path, fault.problem());
    }
}
