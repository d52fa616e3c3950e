package dev.parley.registry.client;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;

/**
 * Outcome of a search at a peer of the registry.
 *
 * @param peer name of the peer
 * @param outcome {@code ok}, {@code failed}, {@code late}, {@code busy} or {@code skipped}; registries of others may have more
 * @param reason empty for none
 * @param millis duration of the search
 * @param results number of the results of the peer
 */
public record PeerOutcome(String peer, String url, String outcome, String reason, long millis, long results) {
    /** JSON of an outcome. */
    public static final Codec<PeerOutcome> JSON = ObjectCodec.<PeerOutcome>of()
            .always("peer", TEXT, "", PeerOutcome::peer)
            .always("url", TEXT, "", PeerOutcome::url)
            .always("outcome", TEXT, "", PeerOutcome::outcome)
            .always("reason", TEXT, "", PeerOutcome::reason)
            .always("millis", COUNT, 0L, PeerOutcome::millis)
            .always("results", COUNT, 0L, PeerOutcome::results)
            .as(v -> new PeerOutcome(v.next(), v.next(), v.next(), v.next(), v.<Long>next(), v.<Long>next()));
}
