package dev.parley.gateway.card;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.CardPlaces;
import dev.parley.outbound.GuardedFetch;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.support.Sha256;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Reads the cards of remote agents, and verifies their signatures. Safe for any thread; blocks for a bounded time. */
public final class RemoteCards implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int MOST_BYTES = 1 << 20;
    private static final String GROUP = "gateway";
    private static final Map<String, String> HEADERS =
            Map.of("Accept", "application/json, application/a2a+json, */*;q=0.5", "A2A-Version", "1.0");

    private final CardTrust trust;
    private final GuardedFetch fetch;

    /**
     * @param rule for the addresses of agents
     * @param files keys that are trusted for all agents
     * @throws java.io.UncheckedIOException if one cannot be read
     * @throws IllegalArgumentException if they hold anything else
     */
    public RemoteCards(AddressRule rule, List<Path> files) {
        this.trust = files.isEmpty() ? CardTrust.none() : CardTrust.read(files);
        this.fetch = new GuardedFetch(rule, PATIENCE, MOST_BYTES);
    }

    /**
     * Fetches the document that is the card of an agent.
     *
     * @param url address of the agent or its card
     * @param connected connects to the agent, to find out how one without a card is called
     * @throws ClientException if there is none
     */
    public byte[] fetch(URI url, Supplier<AgentClient> connected) {
        var places = CardPlaces.of(url);
        var tried = new ArrayList<String>();
        for (URI place : places.places()) {
            GuardedFetch.Document document = get(place);
            if (document.status() != 200) {
                tried.add(place + " (status " + document.status() + ")");
                continue;
            }
            try {
                if (places.fits(place, Json.readCard(document.body(), unfit -> {}))) {
                    return document.body();
                }
                tried.add(place + " (the card of another agent)");
            } catch (A2AException malformed) {
                tried.add(place + " (no card: " + malformed.getMessage() + ")");
            }
        }
        var none = new ClientException(Problem.CARD_NOT_FOUND, "no agent card at " + String.join(", ", tried));
        if (places.isCard()) {
            throw none;
        }
        try (AgentClient agent = connected.get()) {
            return Json.write(agent.card());
        } catch (ClientException neither) {
            none.addSuppressed(neither);
            throw none;
        }
    }

    private GuardedFetch.Document get(URI place) {
        try {
            return fetch.get(GROUP, place.toString(), HEADERS);
        } catch (IOException failed) {
            throw new ClientException(Problem.UNREACHABLE, String.valueOf(failed.getMessage()), failed);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while a card was read", stopped);
        }
    }

    /** {@code sha256:} and the digest of a document. */
    public static String digest(byte[] document) {
        return "sha256:" + HexFormat.of().formatHex(Sha256.of(document));
    }

    /**
     * Reads a document.
     *
     * @param keys of which one has to sign the card; empty for those that are trusted for all agents
     * @param origin that is called
     * @throws ClientException if it is not a card, or its signature does not suffice
     */
    public RemoteCard read(byte[] document, String keys, URI origin) {
        AgentCard card;
        try {
            card = Json.readCard(
                    document,
                    blemish -> LOG.log(
                            Level.WARNING,
                            "the card of {0} has a value that does not fit and is left out: {1}",
                            origin,
                            blemish));
        } catch (A2AException malformed) {
            throw new ClientException(
                    Problem.CARD_INVALID, "the card cannot be read: " + malformed.getMessage(), malformed);
        }
        Verdict verdict = (keys.isEmpty() ? trust : CardTrust.of(keys)).verify(document, origin.getHost());
        if (verdict.outcome() == Outcome.TAMPERED || !keys.isEmpty() && !verdict.isVerified()) {
            throw new ClientException(
                    Problem.CARD_NOT_VERIFIED,
                    "the card is not signed as required: " + verdict.outcome() + ", " + verdict.reason());
        }
        return new RemoteCard(document, card, verdict, origin);
    }

    /** Cancels running fetches. Idempotent. */
    @Override
    public void close() {
        fetch.close();
    }
}
