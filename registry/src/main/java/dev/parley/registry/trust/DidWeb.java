package dev.parley.registry.trust;

import dev.parley.dialect.Json;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.LruMap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Keys of identities {@code did:web:DOMAIN}, from the document that the domain serves. Documents are kept for ten minutes, failures for
 * one. Safe for any thread.
 *
 * <p>Source: did:web method specification, section 2.5.2.
 */
final class DidWeb {
    private static final String PREFIX = "did:web:";
    private static final Pattern DOMAIN =
            Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+");
    private static final Duration GOOD = Duration.ofMinutes(10);
    private static final Duration BAD = Duration.ofMinutes(1);
    private static final int MOST = 1_000;

    /** @param problem why there is no document; null if there is one */
    private record Known(Map<?, ?> document, @Nullable String problem, Instant until) {}

    private final Fetch fetch;
    private final InstantSource clock;
    private final Map<String, Known> known = new LruMap<>(MOST);

    DidWeb(Fetch fetch, InstantSource clock) {
        this.fetch = fetch;
        this.clock = clock;
    }

    /** The domain of an identity without a path; null if it is not one. */
    static @Nullable String domain(String identity) {
        String domain = identity.startsWith(PREFIX) ? identity.substring(PREFIX.length()) : "";
        return DOMAIN.matcher(domain).matches() ? domain : null;
    }

    /**
     * The key of an identity as a JWK, with the name of the key in it.
     *
     * @param kid {@code did:web:DOMAIN#fragment}
     * @throws IOException with a message for people, if the domain does not publish it for assertions
     */
    String key(String group, String identity, String kid) throws IOException {
        if (!kid.startsWith(identity + "#")) {
            throw new IOException("key " + kid + " is not one of " + identity);
        }
        Map<?, ?> document = document(group, identity);
        boolean isForAssertions = false;
        Map<?, ?> method = null;
        for (Object one : list(document.get("assertionMethod"))) {
            if (kid.equals(one) || one instanceof Map<?, ?> embedded && kid.equals(embedded.get("id"))) {
                isForAssertions = true;
                method = one instanceof Map<?, ?> embedded ? embedded : method;
            }
        }
        for (Object one : list(document.get("verificationMethod"))) {
            if (one instanceof Map<?, ?> listed && kid.equals(listed.get("id")) && method == null) {
                method = listed;
            }
        }
        if (!isForAssertions
                || method == null
                || !identity.equals(method.get("controller"))
                || !(method.get("publicKeyJwk") instanceof Map<?, ?> jwk)
                || jwk.containsKey("d")) {
            throw new IOException(identity + " publishes no key " + kid + " for assertions");
        }
        var named = new LinkedHashMap<Object, @Nullable Object>(jwk);
        named.put("kid", kid);
        return new String(Json.write(named), StandardCharsets.UTF_8);
    }

    private static List<?> list(@Nullable Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    private Map<?, ?> document(String group, String identity) throws IOException {
        Known last;
        synchronized (known) {
            last = known.get(identity);
        }
        if (last == null || !clock.instant().isBefore(last.until())) {
            last = fetched(group, identity);
            synchronized (known) {
                known.put(identity, last);
            }
        }
        if (last.problem() != null) {
            throw new IOException(last.problem());
        }
        return last.document();
    }

    private Known fetched(String group, String identity) {
        Instant now = clock.instant();
        try {
            Document answer = fetch.get(group, "https://" + domain(identity) + "/.well-known/did.json");
            if (answer.status() != 200) {
                return new Known(Map.of(), identity + ": status " + answer.status(), now.plus(BAD));
            }
            Map<?, ?> document = Json.read(answer.body(), Map.class);
            return identity.equals(document.get("id"))
                    ? new Known(document, null, now.plus(GOOD))
                    : new Known(Map.of(), identity + ": the document is of another identity", now.plus(BAD));
        } catch (IOException | A2AException failure) {
            return new Known(Map.of(), identity + ": " + failure.getMessage(), now.plus(BAD));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return new Known(Map.of(), identity + ": interrupted", now);
        }
    }
}
