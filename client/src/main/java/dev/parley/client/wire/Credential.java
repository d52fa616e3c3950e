package dev.parley.client.wire;

import dev.parley.client.http.Redaction;
import dev.parley.protocol.SecurityScheme;

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

    default String secret() {
        return switch (this) {
            case Key(var scheme, var key) -> key;
            case Token(var token) -> token;
        };
    }
}
