package dev.parley.gateway.credentials;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Credential of the gateway at the agent of a route. Secrets are only named, so it may be stored and shown as it is. */
public sealed interface RouteCredential {
    /** No credential. */
    record None() implements RouteCredential {}

    /** The same header with each call. */
    record Fixed(String header, String prefix, SecretName secret) implements RouteCredential {
        public Fixed {
            if (!header.matches("[A-Za-z][A-Za-z0-9-]{0,63}")) {
                throw new IllegalArgumentException("credential-header \"" + header + "\": (expected: a header name)");
            }
        }
    }

    /**
     * A token of an authorization server.
     *
     * @param exchange whether it is for the caller, in exchange for the caller's own token, instead of the gateway
     * @param tokenUrl token endpoint
     * @param audience that the token has to be for; null for none, unless it is an exchange
     */
    record OAuth(
            boolean exchange,
            String tokenUrl,
            String clientId,
            SecretName secret,
            List<String> scopes,
            @Nullable String audience)
            implements RouteCredential {
        public OAuth {
            scopes = List.copyOf(scopes);
            String scheme = URI.create(tokenUrl).getScheme();
            if (!"https".equals(scheme) && !"http".equals(scheme)) {
                throw new IllegalArgumentException("token-url \"" + tokenUrl + "\": (expected: https)");
            }
            if (exchange && audience == null) {
                throw new IllegalArgumentException("audience: missing (expected: the agent's, for a token exchange)");
            }
        }
    }

    /**
     * Reads the credential in the options of a route.
     *
     * @throws IllegalArgumentException if a member is missing or wrong
     */
    static RouteCredential read(Map<?, ?> json) {
        String kind = text(json, "credential", "none").toLowerCase(Locale.ROOT);
        return switch (kind) {
            case "none" -> new None();
            case "bearer" -> new Fixed("Authorization", "Bearer ", secret(json));
            case "api-key" -> new Fixed(text(json, "credential-header", "X-API-Key"), "", secret(json));
            case "client-credentials", "token-exchange" ->
                new OAuth(
                        kind.equals("token-exchange"),
                        required(json, "token-url"),
                        required(json, "client-id"),
                        secret(json),
                        List.of(text(json, "scope", "").strip().split("\\s+", -1)).stream()
                                .filter(scope -> !scope.isEmpty())
                                .toList(),
                        json.get("audience") == null ? null : text(json, "audience", ""));
            default ->
                throw new IllegalArgumentException("credential \"" + kind
                        + "\": (expected: none, bearer, api-key, client-credentials or token-exchange)");
        };
    }

    private static SecretName secret(Map<?, ?> json) {
        return new SecretName(required(json, "secret"));
    }

    private static String required(Map<?, ?> json, String name) {
        String text = text(json, name, "");
        if (text.isBlank()) {
            throw new IllegalArgumentException(name + ": missing");
        }
        return text;
    }

    private static String text(Map<?, ?> json, String name, String absent) {
        Object value = json.get(name);
        return value == null ? absent : value.toString();
    }
}
