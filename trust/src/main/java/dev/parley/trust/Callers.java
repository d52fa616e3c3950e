package dev.parley.trust;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.trust.tokens.Secrets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Callers and their credentials: API keys, bearer tokens, OAuth clients.
 *
 * <p>Only hashes of secrets are kept. One round of SHA-256 is enough, because short secrets are refused and long ones cannot be
 * enumerated. They are found by the beginning of their hashes and then compared in constant time, so that timing reveals
 * nothing of a secret. Immutable.
 */
public final class Callers {
    /** The fewest characters of a secret. */
    public static final int SHORTEST_SECRET = 16;

    /** The kind of an alternative name that is a URI. */
    private static final int URI_NAME = 6;

    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final Pattern VARIABLE =
            Pattern.compile("PARLEY_CALLER_(.+?)_(API_KEY|BEARER|CLIENT_ID|CLIENT_SECRET|SCOPES|GROUP)");

    private record Secret(String caller, byte[] hash) {}

    private final Map<Long, Secret> apiKeys;
    private final Map<Long, Secret> tokens;
    private final Map<String, Secret> clients;
    private final Map<String, String> certificates;
    private final Map<String, Set<String>> scopes;
    private final Map<String, String> groups;

    private Callers(Builder settings) {
        this.apiKeys = Map.copyOf(settings.apiKeys);
        this.tokens = Map.copyOf(settings.tokens);
        this.clients = Map.copyOf(settings.clients);
        this.certificates = Map.copyOf(settings.certificates);
        this.scopes = Map.copyOf(settings.scopes);
        this.groups = Map.copyOf(settings.groups);
    }

    /** Begins a list of callers. */
    public static Builder builder() {
        return new Builder();
    }

    /** True if a caller has a credential of this scheme. */
    boolean anyBy(Authentication.Scheme scheme) {
        return switch (scheme) {
            case NONE, CONTAINER -> true;
            case MUTUAL_TLS -> !certificates.isEmpty();
            case OPEN_ID -> false;
            case API_KEY, BASIC -> !apiKeys.isEmpty();
            case BEARER -> !tokens.isEmpty() || !clients.isEmpty();
            case OAUTH2 -> !clients.isEmpty();
        };
    }

    /** True if a caller was granted a scope. */
    public boolean anyWith(String scope) {
        return scopes.values().stream().anyMatch(granted -> granted.contains(scope));
    }

    @Nullable
    Principal byApiKey(String key) {
        return by(key, apiKeys);
    }

    @Nullable
    Principal byToken(String token) {
        return by(token, tokens);
    }

    @Nullable
    Principal byClient(String id, String secret) {
        Secret known = clients.get(id);
        boolean right = Secrets.equal(Secrets.hash(secret), known == null ? null : known.hash());
        return right && known != null ? caller(known) : null;
    }

    /**
     * Returns the principal of a certificate: by one of its URIs, such as a SPIFFE id, or else by its subject.
     *
     * <p>Source: X509-SVID, section 2; RFC 5280, sections 4.1.2.6 and 4.2.1.6.
     */
    @Nullable
    Principal byCertificate(X509Certificate certificate) {
        var names = new ArrayList<String>();
        try {
            Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
            if (alternatives != null) {
                alternatives.stream()
                        .filter(one -> Integer.valueOf(URI_NAME).equals(one.getFirst()))
                        .forEach(one -> names.add(String.valueOf(one.get(1))));
            }
        } catch (CertificateParsingException malformed) {
            return null;
        }
        names.add(subject(certificate.getSubjectX500Principal()));
        for (String name : names) {
            String known = certificates.get(name);
            if (known != null) {
                return caller(known);
            }
        }
        return null;
    }

    private static String subject(X500Principal subject) {
        return subject.getName(X500Principal.RFC2253);
    }

    /** The owner of an OAuth client. */
    @Nullable
    Principal ofClient(String id) {
        Secret known = clients.get(id);
        return known == null ? null : caller(known);
    }

    /** Returns the caller of a name if it has an API key; null if it has none. */
    @Nullable
    Principal named(String name) {
        return apiKeys.values().stream().anyMatch(secret -> secret.caller().equals(name)) ? caller(name) : null;
    }

