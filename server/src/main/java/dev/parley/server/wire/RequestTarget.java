package dev.parley.server.wire;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the target in the first line of a request. */
public final class RequestTarget {
    private RequestTarget() {}

    /**
     * Decodes a path once. {@code %2F} stays as it is, because its decoded form would be a separator.
     *
     * @throws A2AException if it is not a path, or hides a control character
     */
    public static String path(String raw) {
        var path = raw;
        if (path.startsWith("http://") || path.startsWith("https://")) {
            // The form for proxies, which all servers must accept. Source: RFC 9112, section 3.2.2.
            var slash = path.indexOf('/', "https://".length());
            path = slash < 0 ? "/" : path.substring(slash);
        }
        if (!path.startsWith("/")) {
            throw malformed("path");
        }
        return decode(path, false);
    }

    /**
     * Decodes query parameters, in their order.
     *
     * @throws A2AException if they hide a control character or are no UTF-8
     */
    public static Map<String, List<String>> query(String raw) {
        var parameters = new LinkedHashMap<String, List<String>>();
        for (int from = 0; from <= raw.length(); ) {
            var ampersand = raw.indexOf('&', from);
            var to = ampersand < 0 ? raw.length() : ampersand;
            if (to > from) {
                var equals = raw.indexOf('=', from);
                var end = equals < 0 || equals > to ? to : equals;
                var name = decode(raw.substring(from, end), true);
                var value = end == to ? "" : decode(raw.substring(end + 1, to), true);
                parameters.computeIfAbsent(name, key -> new ArrayList<>(1)).add(value);
            }
            from = to + 1;
        }
        return parameters;
    }

    private static String decode(String raw, boolean query) {
        var plain = true;
        for (int i = 0; i < raw.length(); i++) {
            var c = raw.charAt(i);
            if (c <= ' ' || c >= 0x7f) {
                throw malformed("character");
            }
            plain &= c != '%' && !(query && c == '+');
        }
        return plain ? raw : decodeEscapes(raw, query);
    }

    private static String decodeEscapes(String raw, boolean query) {
        var bytes = new ByteArrayOutputStream(raw.length());
        for (int i = 0; i < raw.length(); i++) {
            var c = raw.charAt(i);
            if (c == '%') {
                var octet = octet(raw, i + 1);
                if (octet == '/' && !query) {
                    bytes.writeBytes(new byte[] {'%', '2', 'F'});
                } else {
                    bytes.write(octet);
                }
                i += 2;
            } else {
                bytes.write(query && c == '+' ? ' ' : c);
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed("UTF-8").causedBy(e);
        }
    }

    private static int octet(String raw, int at) {
        if (at + 2 > raw.length()) {
            throw malformed("escape");
        }
        var octet = Character.digit(raw.charAt(at), 16) << 4 | Character.digit(raw.charAt(at + 1), 16);
        // Negative if one of them was not a digit. A control character can only be meant to end a line somewhere after
        // us.
        if (octet < ' ' || octet == 0x7f) {
            throw malformed("escape");
        }
        return octet;
    }

    private static A2AException malformed(String what) {
        return A2AException.of(A2AError.INVALID_REQUEST, "Malformed " + what + " in the request target");
    }
}
