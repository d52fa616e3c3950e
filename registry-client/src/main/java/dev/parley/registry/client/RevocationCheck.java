package dev.parley.registry.client;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.HttpCall;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.support.Sha256;
import dev.parley.registry.RevocationList;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The signed list of revocations of a registry, fetched again after a minute. A list that cannot be fetched or verified, or that is older
 * than the last one, leaves the last one in force until that expires; from then on all agents are refused. Safe for any thread.
 */
final class RevocationCheck {
    static final Duration REFRESH = Duration.ofMinutes(1);

    private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

    private final Supplier<HttpCall.Answer> fetch;
    private final BiFunction<byte[], String, Verdict> verifier;
    private final InstantSource clock;
    private @Nullable RevocationList last;
    private Instant refresh = Instant.MIN;

    RevocationCheck(
            Supplier<HttpCall.Answer> fetch, BiFunction<byte[], String, Verdict> verifier, InstantSource clock) {
        this.fetch = fetch;
        this.verifier = verifier;
        this.clock = clock;
    }

    /**
     * The list that is in force.
     *
     * @throws RegistryException if there is none
     */
    synchronized RevocationList list() {
        Instant now = clock.instant();
        RevocationList known = last;
        if (known == null || !now.isBefore(refresh)) {
            try {
                known = fetched(now);
                last = known;
                refresh = now.plus(REFRESH);
            } catch (RegistryException | ClientException | IllegalArgumentException failure) {
                if (known == null || !now.isBefore(known.expires())) {
                    throw new RegistryException("revocations: no valid list: " + failure.getMessage());
                }
                refresh = now.plus(AFTER_FAILURE);
            }
        }
        return known;
    }

    private RevocationList fetched(Instant now) {
        HttpCall.Answer answer = fetch.get();
        if (answer.status() != 200) {
            throw new RegistryException("the registry answered " + answer.status());
        }
        RevocationList list = RevocationList.read(new String(answer.body(), StandardCharsets.US_ASCII), verifier, now);
        if (last != null && list.sequence() < last.sequence()) {
            throw new RegistryException("sequence " + list.sequence() + " (expected: >= " + last.sequence() + ")");
        }
        return list;
    }

    /** The digest of a card, as the list has it. */
    static String digest(byte[] card) {
        return "sha256:" + HexFormat.of().formatHex(Sha256.of(card));
    }
}
