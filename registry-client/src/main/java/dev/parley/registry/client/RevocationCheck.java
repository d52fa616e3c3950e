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
import java.util.concurrent.locks.ReentrantLock;
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
    private final ReentrantLock lock = new ReentrantLock();
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
    RevocationList list() {
        Instant now = clock.instant();
        RevocationList known = known(now);
        if (known != null) {
            return known;
        }
        try {
            return installed(fetched(now), now);
        } catch (RegistryException | ClientException | IllegalArgumentException failure) {
            RevocationList valid = valid(now);
            if (valid == null) {
                throw new RegistryException("revocations: no valid list: " + failure.getMessage());
            }
            return valid;
        }
    }

    /** The last list, unless the caller has to fetch it again; other callers use it meanwhile, as long as it has not expired. */
    private @Nullable RevocationList known(Instant now) {
        lock.lock();
        try {
            RevocationList valid = valid(now);
            if (valid != null && !now.isBefore(refresh)) {
                refresh = now.plus(AFTER_FAILURE);
                return null;
            }
            return valid;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable RevocationList valid(Instant now) {
        lock.lock();
        try {
            return last != null && now.isBefore(last.expires()) ? last : null;
        } finally {
            lock.unlock();
        }
    }

    private RevocationList installed(RevocationList list, Instant now) {
        lock.lock();
        try {
            if (last != null && list.sequence() < last.sequence()) {
                throw new RegistryException("sequence " + list.sequence() + " (expected: >= " + last.sequence() + ")");
            }
            last = list;
            refresh = now.plus(REFRESH);
            return list;
        } finally {
            lock.unlock();
        }
    }

    private RevocationList fetched(Instant now) {
        HttpCall.Answer answer = fetch.get();
        if (answer.status() != 200) {
            throw new RegistryException("the registry answered " + answer.status());
        }
        return RevocationList.read(new String(answer.body(), StandardCharsets.US_ASCII), verifier, now);
    }

    /** The digest of a card, as the list has it. */
    static String digest(byte[] card) {
        return "sha256:" + HexFormat.of().formatHex(Sha256.of(card));
    }
}
