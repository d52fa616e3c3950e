package dev.parley.trust.oauth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.spi.WireRequest;
import java.net.URLDecoder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Parameters of OAuth requests, each once at most; empty ones count as absent. Source: RFC 6749, section 3.1. */
public final class OAuthParameters {
    /** Maximum length of a form in a body. */
    public static final int MAX_BYTES = 16 * 1024;

    private static final String TYPE = "application/x-www-form-urlencoded";

    private OAuthParameters() {}

    /** @throws OAuthRefusal if the body is not a form, or has a parameter twice */
    public static Map<String, String> ofBody(WireRequest request) throws OAuthRefusal {
        String type = request.header("Content-Type");
        if (type == null
                || !type.toLowerCase(Locale.ROOT).split(";", 2)[0].strip().equals(TYPE)) {
            throw new OAuthRefusal("invalid_request", "a form is expected: " + TYPE);
        }
        if (request.body().length > MAX_BYTES) {
            throw new OAuthRefusal("invalid_request", "the form is too long");
        }
        var form = new LinkedHashMap<String, String>();
        for (String pair : new String(request.body(), UTF_8).split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0
                    && equals < pair.length() - 1
                    && form.put(decoded(pair, 0, equals), decoded(pair, equals + 1, pair.length())) != null) {
                throw new OAuthRefusal("invalid_request", "a parameter is given twice");
            }
        }
        return form;
    }

    /** @throws OAuthRefusal if there is a parameter twice */
    public static Map<String, String> ofQuery(WireRequest request) throws OAuthRefusal {
        var form = new LinkedHashMap<String, String>();
        for (Map.Entry<String, List<String>> parameter : request.query().entrySet()) {
            if (parameter.getValue().size() > 1) {
                throw new OAuthRefusal("invalid_request", "a parameter is given twice");
            }
            if (!parameter.getValue().isEmpty()
                    && !parameter.getValue().getFirst().isEmpty()) {
                form.put(parameter.getKey(), parameter.getValue().getFirst());
            }
        }
        return form;
    }

    private static String decoded(String pair, int from, int to) throws OAuthRefusal {
        try {
            return URLDecoder.decode(pair.substring(from, to), UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw new OAuthRefusal("invalid_request", "the form is malformed");
        }
    }
}
