package dev.parley.registry;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CardVerifier.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Entries that a registry has revoked, as it serves them at {@code /registry/revocations}: a JWS in compact form by the key that signs
 * the cards of the hub. Copies of entries that are on it must not be used. A list with a smaller sequence than a former one is a
 * replay; after its expiry it says nothing, and a new one is to be fetched.
 *
 * @param issuer domain of the publisher
 * @param sequence grows with each revocation
 */
public record RevocationList(String issuer, long sequence, Instant issued, Instant expires, List<Revoked> revoked) {
    /** Media type of the list. */
    public static final String MEDIA_TYPE = "application/jose";

    private static final String TYPE = "parley-revocations/1";
    private static final Duration SKEW = Duration.ofSeconds(60);

    /**
     * A revoked entry.
     *
     * @param digest of its last document
     */
    public record Revoked(String id, String digest, Instant time, String reason) {}

    public RevocationList {
        revoked = List.copyOf(revoked);
    }

    /** The revocation of an entry, by its id or the digest of its document. */
    public Optional<Revoked> of(String id, String digest) {
        return revoked.stream()
                .filter(one -> one.id().equals(id) || one.digest().equals(digest))
                .findFirst();
    }

    /** The payload of the list, in JSON. */
    public byte[] payload() {
        var members = new LinkedHashMap<String, @Nullable Object>();
        members.put("type", TYPE);
        members.put("issuer", issuer);
        members.put("sequence", sequence);
        members.put("issued", issued.toString());
        members.put("expires", expires.toString());
        members.put(
                "revoked",
                revoked.stream()
                        .map(one -> Map.of(
                                "id",
                                one.id(),
                                "digest",
                                one.digest(),
                                "time",
                                one.time().toString(),
                                "reason",
                                one.reason()))
                        .toList());
        return Json.write(members);
    }

    /**
     * Reads a list.
     *
     * @param verifier judges a payload and its detached JWS, by keys that are trusted to sign the list
     * @param now the time of the reader, for the expiry
     * @throws IllegalArgumentException if it is not a list, is not signed by such a key, or has expired
     */
    public static RevocationList read(String jws, BiFunction<byte[], String, Verdict> verifier, Instant now) {
        CompactJws compact = CompactJws.read(jws);
        Verdict verdict = verifier.apply(compact.payload(), compact.detached());
        if (!verdict.isVerified()) {
            throw new IllegalArgumentException("revocations: " + verdict.reason());
        }
        RevocationList list;
        try {
            Map<?, ?> members = Json.read(compact.payload(), Map.class);
            if (!TYPE.equals(members.get("type"))) {
                throw new IllegalArgumentException(
                        "revocations: type " + members.get("type") + " (expected: " + TYPE + ")");
            }
            list = new RevocationList(
                    text(members, "issuer"),
                    Long.parseLong(text(members, "sequence")),
                    Instant.parse(text(members, "issued")),
                    Instant.parse(text(members, "expires")),
                    ((List<?>) Objects.requireNonNull(members.get("revoked")))
                            .stream().map(RevocationList::revoked).toList());
        } catch (A2AException | DateTimeParseException | ClassCastException | NullPointerException malformed) {
            throw new IllegalArgumentException("revocations: malformed", malformed);
        }
        if (!now.isBefore(list.expires()) || list.issued().isAfter(now.plus(SKEW))) {
            throw new IllegalArgumentException(
                    "revocations: valid from " + list.issued() + " to " + list.expires() + ", and not now");
        }
        return list;
    }

    private static Revoked revoked(@Nullable Object entry) {
        Map<?, ?> members = (Map<?, ?>) Objects.requireNonNull(entry);
        return new Revoked(
                text(members, "id"),
                text(members, "digest"),
                Instant.parse(text(members, "time")),
                text(members, "reason"));
    }

    private static String text(Map<?, ?> members, String name) {
        return Objects.requireNonNull(members.get(name)).toString();
    }
}
