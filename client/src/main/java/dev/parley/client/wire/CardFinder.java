package dev.parley.client.wire;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpDocument;
import dev.parley.client.wire.HttpWire.Answer;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.dialect.Json;
import dev.parley.outbound.CardPlaces;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.support.Excerpt;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Looks for an agent's card at its {@link CardPlaces}. */
public final class CardFinder {
    /** A card, where it was found, and the tag that tells whether it has changed. */
    public record Found(
            AgentCard card, HttpUrl url, @Nullable String etag) {}

    private static final System.Logger LOG = System.getLogger("dev.parley.client");
    private static final Set<Integer> TEMPORARY = Set.of(429, 502, 503, 504);
    private static final int MAX_CARD_BYTES = 1024 * 1024;
    private static final byte[] NO_BODY = new byte[0];

    private final HttpWire wire;
    private final Attempts attempts;
    private final ClientSettings settings;

    public CardFinder(HttpWire wire, Attempts attempts, ClientSettings settings) {
        this.wire = wire;
        this.attempts = attempts;
        this.settings = settings;
    }

    /**
     * Finds the card of the agent at {@code url}, which is a card's own address, an agent's, or an origin.
     *
     * @throws ClientException if there is none that can be read, or it must not be used
     */
    public Found find(HttpUrl url) {
        ClientException none;
        try {
            HttpDocument document = search(url);
            if (document.status() == 200) {
                return verified(document);
            }
            none = notFound(document.url().uri() + " (status " + document.status() + ")");
        } catch (ClientException e) {
            if (e.problem() != Problem.CARD_NOT_FOUND) {
                throw e;
            }
            none = e;
        }
        AgentCard guessed = CardPlaces.of(url).isCard() ? null : DialectProbe.of(url, this::ask);
        if (guessed == null) {
            throw none;
        }
        settings.cards().check(Json.write(guessed), url.uri().toString());
        return new Found(guessed, url, null);
    }

    /**
     * Finds the document that is the card of the agent at {@code url}; if there is none that can be read, the first one that
     * cannot be read, or is refused, where the card should be.
     *
     * @throws ClientException if there is none at all
     */
    public HttpDocument search(HttpUrl url) {
        var places = CardPlaces.of(url);
        var tried = new ArrayList<String>();
        HttpDocument unusable = null;
        ClientException redirected = null;
        for (URI at : places.places()) {
            HttpUrl place = HttpUrl.of(at.toString());
            // An agent's own address may answer a GET with anything; where cards are kept, it says something.
            boolean telling = places.isCard() || !place.equals(url);
            boolean first = telling && unusable == null && redirected == null;
            try {
                HttpDocument document = get(place, Map.of());
                int status = document.status();
                AgentCard card = status == 200 ? readable(document) : null;
                if (card != null && places.fits(at, card)) {
                    return document;
                }
                tried.add(place.uri() + " (" + (card != null ? "the card of another agent" : unusable(status)) + ")");
                if (first && card == null && (status == 200 || status == 401 || status == 403)) {
                    unusable = document;
                }
            } catch (ClientException e) {
                if (e.problem() != Problem.REDIRECTED) {
                    throw e;
                }
                redirected = first ? e : redirected;
                tried.add(place.uri() + " (" + e.problem() + ")");
            }
        }
        if (unusable != null) {
            return unusable;
        }
        throw redirected != null ? redirected : notFound(String.join(", ", tried));
    }

    private static String unusable(int status) {
        return status == 200 ? Problem.CARD_INVALID.name() : "status " + status;
    }

    private static ClientException notFound(String places) {
        return new ClientException(Problem.CARD_NOT_FOUND, "no agent card at " + places);
    }

    private static @Nullable AgentCard readable(HttpDocument document) {
        try {
            return Json.readCard(document.body(), unfit -> {}); // named when it is used
        } catch (A2AException malformed) {
            return null;
        }
    }

    private Answer ask(Request request) {
        return attempts.run(true, settings.callTimeout(), left -> wire.exchange(request, MAX_CARD_BYTES, left));
    }

    private static HttpDocument document(HttpUrl url, Answer answer) {
        return new HttpDocument(
                url,
                answer.status(),
                answer.body(),
                answer.headers().firstValue("Content-Type").orElse(null),
                answer.headers().firstValue("ETag").orElse(null));
    }

    /** Returns the card if it has changed since, or empty if it has not. */
    public Optional<Found> again(Found known) {
        HttpDocument document =
                get(known.url(), known.etag() == null ? Map.of() : Map.of("If-None-Match", known.etag()));
        if (document.status() == 304) {
            return Optional.empty();
        }
        if (document.status() != 200) {
            throw new ClientException(
                    Problem.CARD_NOT_FOUND,
                    known.url().uri() + ": status " + document.status() + " (expected: 200 or 304)");
        }
        return Optional.of(verified(document));
    }

    private Found verified(HttpDocument document) {
        URI place = document.url().uri();
        try {
            var found = new Found(
                    Json.readCard(document.body(), blemish -> left(place, blemish)), document.url(), document.etag());
            settings.cards().check(document.body(), place.toString());
            return found;
        } catch (A2AException e) {
            throw new ClientException(
                    Problem.CARD_INVALID,
                    place + ": no agent card: " + e.getMessage() + "; it is "
                            + Excerpt.of(document.mediaType(), document.body()),
                    e);
        }
    }

    private void left(URI place, String blemish) {
        String what = "the card of " + place + " has a value that does not fit and is left out: " + blemish;
        LOG.log(System.Logger.Level.WARNING, what);
        settings.listener().deviation(what);
    }

    private HttpDocument get(HttpUrl url, Map<String, String> condition) {
        var headers = new HashMap<>(condition);
        headers.put("Accept", "application/json, application/a2a+json");
        headers.put("A2A-Version", "1.0");
        Request request = new Request("GET", url, headers, NO_BODY);
        return attempts.run(true, settings.callTimeout(), left -> {
            Answer answer = wire.exchange(request, MAX_CARD_BYTES, left);
            if (TEMPORARY.contains(answer.status())) {
                var problem = A2AException.of(A2AError.UNAVAILABLE, url.uri() + ": status " + answer.status());
                throw AttemptFailure.of(answer.status(), answer.headers(), problem, settings.now())
                        .orElseThrow();
            }
            return document(url, answer);
        });
    }
}
