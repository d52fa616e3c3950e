package dev.parley.client.wire;

import dev.parley.client.http.HttpUrl;
import dev.parley.dialect.spi.Transport;
import dev.parley.protocol.AgentCard;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
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
                settings.sendTimeout(),
                settings.protocols(),
                settings.isHeard() ? wire.overhearing() : null);
    }

    /** Metadata of a call: the headers that every request has, and credentials where the card wants them. */
    public static Map<String, String> headers(ClientSettings settings, List<Credential> credentials) {
        var headers = new HashMap<>(settings.headers());
        for (Credential credential : credentials) {
            switch (credential) {
                case Credential.Token(var token) -> headers.put("Authorization", "Bearer " + token);
                case Credential.Key(var scheme, var key)
                when scheme.location().equals("cookie") ->
                    headers.merge("Cookie", scheme.name() + "=" + key, (one, other) -> one + "; " + other);
                // Such a call has no query, and a header of the same name is the next best.
                case Credential.Key(var scheme, var key) -> headers.put(scheme.name(), key);
            }
        }
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
        HttpUrl guess = HttpUrl.ofAgent("http://" + url);
        return isHere(guess.uri().getHost()) ? guess : HttpUrl.ofAgent("https://" + url);
    }

    private static boolean isHere(String host) {
        try {
            // Only names that need no name service.
            boolean literal = host.equals("localhost") || host.matches("[0-9.]+|\\[[0-9a-fA-F:.]+]");
            return literal && InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
