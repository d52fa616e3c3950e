package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.CardFinder.Found;
import dev.parley.dialect.Binding;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.HashMap;
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
