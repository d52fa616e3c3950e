package dev.parley.registry.federation;

import dev.parley.protocol.CallContext;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The peers of a registry, which it asks over ARD. Safe for any thread. */
public interface Federation {
    /** Extension member of an answer that holds the outcome of each peer. */
    String OUTCOMES = "parley:peers";

    /**
     * Results of the registry and its peers.
     *
     * @param results in the entry model of ARD, best first, each with its {@code source} and a {@code score} by fused ranks
     * @param peers outcome of each peer, for {@value #OUTCOMES}: its name, {@code url}, {@code outcome} ({@code ok}, {@code failed},
     *     {@code late}, {@code busy} or {@code skipped}), {@code reason}, {@code millis}, {@code results}
     */
    record Merged(List<Map<String, @Nullable Object>> results, List<Map<String, Object>> peers) {}

    /**
     * Asks all peers that are not cut off, for 1.5 s at most, and fuses their answers with the registry's own.
     *
     * @param query member {@code query} of an ARD search
     * @param size number of results
     * @param own results of the registry, best first, in the entry model of ARD
     */
    Merged search(
            Map<String, @Nullable Object> query, int size, List<Map<String, @Nullable Object>> own, CallContext caller);

    /** The peers as referrals of ARD. */
    List<Map<String, Object>> referrals();
}
