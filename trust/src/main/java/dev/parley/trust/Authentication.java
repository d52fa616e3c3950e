package dev.parley.trust;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Authentication that an agent requires of its callers.
 *
 * @param schemes any one of which suffices; {@link Scheme#NONE} admits callers without credentials, too
 * @param scopes that a caller must have been granted, all of them
 */
public record Authentication(Set<Scheme> schemes, Set<String> scopes) {
    /** Callers need no credentials. */
    public static final Authentication NONE = new Authentication(Set.of(Scheme.NONE), Set.of());

    /** Header of API keys. */
    public static final String KEY_HEADER = "X-Api-Key";

    /** Schemes that suit most hubs with authentication. */
    public static final String REQUIRED = "required";

    private static final List<Scheme> ANY = List.of(Scheme.API_KEY, Scheme.BEARER);
    private static final String SCOPE = "[\\x21\\x23-\\x5b\\x5d-\\x7e]+"; // RFC 6749, section 3.3

    /** Ways to authenticate. The names are those of AgentVault, if it has them. */
    public enum Scheme {
        /** Not at all. */
        NONE("none"),
        /** A key in the header {@value #KEY_HEADER}. */
        API_KEY("apiKey"),
        /** A bearer token: one that the caller was given once and for all, or one of the hub's token endpoint. */
        BEARER("bearer"),
        /** A bearer token of the hub's token endpoint. */
        OAUTH2("oauth2"),
        /** A bearer token of an issuer that the hub trusts. */
        OPEN_ID("openIdConnect"),
        /** A certificate that the caller shows when the TLS connection is made. */
        MUTUAL_TLS("mutualTLS"),
        /** Name and API key as user and password. */
        BASIC("basic"),
        /** By the container that serves the agents, in its own way. */
        CONTAINER("container");

        private final String label;

        Scheme(String label) {
            this.label = label;
        }

        /** Name in cards and settings. */
        public String label() {
            return label;
        }

        static Scheme labelled(String label) {
            for (Scheme scheme : values()) {
                if (scheme.label.equals(label)) {
                    return scheme;
                }
            }
            throw new IllegalArgumentException("scheme: " + label + " (expected: "
                    + String.join(
                            ", ", Arrays.stream(values()).map(Scheme::label).toList()) + ")");
        }
    }

    public Authentication {
        if (schemes.isEmpty()) {
            throw new IllegalArgumentException("schemes: none at all (expected: one at least, none if need be)");
        }
        schemes = Collections.unmodifiableSet(EnumSet.copyOf(schemes));
        scopes = Collections.unmodifiableSet(new TreeSet<>(scopes));
        for (String scope : scopes) {
            requireScope(scope);
        }
        if (!scopes.isEmpty() && schemes.contains(Scheme.NONE)) {
            throw new IllegalArgumentException(
                    "scopes: " + String.join(" ", scopes) + " (expected: none without required authentication)");
        }
    }

    /** Any one of these. */
    public static Authentication of(Scheme... schemes) {
        return new Authentication(Set.of(schemes), Set.of());
    }

    /**
     * Any one of these, by their names in cards; {@value #REQUIRED} stands for API keys and bearer tokens.
     *
     * @throws IllegalArgumentException if one is unknown, or there is none
     */
    public static Authentication named(Collection<String> schemes) {
        List<Scheme> known = schemes.stream()
                .flatMap(label -> label.equals(REQUIRED) ? ANY.stream() : Stream.of(Scheme.labelled(label)))
                .toList();
        return new Authentication(Set.copyOf(known), Set.of());
    }

    /** The same, for callers with all of these scopes. */
    public Authentication withScopes(Collection<String> more) {
        return new Authentication(schemes, Set.copyOf(more));
    }

    /** The same schemes, or none, without scopes. */
    Authentication opened() {
        var open = EnumSet.of(Scheme.NONE);
        open.addAll(schemes);
        return new Authentication(open, Set.of());
    }

    /** True if callers without credentials are admitted. */
    public boolean isOpen() {
        return schemes.contains(Scheme.NONE);
    }

    /** True if some kind of bearer token is taken. */
    boolean takesTokens() {
        return takes(Scheme.BEARER) || takes(Scheme.OAUTH2) || takes(Scheme.OPEN_ID);
    }

    boolean takes(Scheme scheme) {
        return schemes.contains(scheme);
    }

    static String requireScope(String scope) {
        if (!scope.matches(SCOPE)) {
            throw new IllegalArgumentException(
                    "scope: " + scope + " (expected: visible characters, neither quotes nor backslashes)");
        }
        return scope;
    }
}
