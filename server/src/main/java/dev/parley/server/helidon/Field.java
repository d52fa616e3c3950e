package dev.parley.server.helidon;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Header field of answers, encoded once. */
public final class Field {
    private static final int MAX_NAMES = 256;
    private static final Map<String, HeaderName> NAMES = new ConcurrentHashMap<>();

    private final Header header;

    /** The name as it is written. */
    public String name() {
        return header.name();
    }

    public String value() {
        return header.get();
    }

    private Field(Header header) {
        this.header = header;
    }

    /** Returns a field that many answers have. */
    public static Field of(String name, String value) {
        return new Field(HeaderValues.createCached(HeaderNames.create(name), value));
    }

    Header header() {
        return header;
    }

    /** Returns a name. They come in a few spellings, by code and not by clients. */
    static HeaderName name(String name) {
        var known = NAMES.get(name);
        if (known != null) {
            return known;
        }
        var made = HeaderNames.create(name);
        if (NAMES.size() < MAX_NAMES) {
            NAMES.put(name, made);
        }
        return made;
    }
}
