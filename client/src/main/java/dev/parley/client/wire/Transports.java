package dev.parley.client.wire;

import dev.parley.dialect.spi.Transport;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.AgentCard;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;

/** The transports on the class path, and how they get to an agent. */
public final class Transports {
    private static final List<Transport> ALL =
            ServiceLoader.load(Transport.class, Transport.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private Transports() {}

    /** Returns the transport of an interface of a card. */
    static Optional<Transport> of(AgentCard.Interface agent) {
        return ALL.stream().filter(transport -> transport.speaks(agent)).findFirst();
    }

    /** Returns the settings of a connection to {@code url}. */
    public static Transport.Settings settings(HttpUrl url, ClientSettings settings, HttpWire wire) {
        return new Transport.Settings(
                url.uri().getAuthority(),
                url.uri().getScheme().equals("https"),
                settings.sslContext(),
                settings.maxEventBytes(),
                settings.connectTimeout(),
                settings.streamSilence(),
                settings.firstEvent(),
                settings.protocols(),
                settings.isHeard() ? wire.overhearing() : null);
    }

    /** Metadata of a call: the headers that every request has, and credentials where the card wants them. */
    public static Map<String, String> headers(ClientSettings settings, List<Credential> credentials) {
        var headers = new HashMap<>(settings.headers());
        // Such a call has no query, and a header of the same name is the next best.
        credentials.forEach(credential -> credential.put(headers));
        return headers;
    }

    /**
     * Where an interface is. Cards have only host and port, so whether there is TLS has to be guessed: as at another
     * interface at the same place, else unless it is this machine.
     */
    static HttpUrl url(AgentCard card, AgentCard.Interface agent) {
        String url = agent.url();
        if (url.contains("://")) {
            return HttpUrl.ofAgent(url);
        }
        for (AgentCard.Interface other : card.supportedInterfaces()) {
            if (other.url().contains("://" + url + "/") || other.url().endsWith("://" + url)) {
                return HttpUrl.ofAgent(URI.create(other.url()).getScheme() + "://" + url);
            }
        }
        return HttpUrl.ofTyped(url);
    }
}
