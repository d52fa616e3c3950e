package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
import org.jspecify.annotations.Nullable;

/**
 * Who may call, and by what each one is known: API keys, bearer tokens, OAuth clients.
 *
 * <p>Of secrets only hashes are kept. One round of SHA-256 does, because short secrets are refused: nobody tries out all
 * that are as long. They are found by the beginning of their hashes and then compared in constant time, so how long it
 * takes tells nothing of a secret. Immutable.
 */
public final class Callers {
    /** The fewest characters of a secret. */
    public static final int SHORTEST_SECRET = 16;

    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,99}");
    private static final Pattern VARIABLE =
            Pattern.compile("PARLEY_CALLER_(.+?)_(API_KEY|BEARER|CLIENT_ID|CLIENT_SECRET|SCOPES)");
    private static final byte[] NOBODYS_HASH = new byte[32];

    /** Somebody who is known, and the scopes that were granted. */
    record Caller(String name, Set<String> scopes) {}

    private record Secret(String caller, byte[] hash) {}

    private final Map<Long, Secret> apiKeys;
    private final Map<Long, Secret> tokens;
    private final Map<String, Secret> clients;
    private final Map<String, Set<String>> scopes;

    private Callers(Builder settings) {
        this.apiKeys = Map.copyOf(settings.apiKeys);
        this.tokens = Map.copyOf(settings.tokens);
        this.clients = Map.copyOf(settings.clients);
        this.scopes = Map.copyOf(settings.scopes);
    }

    /** Begins a list of callers. */
    public static Builder builder() {
        return new Builder();
    }

    /** True if somebody can show the like. */
    boolean anyBy(Authentication.Scheme scheme) {
        return switch (scheme) {
            case NONE -> true;
            case API_KEY -> !apiKeys.isEmpty();
            case BEARER -> !tokens.isEmpty() || !clients.isEmpty();
            case OAUTH2 -> !clients.isEmpty();
        };
    }

    @Nullable
    Caller byApiKey(String key) {
        return by(key, apiKeys);
    }

    @Nullable
    Caller byToken(String token) {
        return by(token, tokens);
    }

    @Nullable
    Caller byClient(String id, String secret) {
        Secret known = clients.get(id);
        boolean right = MessageDigest.isEqual(hash(secret), known == null ? NOBODYS_HASH : known.hash());
        return right && known != null ? caller(known) : null;
    }

    /** The owner of an OAuth client. */
    @Nullable
    Caller ofClient(String id) {
        Secret known = clients.get(id);
        return known == null ? null : caller(known);
    }

    private @Nullable Caller by(String secret, Map<Long, Secret> all) {
        byte[] hash = hash(secret);
        Secret known = all.get(beginning(hash));
        return known != null && MessageDigest.isEqual(hash, known.hash()) ? caller(known) : null;
    }

    private Caller caller(Secret known) {
        return new Caller(known.caller(), scopes.getOrDefault(known.caller(), Set.of()));
    }

    private static long beginning(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }

    private static byte[] hash(String secret) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }

    /** Collects callers. A caller may have several secrets, so that one can take over from another. */
    public static final class Builder {
        private final Map<Long, Secret> apiKeys = new HashMap<>();
        private final Map<Long, Secret> tokens = new HashMap<>();
        private final Map<String, Secret> clients = new HashMap<>();
        private final Map<String, Set<String>> scopes = new HashMap<>();

        private Builder() {}

        /**
         * Adds an API key.
         *
         * @throws IllegalArgumentException if it is too short, cannot be put into a header, or is somebody else's
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
            var known = new Secret(requireName(caller), hash(secret));
            if (clientId.isBlank() || clients.putIfAbsent(clientId, known) != null) {
                throw new IllegalArgumentException(
                        "client id of " + caller + ": " + clientId + " (expected: one of its own)");
            }
            return this;
        }

        /** Grants scopes to a caller, besides those that it has. */
        public Builder scopes(String caller, Collection<String> granted) {
            granted.forEach(Authentication::requireScope);
            scopes.computeIfAbsent(requireName(caller), name -> new TreeSet<>()).addAll(granted);
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
            } catch (A2AException e) { // which may quote a secret, so it is no cause
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
                    default -> throw wrong(name, "apiKey, bearer, oauth and scopes alone, but no " + member);
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
         * {@code _CLIENT_SECRET}, {@code _SCOPES}. Names are lower-cased; a client without an id has its caller's name.
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
            byte[] hash = hash(secret);
            if (all.putIfAbsent(beginning(hash), new Secret(requireName(caller), hash)) != null) {
                throw new IllegalArgumentException(
                        what + " of " + caller + ": is there already (expected: one of its own)");
            }
            return this;
        }

        private static void requireLong(String caller, String what, String secret) {
            if (secret.length() < SHORTEST_SECRET) {
                throw new IllegalArgumentException(what + " of " + caller + ": " + secret.length()
                        + " characters (expected: >= " + SHORTEST_SECRET + ")");
            }
        }

        /** Tasks that were begun before there was authentication are anonymous's, and stay out of reach. */
        private static String requireName(String caller) {
            if (!NAME.matcher(caller).matches() || caller.equalsIgnoreCase("anonymous")) {
                throw new IllegalArgumentException("caller: " + caller
                        + " (expected: letters, digits, '.', '_', '@', '-', at most 100; not anonymous)");
            }
            return caller;
        }
    }
}
