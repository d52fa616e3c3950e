package dev.parley.client.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.wire.CardFinder.Found;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.Transport;
import dev.parley.outbound.http.HeaderText;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Address and binding of an agent: one interface of its card. */
public sealed interface AgentAddress {
    SecurityScheme.ApiKey USUAL_KEY = new SecurityScheme.ApiKey(null, "header", "X-API-Key");

    AgentCard card();

    AgentCard.Interface agent();

    HttpUrl url();

    /** Origin from which the card was read; null if the caller passed the card. */
    @Nullable
    Found found();

    /** The same, as another card of the same agent describes it. */
    AgentAddress with(AgentCard other);

    /** Reached by a transport that brings its own connections; see {@code Remotes}. */
    record ByTransport(
            AgentCard card,
            AgentCard.Interface agent,
            HttpUrl url,
            Transport transport,
            @Nullable Found found) implements AgentAddress {
        @Override
        public ByTransport with(AgentCard other) {
            return new ByTransport(other, agent, url, transport, found);
        }
    }

    /** Reached by requests and answers of HTTP. */
    record ByHttp(
            AgentCard card,
            AgentCard.Interface agent,
            HttpUrl url,
            Binding binding,
            @Nullable Found found) implements AgentAddress {
        @Override
        public ByHttp with(AgentCard other) {
            return new ByHttp(other, agent, url, binding, found);
        }
    }

    /** Returns the request as it is sent: with the credentials where the card wants them. */
    default HttpWire.Request request(Binding.Outgoing outgoing, List<Credential> credentials) {
        var headers = new HashMap<>(outgoing.headers());
        String url = outgoing.url();
        for (Credential credential : credentials) {
            if (credential instanceof Credential.Key(var scheme, var key)
                    && scheme.location().equals("query")) {
                url += (url.indexOf('?') < 0 ? "?" : "&") + encoded(scheme.name()) + "=" + encoded(key);
            } else {
                credential.put(headers);
            }
        }
        // Most requests go to the address of the agent itself, which has been parsed.
        HttpUrl target = url.equals(agent().url()) ? url() : HttpUrl.of(url);
        return new HttpWire.Request(outgoing.method(), target, headers, outgoing.body(), outgoing.id(), null);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, UTF_8);
    }

    /** Returns the place of an API key that was given without one. */
    static SecurityScheme.ApiKey keyScheme(AgentCard card) {
        Map<String, SecurityScheme> schemes = card.securitySchemes();
        // Extensions that the agent requires come before optional ones.
        var names = new ArrayList<String>();
        card.securityRequirements()
                .forEach(requirement -> names.addAll(requirement.schemes().keySet()));
        names.addAll(schemes.keySet());
        for (String name : names) {
            if (schemes.get(name) instanceof SecurityScheme.ApiKey key && HeaderText.maySet(key.name())) {
                return key;
            }
        }
        return USUAL_KEY;
    }
}
