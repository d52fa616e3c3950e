package dev.parley.client.wire;

import dev.parley.client.http.HttpUrl;
import dev.parley.client.spi.CardPlaces;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.HttpWire.Answer;
import dev.parley.client.wire.HttpWire.Request;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
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
        var places = CardPlaces.of(url);
        boolean isFile = places.isCard();
        var tried = new ArrayList<String>();
        ClientException clue = null;
        for (URI at : places.places()) {
            HttpUrl place = HttpUrl.of(at.toString());
            try {
                Answer answer = get(place, Map.of());
                if (answer.status() != 200) {
                    tried.add(place.uri() + " (status " + answer.status() + ")");
                    continue;
                }
                Found found = found(place, answer);
                if (places.fits(at, found.card())) {
                    return verified(found, answer);
                }
                tried.add(place.uri() + " (the card of another agent)");
            } catch (ClientException e) {
                // An agent's own address may answer a GET with anything; where cards are kept, it says something.
                boolean telling = isFile || !place.equals(url);
                if (e.problem() != Problem.CARD_INVALID && e.problem() != Problem.REDIRECTED) {
                    throw e;
                }
                clue = clue == null && telling ? e : clue;
                tried.add(place.uri() + " (" + e.problem() + ")");
            }
        }
        if (clue != null) {
            throw clue;
        }
        if (!isFile) {
            AgentCard guessed = Probe.of(url, request -> ask(request));
            if (guessed != null) {
                settings.cards().check(Json.write(guessed), url.uri().toString());
                return new Found(guessed, url, null);
            }
        }
        throw new ClientException(Problem.CARD_NOT_FOUND, "no agent card at " + String.join(", ", tried));
    }

    private Answer ask(Request request) {
        return attempts.run(true, settings.callTimeout(), left -> wire.exchange(request, MAX_CARD_BYTES, left));
    }

    /** Returns the card if it has changed since, or empty if it has not. */
    public Optional<Found> again(Found known) {
        Answer answer = get(known.url(), known.etag() == null ? Map.of() : Map.of("If-None-Match", known.etag()));
        if (answer.status() == 304) {
            return Optional.empty();
        }
        if (answer.status() != 200) {
            throw new ClientException(
                    Problem.CARD_NOT_FOUND,
                    known.url().uri() + ": status " + answer.status() + " (expected: 200 or 304)");
        }
        return Optional.of(verified(found(known.url(), answer), answer));
    }

    private Found verified(Found found, Answer answer) {
        settings.cards().check(answer.body(), found.url().uri().toString());
        return found;
    }

    private Answer get(HttpUrl url, Map<String, String> condition) {
        var headers = new HashMap<>(condition);
        headers.put("Accept", "application/json, application/a2a+json");
        headers.put("A2A-Version", "1.0");
        Request request = new Request("GET", url, headers, NO_BODY);
        return attempts.run(true, settings.callTimeout(), left -> {
            Answer answer = wire.exchange(request, MAX_CARD_BYTES, left);
            if (TEMPORARY.contains(answer.status())) {
                var problem = A2AException.of(A2AError.UNAVAILABLE, url.uri() + ": status " + answer.status());
                throw Trouble.of(answer.status(), answer.headers(), problem, settings.now())
                        .orElseThrow();
            }
            return answer;
        });
    }

    private static Found found(HttpUrl url, Answer answer) {
        try {
            AgentCard card = Json.readCard(answer.body());
            return new Found(card, url, answer.headers().firstValue("ETag").orElse(null));
        } catch (A2AException e) {
            throw new ClientException(Problem.CARD_INVALID, url.uri() + ": no agent card: " + e.getMessage(), e);
        }
    }
}
