package dev.parley.trust.tokens;

import dev.parley.protocol.support.LruMap;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that were found good, with what they say: most come again, and looking at one costs half a call or more. Safe for
 * any thread.
 */
public final class GoodTokens<T> {
    private static final int MOST = 1_000;

    /** Claims of a token, and its expiry. */
    public record Good<T>(T says, Instant end) {}

    private final InstantSource clock;
    private final Map<String, Good<T>> known = Collections.synchronizedMap(new LruMap<>(MOST));

    public GoodTokens(InstantSource clock) {
        this.clock = clock;
    }

    /** Returns the contents of a token; null if it is not known, or no longer valid. */
    public @Nullable T get(String token) {
        Good<T> good = known.get(token);
        if (good != null && !clock.instant().isBefore(good.end())) {
            known.remove(token, good);
            return null;
        }
        return good == null ? null : good.says();
    }

    public void put(String token, Good<T> good) {
        known.put(token, good);
    }
}
