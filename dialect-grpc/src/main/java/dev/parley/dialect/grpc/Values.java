package dev.parley.dialect.grpc;

import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import dev.parley.protocol.InvalidField;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Codec of values that both versions share: free-form values, times, and the path of a fault. */
public final class Values {
    // Logs and answers nest values in JSON of their own, and what is in there must be readable again.
    private static final int MAX_DEPTH = 64;
    private static final double LARGEST_WHOLE = 1L << 53;
    private static final long FIRST_SECOND =
            Instant.parse("0001-01-01T00:00:00Z").getEpochSecond();
    private static final long LAST_SECOND =
            Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();
    private static final int NANOS = 1_000_000_000;

    private Values() {}

    // --- free values

    public static Map<String, @Nullable Object> read(Struct struct) {
        return read(struct, MAX_DEPTH);
    }

    public static @Nullable Object read(Value value) {
        return read(value, MAX_DEPTH);
    }

    private static Map<String, @Nullable Object> read(Struct struct, int depth) {
        requireDepth(depth);
        var members = new LinkedHashMap<String, @Nullable Object>();
        struct.getFieldsMap().forEach((name, value) -> members.put(name, read(value, depth - 1)));
        return members;
    }

    private static @Nullable Object read(Value value, int depth) {
        requireDepth(depth);
        return switch (value.getKindCase()) {
            case NULL_VALUE -> null;
            case BOOL_VALUE -> value.getBoolValue();
            case STRING_VALUE -> value.getStringValue();
            case NUMBER_VALUE -> number(value.getNumberValue());
            case STRUCT_VALUE -> read(value.getStructValue(), depth);
            case LIST_VALUE -> {
                var elements = new ArrayList<@Nullable Object>();
                value.getListValue().getValuesList().forEach(one -> elements.add(read(one, depth - 1)));
                yield elements;
            }
            case KIND_NOT_SET -> throw InvalidField.of("", "a value without a kind");
        };
    }

    private static void requireDepth(int depth) {
        if (depth < 0) {
            throw InvalidField.of("", "nested too deep (expected: at most " + MAX_DEPTH + ")");
        }
    }

    /** Numbers are doubles on this wire; those that are whole shall look so in JSON. */
    private static Number number(double number) {
        if (!Double.isFinite(number)) {
            throw InvalidField.of("", number + " (expected: a finite number)");
        }
        if (number != Math.rint(number) || Math.abs(number) > LARGEST_WHOLE) {
            return number;
        }
        long whole = (long) number;
        if (whole == (int) whole) {
            return (int) whole;
        }
        return whole;
    }

    public static Struct write(Map<String, @Nullable Object> members) {
        var struct = Struct.newBuilder();
        members.forEach((name, value) -> struct.putFields(name, write(value)));
        return struct.build();
    }

    public static Value write(@Nullable Object value) {
        var written = Value.newBuilder();
        switch (value) {
            case null -> written.setNullValue(NullValue.NULL_VALUE);
            case Boolean truth -> written.setBoolValue(truth);
            case Number number -> written.setNumberValue(number.doubleValue());
            case Map<?, ?> map -> {
                var struct = Struct.newBuilder();
                map.forEach((name, member) -> struct.putFields(String.valueOf(name), write(member)));
                written.setStructValue(struct);
            }
            case Iterable<?> elements -> {
                var list = ListValue.newBuilder();
                elements.forEach(element -> list.addValues(write(element)));
                written.setListValue(list);
            }
            default -> written.setStringValue(value.toString());
        }
        return written.build();
    }

    // --- times

    public static Instant read(Timestamp time) {
        if (time.getSeconds() < FIRST_SECOND
                || time.getSeconds() > LAST_SECOND
                || time.getNanos() < 0
                || time.getNanos() >= NANOS) {
            throw InvalidField.of("", "no time of the years 1 to 9999");
        }
        return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
    }

    public static Timestamp write(Instant time) {
        return Timestamp.newBuilder()
                .setSeconds(time.getEpochSecond())
                .setNanos(time.getNano())
                .build();
    }

    // --- fields

    /** In proto3 an empty string without explicit presence is an absent one. */
    public static @Nullable String nonEmpty(String text) {
        return text.isEmpty() ? null : text;
    }

    public static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    /** Reads a field; a fault in it names the field's path. */
    public static <T extends @Nullable Object> T in(String field, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (InvalidField fault) {
            throw InvalidField.of(fault.field().isEmpty() ? field : field + "." + fault.field(), fault.problem());
        }
    }

    /** Reads a field that must be there. */
    public static <T> T required(String field, boolean present, Supplier<T> reader) {
        if (!present) {
            throw InvalidField.of(field, "must not be missing");
        }
        return in(field, reader);
    }

    /** Reads a field that may be missing. */
    public static <T> @Nullable T optional(String field, boolean present, Supplier<T> reader) {
        return present ? in(field, reader) : null;
    }

    /** Reads the elements of a field. */
    public static <F, T> List<T> each(String field, List<F> elements, Function<F, T> reader) {
        var read = new ArrayList<T>(elements.size());
        for (int i = 0; i < elements.size(); i++) {
            F element = elements.get(i);
            read.add(in(field + "[" + i + "]", () -> reader.apply(element)));
        }
        return read;
    }
}