    private @Nullable Principal by(String secret, Map<Long, Secret> all) {
        byte[] hash = Secrets.hash(secret);
        Secret known = all.get(Secrets.beginning(hash));
        return known != null && MessageDigest.isEqual(hash, known.hash()) ? caller(known) : null;
    }

    private Principal caller(Secret known) {
        return caller(known.caller());
    }

    private Principal caller(String name) {
        return new Principal(
                groups.getOrDefault(name, Principal.DEFAULT_GROUP), name, scopes.getOrDefault(name, Set.of()));
    }

    /** Collects callers. A caller may have several secrets, so that one can take over from another. */
    public static final class Builder {
        private final Map<Long, Secret> apiKeys = new HashMap<>();
        private final Map<Long, Secret> tokens = new HashMap<>();
        private final Map<String, Secret> clients = new HashMap<>();
        private final Map<String, String> certificates = new HashMap<>();
        private final Map<String, Set<String>> scopes = new HashMap<>();
        private final Map<String, String> groups = new HashMap<>();

        private Builder() {}

        /**
         * Adds an API key.
         *
         * @throws IllegalArgumentException if it is too short, cannot be put into a header, or belongs to another caller
         */
        public Builder apiKey(String caller, String key) {
            return add(apiKeys, caller, "API key", key);
        }

        /**
         * Adds a bearer token that does not expire.
         *
         * @throws IllegalArgumentException as {@link #apiKey}
         */
        public Builder bearer(String caller, String token) {
            return add(tokens, caller, "bearer token", token);
        }

        /**
         * Adds an OAuth client, which gets tokens for its secret.
         *
         * @throws IllegalArgumentException if the secret is too short, or the client is there already
         */
        public Builder oauthClient(String caller, String clientId, String secret) {
            requireLong(caller, "client secret", secret);
            var known = new Secret(Principal.requireName(caller), Secrets.hash(secret));
            if (clientId.isBlank() || clients.putIfAbsent(clientId, known) != null) {
                throw new IllegalArgumentException(
                        "client id \"" + clientId + "\" of caller \"" + caller + "\": blank or duplicate");
            }
            return this;
        }

        /** Grants scopes to a caller, besides those that it has. */
        public Builder scopes(String caller, Collection<String> granted) {
            granted.forEach(Authentication::requireScope);
            scopes.computeIfAbsent(Principal.requireName(caller), name -> new TreeSet<>())
                    .addAll(granted);
            return this;
        }

        /**
         * Adds a caller that authenticates by a certificate with this name, signed by an authority that the server trusts.
         *
         * @param name a URI of the certificate, such as {@code spiffe://example.com/shop}, or its subject, such as {@code
         *     CN=shop,O=Example}
         * @throws IllegalArgumentException if it is neither, or belongs to another caller
         */
        public Builder certificate(String caller, String name) {
            String known;
            try {
                known = name.contains("://") ? name : subject(new X500Principal(name));
            } catch (IllegalArgumentException malformed) {
                throw new IllegalArgumentException(
                        "certificate of " + caller + ": " + name + " (expected: a URI or a subject)", malformed);
            }
            if (certificates.putIfAbsent(known, Principal.requireName(caller)) != null) {
                throw new IllegalArgumentException(
                        "certificate \"" + name + "\" of caller \"" + caller + "\": duplicate");
            }
            return this;
        }

        /** Puts a caller into a group; default {@value Principal#DEFAULT_GROUP}. */
        public Builder group(String caller, String group) {
            groups.put(Principal.requireName(caller), Principal.requireGroup(group));
            return this;
        }

        /**
         * Adds those in a file: JSON, an object with the names of callers, as {@code docs/authentication.md} shows.
         *
         * @throws UncheckedIOException if it cannot be read
         * @throws IllegalArgumentException if it holds anything else
         */
        public Builder file(Path file) {
            Map<?, ?> members;
            try {
                warnOfOthers(file);
                members = Json.read(Files.readAllBytes(file), Map.class);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read " + file, e);
            } catch (A2AException e) { // which may quote a secret, so it is not a cause
                throw new IllegalArgumentException(file + ": not JSON (expected: an object with the names of callers)");
            }
            members.forEach((name, entry) -> {
                try {
                    entry(String.valueOf(name), entry);
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
                }
            });
            return this;
        }

