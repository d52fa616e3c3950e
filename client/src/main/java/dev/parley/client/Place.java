package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.CardFinder.Found;
import dev.parley.dialect.Binding;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where an agent is reached, and how: one interface of its card.
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

    /** The same, as another card of the same agent describes it. */
    Place with(AgentCard other) {
        return new Place(other, agent, url, binding, found);
    }

    /** Returns the request as it is sent: with the credentials where the card wants them. */
    HttpWire.Request request(Binding.Outgoing outgoing, List<Credential> credentials) {
        var headers = new HashMap<>(outgoing.headers());
        String url = outgoing.url();
        for (Credential credential : credentials) {
            switch (credential) {
                case Credential.Token(var token) -> headers.put("Authorization", "Bearer " + token);
                case Credential.Key(var scheme, var key) -> {
                    switch (scheme.location()) {
                        case "query" ->
                            url += (url.indexOf('?') < 0 ? "?" : "&") + encoded(scheme.name()) + "=" + encoded(key);
                        case "cookie" ->
                            headers.merge("Cookie", scheme.name() + "=" + key, (one, other) -> one + "; " + other);
                        default -> headers.put(scheme.name(), key);
                    }
                }
            }
        }
        return new HttpWire.Request(outgoing.method(), HttpUrl.of(url), headers, outgoing.body());
    }

    /** Where an API key belongs that was given without saying where. */
    static SecurityScheme.ApiKey keyScheme(AgentCard card) {
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
