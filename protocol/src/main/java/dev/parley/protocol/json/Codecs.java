package dev.parley.protocol.json;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.extension.RestParameter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.Base64Variants;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Codecs of values that are not objects of the model, by the rules of ProtoJSON. They read all forms that it allows, and
 * write one.
 *
 * <p>Source: A2A specification 1.0, section 5.5; Protocol Buffers, "ProtoJSON format".
 */
public final class Codecs {
    private Codecs() {}

    /** A codec of single values, whose reader and parser return null for what they cannot read. */
    private record Scalar<T>(
            String expected,
            Map<String, Object> schema,
            Function<JsonParser, @Nullable T> reader,
            BiConsumer<JsonGenerator, T> writer,
            @Nullable Function<String, @Nullable T> parser,
            Function<T, String> formatter)
            implements Codec<T> {
        @Override
        public T read(JsonParser in) {
            T value = reader.apply(in);
            if (value == null) {
                throw FieldPath.unexpected(in, expected);
            }
            return value;
        }

        @Override
        public void write(JsonGenerator out, T value) {
            writer.accept(out, value);
        }

        @Override
        public @Nullable T parse(String text, String field) {
            if (parser == null) {
                return Codec.super.parse(text, field);
            }
            T value = parser.apply(text);
            if (value == null) {
                throw misread(field, text, expected);
            }
            return value;
        }

        @Override
        public String format(T value) {
            return formatter.apply(value);
        }

        @Override
        public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
            return schema;
        }
    }

    /** A codec whose reader and writer are its subclass's. */
    abstract static class Described<T> implements Codec<T> {
        private final String expected;
        private final Function<Function<Codec<?>, Map<String, Object>>, Map<String, Object>> schema;

        Described(String expected, Function<Function<Codec<?>, Map<String, Object>>, Map<String, Object>> schema) {
            this.expected = expected;
            this.schema = schema;
        }

        @Override
        public String expected() {
            return expected;
        }

        @Override
        public Map<String, Object> schema(Function<Codec<?>, Map<String, Object>> others) {
            return schema.apply(others);
        }
    }

    private static @Nullable String string(JsonParser in) {
        return in.currentToken() == JsonToken.VALUE_STRING ? in.getString() : null;
    }

    /** A string. */
    public static final Codec<String> TEXT = new Scalar<>(
            "a string",
            Map.of("type", "string"),
            Codecs::string,
            JsonGenerator::writeString,
            text -> text,
            text -> text);

    /** A truth value. */
    public static final Codec<Boolean> BOOLEAN = new Scalar<>(
            "true or false",
            Map.of("type", "boolean"),
            in -> truth(in.currentToken().asString()),
            JsonGenerator::writeBoolean,
            Codecs::truth,
            String::valueOf);

    /** A truth value, which requests of the administration may also write as a text. */
    public static final Codec<Boolean> TRUTH = new Scalar<>(
            "true or false",
            Map.of("type", "boolean"),
            in -> truth(in.getString()),
            JsonGenerator::writeBoolean,
            Codecs::truth,
            String::valueOf);

    private static @Nullable Boolean truth(@Nullable String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            case null, default -> null;
        };
    }

    /** A whole number of 32 bits. */
    public static final Codec<Integer> INT = new Scalar<>(
            "a whole number of 32 bits",
            Map.of("type", "integer", "format", "int32"),
            Codecs::integer,
            JsonGenerator::writeNumber,
            Codecs::exact,
            String::valueOf);

    /** A number. */
    public static final Codec<Double> DOUBLE = new Scalar<>(
            "a number",
            Map.of("type", "number"),
            in -> in.currentToken().isNumeric() ? (Double) in.getDoubleValue() : null,
            JsonGenerator::writeNumber,
            null,
            String::valueOf);

    private static final int MAX_LENGTH = 32;

    private static @Nullable Integer integer(JsonParser in) {
        JsonToken token = in.currentToken();
        if (token == JsonToken.VALUE_NUMBER_INT && in.getNumberType() == JsonParser.NumberType.INT) {
            return in.getIntValue();
        }
        // ProtoJSON also allows 5.0, 5e0 and "5".
        return token.isNumeric() || token == JsonToken.VALUE_STRING ? exact(in.getString()) : null;
    }

    private static @Nullable Integer exact(String text) {
        try {
            return text.length() > MAX_LENGTH ? null : (Integer) new BigDecimal(text).intValueExact();
        } catch (ArithmeticException | NumberFormatException notANumber) {
            return null;
        }
    }

    /**
     * A whole number in a range; it also reads the text of one.
     *
     * @param least may be below 0, as where -1 stands for none
     */
    public static Codec<Long> number(long least, long most) {
        return whole(least, most, Map.of());
    }

    /** A whole number from 0. */
    public static final Codec<Long> COUNT = number(0, Long.MAX_VALUE);

    /** A position in a log from 0; any other text or number is 0, because it is of another log. */
    public static final Codec<Long> POSITION = new Lenient<>(COUNT) {
        @Override
        public Long read(JsonParser in) {
            Long value = whole(in);
            in.skipChildren();
            return position(value);
        }

        @Override
        public Long parse(List<String> texts, String field) {
            return position(whole(texts.getFirst()));
        }

        private Long position(@Nullable Long value) {
            return value == null ? 0L : (Long) Math.max(0, value);
        }
    };

    /** A duration as its number of seconds. */
    public static Codec<Duration> seconds(Duration most) {
        Map<String, Object> format = Map.of("format", RestParameter.SECONDS);
        return via(whole(0, most.toSeconds(), format), Duration::ofSeconds, Duration::toSeconds);
    }

    private static Codec<Long> whole(long least, long most, Map<String, Object> format) {
        var schema = new LinkedHashMap<String, Object>(Map.of("type", "integer"));
        schema.putAll(format);
        schema.put("minimum", least);
        schema.put("maximum", most);
        Function<@Nullable Long, @Nullable Long> inRange =
                value -> value != null && value >= least && value <= most ? value : null;
        return new Scalar<>(
                most == Long.MAX_VALUE ? "a whole number from " + least : least + " to " + most,
                schema,
                in -> inRange.apply(whole(in)),
                JsonGenerator::writeNumber,
                text -> inRange.apply(whole(text)),
                String::valueOf);
    }

    private static @Nullable Long whole(JsonParser in) {
        JsonToken token = in.currentToken();
        if (token == JsonToken.VALUE_NUMBER_INT && in.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            return in.getLongValue();
        }
        // ProtoJSON also allows 5.0, 5e0 and "5".
        return token.isNumeric() || token == JsonToken.VALUE_STRING ? whole(in.getString()) : null;
    }

    private static @Nullable Long whole(String text) {
        try {
            return text.length() > MAX_LENGTH ? null : (Long) new BigDecimal(text).longValueExact();
        } catch (ArithmeticException | NumberFormatException notANumber) {
            return null;
        }
    }

    public static final Codec<Instant> TIMESTAMP = timestamp(Timestamps::parse, Timestamps::format);

    /** Time with as many digits as it has, as {@link Instant#toString} writes it. */
    public static final Codec<Instant> TIME = timestamp(Timestamps::parse, Instant::toString);

    /** Time as written by peers of older versions: without an offset it is in UTC. */
    public static final Codec<Instant> OLD_TIMESTAMP = timestamp(Timestamps::parseAsUtc, Timestamps::format);

    private static Codec<Instant> timestamp(Function<String, Instant> parse, Function<Instant, String> format) {
        Function<@Nullable String, @Nullable Instant> time = text -> {
            try {
                return text == null ? null : parse.apply(text);
            } catch (DateTimeException notATime) {
                return null;
            }
        };
        return new Scalar<>(
                "a time such as 2026-01-05T09:00:00.000Z",
                Map.of("type", "string", "format", "date-time"),
                in -> time.apply(string(in)),
                (out, value) -> out.writeString(format.apply(value)),
                time,
                format);
    }

    /** Bytes in base64: written in the standard form with padding, read in the standard or the URL form. */
    public static final Codec<byte[]> BYTES = new Scalar<>(
            "base64",
            Map.of("type", "string", "contentEncoding", "base64"),
            Codecs::bytes,
            (out, value) -> out.writeBinary(Base64Variants.MIME_NO_LINEFEEDS, value, 0, value.length),
            null,
            value -> Base64.getEncoder().encodeToString(value));

    private static byte @Nullable [] bytes(JsonParser in) {
        String text = string(in);
        if (text == null) {
            return null;
        }
        boolean url = text.indexOf('-') >= 0 || text.indexOf('_') >= 0;
        try {
            return (url ? Base64.getUrlDecoder() : Base64.getDecoder())
                    .decode(text.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IllegalArgumentException notBase64) {
            return null;
        }
    }

    /** Stands for a JSON null that is a value, where null would mean absent. */
    public static final Object NULL = new Object() {
        @Override
        public String toString() {
            return "null";
        }
    };

    /** Any JSON value, null (as {@link #NULL}) included, and when writing also values of the model. */
    public static final Codec<Object> FREE = new Codec<>() {
        @Override
        public String expected() {
            return "any value";
        }

        @Override
        public Object read(JsonParser in) {
            Object value = readFree(in);
            return value == null ? NULL : value;
        }

        @Override
        public void write(JsonGenerator out, Object value) {
            writeFree(out, value);
        }

        @Override
        public boolean readsNull() {
            return true;
        }
    };

    /** A JSON object of any members. */
    public static final Codec<Map<String, @Nullable Object>> STRUCT =
            new Described<>("an object", others -> Map.of("type", "object", "additionalProperties", true)) {
                @Override
                public Map<String, @Nullable Object> read(JsonParser in) {
                    FieldPath.require(in, JsonToken.START_OBJECT, expected());
                    return readStruct(in);
                }

                @Override
                public void write(JsonGenerator out, Map<String, @Nullable Object> value) {
                    writeFree(out, value);
                }
            };

    private static <T> T present(JsonParser in, Codec<T> codec) {
        T value = codec.read(in);
        if (value == null) {
            throw FieldPath.unexpected(in, codec.expected());
        }
        return value;
    }

    /** A string that says something: a blank one is as good as absent. */
    public static final Codec<String> WORDS = via(TEXT, text -> text.isBlank() ? null : text, text -> text);

    /** A codec that reads a blank string as absent. Forms send one for a field without a value. */
    public static <T> Codec<T> orBlank(Codec<T> codec) {
        return new Lenient<>(codec) {
            @Override
            public @Nullable T read(JsonParser in) {
                String text = string(in);
                return text != null && text.isBlank() ? null : codec.read(in);
            }

            @Override
            public @Nullable T parse(List<String> texts, String field) {
                return texts.equals(List.of("")) ? null : codec.parse(texts, field);
            }
        };
    }

    /** A codec that reads more than {@code codec}, and writes the same. */
    abstract static class Lenient<T> extends Described<T> {
        private final Codec<T> codec;

        Lenient(Codec<T> codec) {
            super(codec.expected(), codec::schema);
            this.codec = codec;
        }

        @Override
        public void write(JsonGenerator out, T value) {
            codec.write(out, value);
        }

        @Override
        public @Nullable T parse(List<String> texts, String field) {
            return codec.parse(texts, field);
        }

        @Override
        public @Nullable T parse(String text, String field) {
            return codec.parse(text, field);
        }

        @Override
        public String format(T value) {
            return codec.format(value);
        }
    }

    /** An array of strings. */
    public static final Codec<List<String>> TEXTS = list(TEXT);

    /** An array of strings, or the only string of one. */
    public static final Codec<List<String>> TEXT_OR_TEXTS = new Lenient<>(TEXTS) {
        @Override
        public @Nullable List<String> read(JsonParser in) {
            String text = string(in);
            return text == null ? TEXTS.read(in) : List.of(text);
        }
    };

    /** An array whose elements are all of one kind. */
    public static <T> Codec<List<T>> list(Codec<T> element) {
        return new Described<>("an array", others -> Map.of("type", "array", "items", others.apply(element))) {
            @Override
            public List<T> parse(List<String> texts, String field) {
                var elements = new ArrayList<T>();
                for (String text : texts) {
                    T value = element.parse(text, field);
                    if (value == null) {
                        throw misread(field, text, element.expected());
                    }
                    elements.add(value);
                }
                return elements;
            }

            @Override
            public List<T> read(JsonParser in) {
                FieldPath.require(in, JsonToken.START_ARRAY, expected());
                var elements = new ArrayList<T>();
                while (in.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(present(in, element));
                }
                return elements;
            }

            @Override
            public void write(JsonGenerator out, List<T> value) {
                out.writeStartArray();
                for (T one : value) {
                    element.write(out, one);
                }
                out.writeEndArray();
            }
        };
    }

    /** An object whose member names are free and whose values are all of one kind. */
    public static <T> Codec<Map<String, T>> map(Codec<T> element) {
        return new Described<>(
                "an object", others -> Map.of("type", "object", "additionalProperties", others.apply(element))) {
            @Override
            public Map<String, T> read(JsonParser in) {
                FieldPath.require(in, JsonToken.START_OBJECT, expected());
                var members = new LinkedHashMap<String, T>();
                for (String name = in.nextName(); name != null; name = in.nextName()) {
                    in.nextToken();
                    int before = members.size();
                    members.put(name, present(in, element));
                    refuseDuplicate(in, members, before);
                }
                return members;
            }

            @Override
            public void write(JsonGenerator out, Map<String, T> value) {
                out.writeStartObject();
                value.forEach((name, one) -> {
                    out.writeName(name);
                    element.write(out, one);
                });
                out.writeEndObject();
            }
        };
    }

    /**
     * An enum whose constants are numbered and written with a prefix, as Protocol Buffers do. Number 0, {@code
     * …UNSPECIFIED}, is as good as absent in an enum that has no such constant.
     */
    public static <E extends Enum<E>> Codec<E> enumeration(String prefix, Class<E> type) {
        List<E> constants = List.of(type.getEnumConstants());
        int first = constants.getFirst().name().equals("UNSPECIFIED") ? 0 : 1;
        var names = new EnumMap<E, String>(type);
        var byName = new LinkedHashMap<String, E>();
        constants.forEach(one -> {
            names.put(one, prefix + one.name());
            byName.put(prefix + one.name(), one);
        });
        Map<String, Object> schema = Map.of("type", "string", "enum", List.copyOf(byName.keySet()));
        return new Described<>(String.join(", ", byName.keySet()), others -> schema) {
            @Override
            public @Nullable E read(JsonParser in) {
                if (in.currentToken() == JsonToken.VALUE_NUMBER_INT
                        && in.getNumberType() == JsonParser.NumberType.INT) {
                    int index = in.getIntValue() - first;
                    if (index >= 0 && index < constants.size()) {
                        return constants.get(index);
                    } else if (index == -1) {
                        return null;
                    }
                } else if (in.currentToken() == JsonToken.VALUE_STRING) {
                    String name = in.getString();
                    E constant = byName.get(name);
                    if (constant != null || isUnspecified(name)) {
                        return constant;
                    }
                }
                throw FieldPath.unexpected(in, expected());
            }

            @Override
            public void write(JsonGenerator out, E value) {
                out.writeString(requireNonNull(names.get(value)));
            }

            @Override
            public @Nullable E parse(String text, String field) {
                E constant = byName.get(text);
                if (constant == null && !isUnspecified(text)) {
                    throw misread(field, text, expected());
                }
                return constant;
            }

            @Override
            public String format(E value) {
                return requireNonNull(names.get(value));
            }

            private boolean isUnspecified(String name) {
                return name.equals(prefix + "UNSPECIFIED");
            }
        };
    }

    /** The constants of an enum in lower case, with hyphens in place of underscores. */
    public static <E extends Enum<E>> Codec<E> words(Class<E> type) {
        var words = new EnumMap<E, String>(type);
        for (E constant : type.getEnumConstants()) {
            words.put(constant, constant.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        }
        return words(words, Map.of());
    }

    /** Words for the constants of an enum; {@code more} are understood as well, and never written. */
    public static <E extends Enum<E>> Codec<E> words(Map<E, String> written, Map<String, E> more) {
        var byWord = new LinkedHashMap<String, E>();
        written.forEach((constant, word) -> byWord.putIfAbsent(word, constant));
        String expected = String.join(", ", byWord.keySet());
        Map<String, Object> schema = Map.of("type", "string", "enum", List.copyOf(byWord.keySet()));
        byWord.putAll(more);
        return new Scalar<>(
                expected,
                schema,
                in -> byWord.get(string(in)),
                (out, constant) -> out.writeString(requireNonNull(written.get(constant))),
                byWord::get,
                constant -> requireNonNull(written.get(constant)));
    }

    /** As {@link #words(Class)}, for words of other programs: one that is not known is read as {@code other}. */
    public static <E extends Enum<E>> Codec<E> words(Class<E> type, E other) {
        Codec<E> known = words(type);
        return new Lenient<>(known) {
            @Override
            public @Nullable E read(JsonParser in) {
                String word = string(in);
                try {
                    return word == null ? known.read(in) : known.parse(word, "");
                } catch (A2AException unknown) {
                    if (word == null) {
                        throw unknown;
                    }
                    return other;
                }
            }
        };
    }

    /**
     * A codec for values that travel as others do.
     *
     * @param read may throw {@link InvalidField}
     */
    public static <A, B> Codec<B> via(Codec<A> codec, Function<A, ? extends @Nullable B> read, Function<B, A> write) {
        return new Described<>(codec.expected(), others -> others.apply(codec)) {
            @Override
            public @Nullable B read(JsonParser in) {
                A value = codec.read(in);
                try {
                    return value == null ? null : read.apply(value);
                } catch (InvalidField invalid) {
                    throw FieldPath.fault(in, invalid.field(), invalid.problem());
                }
            }

            @Override
            public void write(JsonGenerator out, B value) {
                codec.write(out, write.apply(value));
            }

            @Override
            public boolean readsNull() {
                return codec.readsNull();
            }

            @Override
            public @Nullable B parse(String text, String field) {
                A value = codec.parse(text, field);
                try {
                    return value == null ? null : read.apply(value);
                } catch (InvalidField invalid) {
                    throw A2AException.invalidParams(field, invalid.problem());
                }
            }

            @Override
            public String format(B value) {
                return codec.format(write.apply(value));
            }
        };
    }

    /** A codec that reads what {@code codec} reads as another value, and writes none. */
    public static <A, B> Codec<B> reading(Codec<A> codec, Function<A, B> read) {
        return via(codec, read, value -> {
            throw new UnsupportedOperationException("a codec for reading");
        });
    }

    /**
     * Objects of several kinds that look different inside, as earlier versions have them.
     *
     * <p>An object is read twice, because its kind may be the last member; only clients read such objects.
     */
    public static <T> Codec<T> kinds(
            Function<T, Codec<T>> ofValue, Function<Map<String, @Nullable Object>, Codec<T>> ofMembers) {
        return new Codec<>() {
            @Override
            public String expected() {
                return STRUCT.expected();
            }

            @Override
            public @Nullable T read(JsonParser in) {
                Map<String, @Nullable Object> members = requireNonNull(STRUCT.read(in));
                return JsonText.read(JsonText.write(Codecs.FREE, members), ofMembers.apply(members));
            }

            @Override
            public void write(JsonGenerator out, T value) {
                ofValue.apply(value).write(out, value);
            }
        };
    }

    /** A value that stands where only objects may. */
    public static Map<String, @Nullable Object> wrapped(@Nullable Object value) {
        return Collections.singletonMap("value", value);
    }

    private static A2AException misread(String field, String text, String expected) {
        return A2AException.invalidParams(field, '"' + text + "\" (expected: " + expected + ")");
    }

    private static @Nullable Object readFree(JsonParser in) {
        return switch (in.currentToken()) {
            case VALUE_NULL -> null;
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_STRING -> in.getString();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> {
                Number number = in.getNumberValue();
                if (Double.isInfinite(number.doubleValue())) {
                    throw FieldPath.unexpected(in, "a number in the range of a double");
                }
                yield number;
            }
            case START_OBJECT -> readStruct(in);
            case START_ARRAY -> {
                var elements = new ArrayList<@Nullable Object>();
                while (in.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(readFree(in));
                }
                yield Collections.unmodifiableList(elements);
            }
            default -> throw FieldPath.unexpected(in, "a value");
        };
    }

    private static Map<String, @Nullable Object> readStruct(JsonParser in) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        for (String name = in.nextName(); name != null; name = in.nextName()) {
            in.nextToken();
            int size = members.size();
            Object value = readFree(in);
            Object before = members.put(name, value);
            if (!(name.equals(RepeatedKinds.KIND) && value instanceof String && value.equals(before))) {
                refuseDuplicate(in, members, size);
            }
        }
        return Collections.unmodifiableMap(members);
    }

    /** Says that the last {@code put} overwrote something, if it did. */
    private static void refuseDuplicate(JsonParser in, Map<?, ?> members, int sizeBefore) {
        if (members.size() == sizeBefore) {
            throw FieldPath.duplicate(in);
        }
    }

    /** Numbers beyond a double would be refused when they are read back. */
    private static <N extends Number> N readable(N number) {
        if (Double.isInfinite(number.doubleValue())) {
            throw new IllegalArgumentException("number out of range (expected: in the range of a double)");
        }
        return number;
    }

    /** Writes maps, lists, strings, numbers, booleans, null, and objects of the model among them. */
    private static void writeFree(JsonGenerator out, @Nullable Object value) {
        switch (value) {
            case null -> out.writeNull();
            case String text -> out.writeString(text);
            case Boolean truth -> out.writeBoolean(truth);
            case Integer number -> out.writeNumber(number);
            case Long number -> out.writeNumber(number);
            case Double number -> out.writeNumber(number);
            case Float number -> out.writeNumber(number);
            case Short number -> out.writeNumber(number);
            case Byte number -> out.writeNumber((short) number);
            case BigInteger number -> out.writeNumber(readable(number));
            case BigDecimal number -> out.writeNumber(readable(number));
            case Map<?, ?> members -> {
                out.writeStartObject();
                members.forEach((name, member) -> {
                    out.writeName(String.valueOf(name));
                    writeFree(out, member);
                });
                out.writeEndObject();
            }
            case Iterable<?> elements -> {
                out.writeStartArray();
                elements.forEach(element -> writeFree(out, element));
                out.writeEndArray();
            }
            case Object other when other.equals(NULL) -> out.writeNull();
            case Object other ->
                InstalledExtensions.<Object>codec(other.getClass()).write(out, other);
        }
    }
}
