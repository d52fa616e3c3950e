package dev.parley.protocol.json;

import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.util.JsonParserDelegate;

/**
 * Parser that makes long texts without escapes of their bytes. Jackson collects a text in arrays of characters first, in several times
 * the memory of the text, which the garbage collector copies while all threads stand.
 */
final class LongTexts extends JsonParserDelegate {
    /** Bytes of JSON that may hold texts for which this is worth another look at all texts. */
    private static final int LARGE = 256 << 10;

    private static final int LONG = 16 << 10;

    private final byte[] json;
    private final int from;

    private LongTexts(JsonParser parser, byte[] json, int from) {
        super(parser);
        this.json = json;
        this.from = from;
    }

    /**
     * Returns a parser with such texts, or the parser itself if it reads little.
     *
     * @param json valid UTF-8
     * @param from where the parser begins in it
     * @param length number of bytes that it reads
     */
    static JsonParser of(JsonParser parser, byte[] json, int from, int length) {
        return length < LARGE ? parser : new LongTexts(parser, json, from);
    }

    @Override
    public String getString() {
        if (delegate.currentToken() == JsonToken.VALUE_STRING) {
            int begin = from + (int) delegate.currentTokenLocation().getByteOffset() + 1;
            int end = begin;
            // Control characters, which are no JSON, are for the parser to refuse.
            while (end < json.length && json[end] != '"' && json[end] != '\\' && (json[end] & 0xff) >= ' ') {
                end++;
            }
            if (end - begin >= LONG && end < json.length && json[end] == '"' && json[begin - 1] == '"') {
                return new String(json, begin, end - begin, StandardCharsets.UTF_8);
            }
        }
        return delegate.getString();
    }
}
