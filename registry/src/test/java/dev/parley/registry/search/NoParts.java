package dev.parley.registry.search;

import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.store.database.DatabaseSession;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Parts of a hub without effect: timers that are never due, and no keys. */
public final class NoParts implements HubTimers, HubTimers.Timers, HubSignatures {
    @Override
    public Timers named(String name, Handler handler) {
        return this;
    }

    @Override
    public void set(String id, Instant due, String content) {}

    @Override
    public void set(DatabaseSession session, String id, Instant due, String content) {}

    @Override
    public void cancel(String id) {}

    @Override
    public int erase(Function<String, @Nullable String> change) {
        return 0;
    }

    @Override
    public Optional<String> sign(byte[] payload) {
        return Optional.empty();
    }

    @Override
    public Optional<String> keys() {
        return Optional.empty();
    }

    @Override
    public Verdict verify(byte[] payload, String signature, String keys, @Nullable String host) {
        throw new IllegalArgumentException("no keys");
    }
}