        private void entry(String name, @Nullable Object entry) {
            if (entry instanceof String key) {
                apiKey(name, key);
                return;
            }
            if (!(entry instanceof Map<?, ?> members)) {
                throw wrong(name, "an API key, or an object");
            }
            members.forEach((member, value) -> {
                switch (String.valueOf(member)) {
                    case "apiKey" -> texts(name, "apiKey", value).forEach(key -> apiKey(name, key));
                    case "bearer" -> texts(name, "bearer", value).forEach(token -> bearer(name, token));
                    case "scopes" -> scopes(name, texts(name, "scopes", value));
                    case "oauth" -> client(name, value);
                    case "certificate" -> texts(name, "certificate", value).forEach(one -> certificate(name, one));
                    case "group" -> group(name, String.join(" ", texts(name, "group", value)));
                    default ->
                        throw wrong(name, "apiKey, bearer, oauth, certificate, scopes and group, but no " + member);
                }
            });
        }

        private void client(String name, @Nullable Object value) {
            if (!(value instanceof Map<?, ?> members) || !(members.get("clientSecret") instanceof String secret)) {
                throw wrong(name, "oauth: an object with clientId and clientSecret");
            }
            oauthClient(name, members.get("clientId") instanceof String id ? id : name, secret);
        }

        private static List<String> texts(String name, String member, @Nullable Object value) {
            List<?> values = value instanceof List<?> list ? list : Collections.singletonList(value);
            if (!values.stream().allMatch(String.class::isInstance)) {
                throw wrong(name, member + ": a text, or a list of them");
            }
            return values.stream().map(String.class::cast).toList();
        }

        private static IllegalArgumentException wrong(String name, String expected) {
            return new IllegalArgumentException("caller " + name + " (expected: " + expected + ")");
        }

        private static void warnOfOthers(Path file) throws IOException {
            PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (view != null && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ)) {
                LOG.log(System.Logger.Level.WARNING, "{0} can be read by every user of this machine", file);
            }
        }

        /**
         * Adds those in the environment: {@code PARLEY_CALLER_<NAME>_API_KEY}, {@code _BEARER}, {@code _CLIENT_ID} and
         * {@code _CLIENT_SECRET}, {@code _SCOPES}, {@code _GROUP}. Names are lower-cased; a client without an id has its caller's name.
         *
         * @throws IllegalArgumentException if one of them is no good
         */
        public Builder environment(Map<String, String> variables) {
            var secrets = new LinkedHashMap<String, String>();
            var ids = new HashMap<String, String>();
            variables.forEach((variable, value) -> {
                Matcher part = VARIABLE.matcher(variable);
                if (value.isEmpty() || !part.matches()) {
                    return;
                }
                String name = part.group(1).toLowerCase(Locale.ROOT);
                switch (part.group(2)) {
                    case "API_KEY" -> apiKey(name, value);
                    case "BEARER" -> bearer(name, value);
                    case "CLIENT_ID" -> ids.put(name, value);
                    case "CLIENT_SECRET" -> secrets.put(name, value);
                    case "GROUP" -> group(name, value);
                    default -> scopes(name, List.of(value.strip().split("[,\\s]+", -1)));
                }
            });
            secrets.forEach((name, secret) -> oauthClient(name, ids.getOrDefault(name, name), secret));
            return this;
        }

        public Callers build() {
            return new Callers(this);
        }

        private Builder add(Map<Long, Secret> all, String caller, String what, String secret) {
            requireLong(caller, what, secret);
            if (!secret.matches("[\\x21-\\x7e]+")) {
                throw new IllegalArgumentException(what + " of " + caller
                        + ": has a character that headers cannot hold (expected: visible ASCII, no blanks)");
            }
            byte[] hash = Secrets.hash(secret);
            if (all.putIfAbsent(Secrets.beginning(hash), new Secret(Principal.requireName(caller), hash)) != null) {
                throw new IllegalArgumentException(
                        what + " of " + caller + ": duplicate (expected: a secret of this caller only)");
            }
            return this;
        }

        private static void requireLong(String caller, String what, String secret) {
            if (secret.length() < SHORTEST_SECRET) {
                throw new IllegalArgumentException(what + " of " + caller + ": " + secret.length()
                        + " characters (expected: >= " + SHORTEST_SECRET + ")");
            }
        }
    }
}
