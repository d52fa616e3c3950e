package dev.parley.registry.vault;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import java.util.LinkedHashMap;
import java.util.Map;

/** An error answer, in the form of AgentVault's registry. */
final class VaultException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient Map<String, Object> body;
    private final transient Map<String, String> headers;

    private VaultException(int status, Map<String, Object> body, Map<String, String> headers) {
        super(status + " " + body, null, false, false);
        this.status = status;
        this.body = body;
        this.headers = headers;
    }

    /** @param detail a text, or a list of faults */
    static VaultException of(int status, Object detail) {
        return new VaultException(
                status,
                Map.of("detail", detail),
                status == 401 ? Map.of("WWW-Authenticate", "Bearer") : Map.of()); // RFC 9110, section 15.5.2
    }

    /** A refusal of credentials. */
    static VaultException unauthorized(String detail, String challenge) {
        return new VaultException(401, Map.of("detail", detail), Map.of("WWW-Authenticate", challenge));
    }

    static VaultException tooManyRequests(int limit) {
        return new VaultException(429, Map.of("error", "Rate limit exceeded: " + limit + " per 1 minute"), Map.of());
    }

    WireAnswer.Whole answer() {
        var all = new LinkedHashMap<>(headers);
        all.put("Content-Type", Headers.JSON);
        return new WireAnswer.Whole(status, all, Json.write(body));
    }
}
