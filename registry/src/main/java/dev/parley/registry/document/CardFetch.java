package dev.parley.registry.document;

import dev.parley.dialect.Json;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.CardPlaces;
import dev.parley.outbound.GuardedFetch;
import dev.parley.protocol.A2AException;
import dev.parley.registry.RegistryError;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fetches documents from addresses that callers chose: public ones, and those that the operator allows. Each redirect, and each address
 * that a name leads to, is checked as it is dialled. Safe for any thread; blocks for a bounded time.
 */
public final class CardFetch implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** Headers of all requests for documents, so that an agent that has cards of several versions gives the same one each time. */
    public static final Map<String, String> HEADERS =
            Map.of("Accept", "application/json, application/a2a+json, */*;q=0.5", "A2A-Version", "1.0");

    /** Members that cards have, and other documents rarely. */
    private static final Set<String> MEMBERS =
            Set.of("skills", "supportedInterfaces", "capabilities", "protocolVersion");

    /** A document, and the address that was asked for it; null for a document that was given. */
    public record Fetched(@Nullable String url, byte[] bytes) {}

    private final AddressRule rule;
    private final GuardedFetch fetch;

    /**
     * @param allowed hosts with private addresses
     * @param isLocal whether callers are on this machine, so that they may have its loopback addresses fetched
     */
    public CardFetch(List<String> allowed, boolean isLocal) {
        this(AddressRule.allowing(
                isLocal
                        ? Stream.concat(allowed.stream(), Stream.of("localhost"))
                                .toList()
                        : allowed,
                "fetch-allow"));
    }

    public CardFetch(AddressRule rule) {
        this.rule = rule;
        this.fetch = new GuardedFetch(rule, PATIENCE, CardReader.MAX_BYTES);
    }

    /** The rule, for others that connect to addresses that callers chose. */
    public AddressRule rule() {
        return rule;
    }

    /** Fetches anything under this rule. */
    public GuardedFetch fetch() {
        return fetch;
    }

    /**
     * Fetches the card of an agent: at its own address, or at the well-known ones of the agent and of its host.
     *
     * @param group of the caller, whose share of look-ups it uses
     * @throws A2AException NOT_FETCHED with the reason, or INVALID_PARAMS if it is not an address
     */
    public Fetched card(String group, String url) {
        return card(group, url, false);
    }

    /**
     * Fetches the card of an agent, or the document in its place that has members of a card and cannot be read as one.
     *
     * @throws A2AException as {@link #card}
     */
    public Fetched cardOrDraft(String group, String url) {
        return card(group, url, true);
    }

    private Fetched card(String group, String url, boolean takesDrafts) {
        CardPlaces places;
        try {
            places = CardPlaces.of(URI.create(url));
        } catch (IllegalArgumentException none) {
            throw A2AException.invalidParams("url", String.valueOf(none.getMessage()));
        }
        var tried = new ArrayList<String>();
        Fetched draft = null;
        for (URI place : places.places()) {
            GuardedFetch.Document document = get(group, place.toString());
            if (document.status() != 200) {
                tried.add(place + " (status " + document.status() + ")");
                continue;
            }
            try {
                if (places.fits(place, Json.readCard(document.body()))) {
                    return new Fetched(place.toString(), document.body());
                }
                tried.add(place + " (the card of another agent)");
            } catch (A2AException malformed) {
                tried.add(place + " (no card: " + malformed.getMessage() + ")");
                if (takesDrafts && draft == null && isDraft(document.body())) {
                    draft = new Fetched(place.toString(), document.body());
                }
            }
        }
        if (draft != null) {
            return draft;
        }
        throw notFetched("no agent card at " + String.join(", ", tried));
    }

    private static boolean isDraft(byte[] document) {
        try {
            return !Collections.disjoint(Json.read(document, Map.class).keySet(), MEMBERS);
        } catch (A2AException noJson) {
            return false;
        }
    }

    /**
     * Fetches a document of another type.
     *
     * @throws A2AException as {@link #card}
     */
    public Fetched document(String group, String url) {
        GuardedFetch.Document document = get(group, url);
        if (document.status() != 200) {
            throw notFetched(url + ": status " + document.status());
        }
        return new Fetched(url, document.body());
    }

    private GuardedFetch.Document get(String group, String url) {
        try {
            return fetch.get(group, url, HEADERS);
        } catch (IOException refused) {
            throw notFetched(String.valueOf(refused.getMessage()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw notFetched("the hub is stopping");
        }
    }

    private static A2AException notFetched(String problem) {
        return A2AException.of(RegistryError.NOT_FETCHED, problem);
    }

    /** Cancels running fetches. Idempotent. */
    @Override
    public void close() {
        fetch.close();
    }
}
