package dev.parley.outbound;

import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.AgentCard;
import java.net.URI;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The addresses at which the card of an agent may be, and the rule for which of the cards there is the agent's.
 *
 * <p>Source: A2A specification 1.0, sections 8.2 and 8.6; {@code agent.json} is the name before version 0.3.
 */
public final class CardPlaces {
    private static final List<String> WELL_KNOWN = List.of("/.well-known/agent-card.json", "/.well-known/agent.json");

    private final HttpUrl url;

    private CardPlaces(HttpUrl url) {
        this.url = url;
    }

    /**
     * Begins with the address of a card, of an agent, or an origin.
     *
     * @throws IllegalArgumentException if it is not an http or https URL
     */
    public static CardPlaces of(URI url) {
        return new CardPlaces(HttpUrl.ofAgent(url.toString()));
    }

    public static CardPlaces of(HttpUrl url) {
        return new CardPlaces(url);
    }

    /** True if the address is that of a card itself. */
    public boolean isCard() {
        return url.uri().getPath().endsWith(".json");
    }

    /** The addresses to read, the nearest first: on a host of many agents, the card at its root is another agent's. */
    public Set<URI> places() {
        if (isCard()) {
            return Set.of(url.uri());
        }
        var places = new LinkedHashSet<URI>();
        WELL_KNOWN.forEach(path -> places.add(URI.create(bare() + path)));
        places.add(url.uri());
        WELL_KNOWN.forEach(path -> places.add(URI.create(root() + path)));
        return places;
    }

    /** True if a card that was found at one of the {@link #places} is the agent's, and not that of another one on its host. */
    public boolean fits(URI place, AgentCard card) {
        return isCard() || place.equals(url.uri()) || isBelow(place) || leadsHere(card);
    }

    private boolean isBelow(URI place) {
        return place.getRawPath().startsWith(bare().substring(root().length()) + "/");
    }

    /** True if the card names the requested address. A card at the root of a host with many agents may be that of another agent. */
    private boolean leadsHere(AgentCard card) {
        return card.supportedInterfaces().stream().anyMatch(agent -> agent.url().startsWith(bare()));
    }

    private String root() {
        return url.uri().getScheme() + "://" + url.uri().getRawAuthority();
    }

    private String bare() {
        return root() + url.uri().getRawPath().replaceFirst("/+$", "");
    }
}
