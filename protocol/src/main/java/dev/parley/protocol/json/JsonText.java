package dev.parley.protocol.json;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonFactoryBuilder;
import tools.jackson.core.json.JsonWriteFeature;

/**
 * Reads and writes JSON by codecs.
 *
 * <p>Reading is strict about JSON: UTF-8 in its one legal form, no key twice, nothing after the value. Requests are limited further,
 * see {@link #MAX_REQUEST_DEPTH}; answers and logs nest what requests held, so they are allowed more.
 */
public final class JsonText {
    /** Levels to which objects and arrays may be nested in a request. */
    public static final int MAX_REQUEST_DEPTH = 64;

    /** Largest number of names, values and brackets of a request. */
    public static final int MAX_REQUEST_TOKENS = 1_000_000;

    private static final int MAX_DEPTH = 1000;
    private static final int MAX_WRITTEN_DEPTH = 900;
    private static final int MAX_REQUEST_NAME = 10_000;
    private static final int MAX_NUMBER = 1000;

    private static final Parsers REQUESTS = new Parsers(factory(MAX_REQUEST_DEPTH, MAX_REQUEST_TOKENS, MAX_REQUEST_NAME)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build());

    /** For requests that repeat nothing but kinds. */
    private static final Parsers REPEATING = new Parsers(
            factory(MAX_REQUEST_DEPTH, MAX_REQUEST_TOKENS, MAX_REQUEST_NAME).build());

    /** Without the parser's own search for duplicates: the codecs notice those in what they read. */
    private static final JsonFactory FACTORY =
            factory(MAX_DEPTH, Long.MAX_VALUE, Integer.MAX_VALUE).build();

    private static final Parsers TRUSTING = new Parsers(FACTORY);

    private static final byte[] NOTHING = {};

    /** Bytes of an ordinary event, or message; what needs more grows. */
    private static final int EVENT_SIZE = 512;

    private static final int FEW_EVENTS = 15;

    /** Parts of messages of the parser about its source and features. */
    private static final Pattern ADVICE = Pattern.compile(
            " \\((?:start marker|for \\w+ starting) at \\[Source: [^]]*]\\)|:? \\(?enable `[^`]*` to allow\\)?"
                    + "| \\(not recognized as one since Feature '[^']*' not enabled for parser\\)|\\s*\\[Source: [^]]*]|\\s*`[^`]*`");

    private JsonText() {}

