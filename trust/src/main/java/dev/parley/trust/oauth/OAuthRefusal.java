package dev.parley.trust.oauth;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import java.util.LinkedHashMap;
import java.util.Map;

/** A refused request of OAuth, with the error for the client. Source: RFC 6749, section 5.2. */
public final class OAuthRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String error;
    private final transient Map<String, String> headers;

    public OAuthRefusal(int status, String error, String description, Map<String, String> headers) {
        super(description, null, false, false);
        this.status = status;
        this.error = error;
        this.headers = headers;
    }

    public OAuthRefusal(String error, String description) {
        this(400, error, description, Map.of());
    }

    public String error() {
        return error;
    }

    public String description() {
        return String.valueOf(getMessage());
    }

    public WireAnswer.Whole answer() {
        var body = new LinkedHashMap<String, Object>();
        body.put("error", error);
        body.put("error_description", description());
        return json(status, headers, body);
    }

    /** An answer that is not kept. */
    public static WireAnswer.Whole json(int status, Map<String, String> more, Map<String, Object> body) {
        var headers = new LinkedHashMap<>(more);
        headers.put("Content-Type", "application/json");
        headers.put("Cache-Control", "no-store");
        headers.put("Pragma", "no-cache");
        return new WireAnswer.Whole(status, headers, Json.write(body));
    }
}
