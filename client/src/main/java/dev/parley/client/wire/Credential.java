package dev.parley.client.wire;

import dev.parley.outbound.http.Redaction;
import dev.parley.protocol.SecurityScheme;
import java.util.Map;

/** A credential in a request. */
public sealed interface Credential {
    /** A fixed key, and where the agent looks for it. */
    record Key(SecurityScheme.ApiKey scheme, String key) implements Credential {
        @Override
        public String toString() {
            return "Key[" + scheme.location() + " " + scheme.name() + "]";
        }
    }

    record Token(String token) implements Credential {
        @Override
        public String toString() {
            return "Token[" + Redaction.MASK + "]";
        }
    }

    /** Puts it into the headers of a request: a cookie, or a header of its name. */
    default void put(Map<String, String> headers) {
        switch (this) {
            case Token(var token) -> headers.put("Authorization", "Bearer " + token);
            case Key(var scheme, var key)
            when scheme.location().equals("cookie") ->
                headers.merge("Cookie", scheme.name() + "=" + key, (one, other) -> one + "; " + other);
            case Key(var scheme, var key) -> headers.put(scheme.name(), key);
        }
    }

    default String secret() {
        return switch (this) {
            case Key(var scheme, var key) -> key;
            case Token(var token) -> token;
        };
    }
}