    private static JsonFactoryBuilder factory(int maxDepth, long maxTokens, int maxName) {
        return JsonFactory.builder()
                // Else a peer could choose UTF-16.
                .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
                .disable(TokenStreamFactory.Feature.INTERN_PROPERTY_NAMES)
                .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
                .enable(StreamReadFeature.USE_FAST_BIG_NUMBER_PARSER)
                .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(maxDepth)
                        .maxTokenCount(maxTokens)
                        .maxStringLength(Integer.MAX_VALUE) // the size of a body is limited before it is read
                        .maxNameLength(maxName)
                        .maxNumberLength(MAX_NUMBER)
                        .build())
                .streamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(MAX_WRITTEN_DEPTH)
                        .build());
    }

    /** Returns the JSON array of the events, each of which carries its own bytes from then on. */
    public static byte[] writeEvents(List<LoggedEvent> events, Codec<TaskEvent> codec) {
        // The generator writes few events at once, so that one piece of just their size holds them.
        var bytes = new Pieces(events.size() > FEW_EVENTS ? EVENT_SIZE * events.size() : 0);
        int[] ends = new int[events.size()];
        try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
            out.writeStartArray();
            for (int i = 0; i < ends.length; i++) {
                codec.write(out, events.get(i).event());
                ends[i] = bytes.size() + out.streamWriteOutputBuffered();
            }
            out.writeEndArray();
        } catch (JacksonException unwritable) {
            throw unwritable(unwritable);
        }
        byte[] json = bytes.bytes();
        int from = 1; // after the bracket or, from the second one on, the comma
        for (int i = 0; i < ends.length; i++) {
            events.get(i).encodedIn(json, from, ends[i] - from);
            from = ends[i] + 1;
        }
        return json;
    }

    public static <T> T read(byte[] json, Codec<T> codec) {
        return parse(TRUSTING, utf8(json), 0, json.length, in -> required(codec, in));
    }

    /**
     * Reads a value of a request, within the limits of requests.
     *
     * @throws A2AException PARSE_ERROR if it is not JSON or beyond a limit, INVALID_PARAMS naming the field if it does not fit
     */
    public static <T> T request(byte[] json, Codec<T> codec) {
        return request(json, in -> required(codec, in));
    }

    private static <T> T required(Codec<T> codec, JsonParser in) {
        T value = codec.read(in);
        if (value == null) {
            throw FieldPath.unexpected(in, codec.expected());
        }
        return value;
    }

    /** Reads a request, without trust in its sizes and depths. */
    public static <R> R request(byte[] json, Function<JsonParser, R> reader) {
        try {
            return parse(REQUESTS, wholeCharacters(utf8(json)), 0, json.length, reader);
        } catch (A2AException malformed) {
            if (malformed.getCause() == null
                    || !parse(REPEATING, json, 0, json.length, RepeatedKinds::areAllThatRepeats)) {
                throw malformed;
            }
            return parse(REPEATING, json, 0, json.length, reader);
        }
    }

    /** Reads a piece of a request that {@link #request} has seen whole. */
    public static <R> R slice(byte[] json, int from, int to, Function<JsonParser, R> reader) {
        return parse(TRUSTING, json, from, to - from, reader);
    }

    private static <R> R parse(Parsers parsers, byte[] json, int from, int length, Function<JsonParser, R> reader) {
        try {
            return parse(parsers.factory, json, from, length, reader);
        } catch (StreamConstraintsException | ArrayIndexOutOfBoundsException perhapsOfOthers) {
            parsers.forgetNames();
        } catch (JacksonException malformed) {
            throw invalid(malformed);
        }
        try {
            return parse(parsers.factory, json, from, length, reader);
        } catch (StreamConstraintsException | ArrayIndexOutOfBoundsException tooMuch) {
            throw FieldPath.invalid("beyond a limit (" + MAX_REQUEST_DEPTH + " levels, " + MAX_REQUEST_TOKENS
                            + " tokens, " + MAX_REQUEST_NAME + " characters in a name, " + MAX_NUMBER + " in a number)")
                    .causedBy(tooMuch);
        } catch (JacksonException malformed) {
            throw invalid(malformed);
        }
    }

    private static <R> R parse(JsonFactory factory, byte[] json, int from, int length, Function<JsonParser, R> reader) {
        try (JsonParser parser = factory.createParser(ObjectReadContext.empty(), json, from, length)) {
            JsonParser in = LongTexts.of(parser, json, from, length);
            if (in.nextToken() == null) {
                throw FieldPath.invalid("empty");
            }
            R result = reader.apply(in);
            if (in.nextToken() != null) {
                throw FieldPath.invalid("something follows the value");
            }
            return result;
        } catch (StackOverflowError deep) {
            // Answers may be nested more deeply than requests, and than a small stack has room for.
            throw FieldPath.invalid("nested too deeply").causedBy(deep);
        }
    }

    private static A2AException invalid(JacksonException malformed) {
        TokenStreamLocation at = malformed.getLocation();
        String where = at == null ? "" : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
        return FieldPath.invalid(plain(malformed.getOriginalMessage()) + where).causedBy(malformed);
    }

    /** The message of the parser, without its advice to those who program with it. */
    private static String plain(String message) {
        return ADVICE.matcher(message)
                .replaceAll("")
                .replace("Object property", "key")
                .replace("VALUE_STRING", "a string");
    }

    /**
     * Factory of parsers that share a table of member names. Names with colliding hashes fill the table, after which
     * it refuses or loses names of other callers. So the table is replaced as soon as a parser reports that.
     */
    private static final class Parsers {
        private volatile JsonFactory factory;

        Parsers(JsonFactory factory) {
            this.factory = factory;
        }

        void forgetNames() {
            factory = factory.rebuild().build();
        }
    }

    private static byte[] utf8(byte[] json) {
        if (!Utf8.isValid(json)) {
            throw FieldPath.invalid("not UTF-8");
        }
        return json;
    }

    /**
     * Refuses escapes of half a surrogate pair, which is not a character: it could be written to no file, sent in no UTF-8 and
     * signed by no key. Outside of texts there are no backslashes, and unescaped halves are no UTF-8.
     */
    private static byte[] wholeCharacters(byte[] json) {
        int high = -1; // where the escape of a first half ended
        for (int i = 0; i < json.length - 1; i++) {
            if (json[i] != '\\') {
                continue;
            }
            int unit = json[i + 1] == 'u' && i + 6 <= json.length ? hexadecimal(json, i + 2) : -1;
            boolean second = unit >= 0 && Character.isLowSurrogate((char) unit);
            if (second != (high == i) || high >= 0 && high != i) {
                throw halfCharacter();
            }
            high = unit >= 0 && Character.isHighSurrogate((char) unit) ? i + 6 : -1;
            i += unit >= 0 ? 5 : 1;
        }
        if (high >= 0) {
            throw halfCharacter();
        }
        return json;
    }

    private static A2AException halfCharacter() {
        return FieldPath.invalid("an escape of half a surrogate pair (expected: both halves)");
    }

    /** The number that four hexadecimal digits mean; -1 if one of them is not a digit. */
    private static int hexadecimal(byte[] json, int from) {
        int number = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = Character.digit(json[i], 16);
            if (digit < 0) {
                return -1;
            }
            number = number << 4 | digit;
        }
        return number;
    }

    public static <T> byte[] write(Codec<T> codec, T value) {
        return write(NOTHING, codec, value, NOTHING);
    }

    /** Returns the JSON of a value between what comes before and after it. */
    public static <T> byte[] write(byte[] before, Codec<T> codec, T value, byte[] after) {
        var bytes = new Pieces(EVENT_SIZE + before.length + after.length);
        bytes.write(before);
        try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
            codec.write(out, value);
        } catch (JacksonException unwritable) {
            throw unwritable(unwritable);
        }
        bytes.write(after);
        return bytes.bytes();
    }

    private static IllegalArgumentException unwritable(JacksonException problem) {
        return new IllegalArgumentException(problem.getOriginalMessage(), problem);
    }
}
