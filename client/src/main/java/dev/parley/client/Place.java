package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.CardFinder.Found;
import dev.parley.client.ClientException.Problem;
import dev.parley.dialect.Binding;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where an agent is reached, and how: the interface of its card that was chosen.
 *
 * @param found where the card came from; null if it was given
 */
record Place(
        AgentCard card,
        AgentCard.Interface agent,
        HttpUrl url,
        Binding binding,
        @Nullable Found found) {
    private static final SecurityScheme.ApiKey USUAL_KEY = new SecurityScheme.ApiKey(null, "header", "X-API-Key");

    /**
     * Chooses the first interface of {@code card}, or the first of the preferred binding, that this client speaks.
     *
     * <p>Source: A2A specification 1.0, section 8.3.2.
     */
    static Place of(AgentCard card, @Nullable Found found, ClientSettings settings) {
        List<Place> spoken = new ArrayList<>();
        for (AgentCard.Interface agent : card.supportedInterfaces()) {
            if (isWanted(agent.protocolVersion(), settings.version())) {
                Optional<Binding> binding = Binding.of(agent);
                binding.ifPresent(speaks -> spoken.add(new Place(card, agent, address(agent), speaks, found)));
            }
        }
        for (String preferred : settings.preferred()) {
            for (Place place : spoken) {
                if (place.agent().protocolBinding().equalsIgnoreCase(preferred)) {
                    return place;
                }
            }
        }
        if (spoken.isEmpty()) {
            List<String> offered = card.supportedInterfaces().stream()
                    .map(agent -> agent.protocolBinding() + " " + agent.protocolVersion())
                    .toList();
            throw new ClientException(
                    Problem.NO_INTERFACE,
                    card.name() + " offers " + String.join(", ", offered) + " (expected: JSONRPC or HTTP+JSON, version "
                            + (settings.version() == null ? "1.0" : settings.version()) + ")");
        }
        return spoken.getFirst();
    }

    /** Patch numbers take no part: a card that says 1.0.1 means 1.0. */
    private static boolean isWanted(String offered, @Nullable String wanted) {
        return wanted == null || offered.equals(wanted) || offered.startsWith(wanted + ".");
    }

    private static HttpUrl address(AgentCard.Interface agent) {
        try {
            return HttpUrl.ofAgent(agent.url());
        } catch (IllegalArgumentException e) {
            throw new ClientException(
                    Problem.CARD_INVALID, "supportedInterfaces: url " + agent.url() + " " + e.getMessage(), e);
        }
    }

    /** Returns the request as it is sent: with the API key, if there is one, where the card wants it. */
    HttpWire.Request request(Binding.Outgoing outgoing, ClientSettings settings) {
        var headers = new HashMap<>(outgoing.headers());
        String url = outgoing.url();
        if (settings.apiKey() != null) {
            SecurityScheme.ApiKey scheme = keyScheme();
            switch (scheme.location()) {
                case "query" ->
                    url += (url.indexOf('?') < 0 ? "?" : "&") + encoded(scheme.name()) + "="
                            + encoded(settings.apiKey());
                case "cookie" -> headers.put("Cookie", scheme.name() + "=" + settings.apiKey());
                default -> headers.put(scheme.name(), settings.apiKey());
            }
        }
        return new HttpWire.Request(outgoing.method(), HttpUrl.of(url), headers, outgoing.body());
    }

    private SecurityScheme.ApiKey keyScheme() {
        Map<String, SecurityScheme> schemes = card.securitySchemes();
        // What the agent requires comes before what it merely knows.
        var names = new ArrayList<String>();
        card.securityRequirements()
                .forEach(requirement -> names.addAll(requirement.schemes().keySet()));
        names.addAll(schemes.keySet());
        for (String name : names) {
            if (schemes.get(name) instanceof SecurityScheme.ApiKey key && HeaderText.isToken(key.name())) {
                return key;
            }
        }
        return USUAL_KEY;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, UTF_8);
    }
}
