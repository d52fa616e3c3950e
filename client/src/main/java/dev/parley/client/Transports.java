package dev.parley.client;

import dev.parley.dialect.Transport;
import dev.parley.protocol.AgentCard;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The transports on the class path, and how they get to an agent. */
final class Transports {
    private static final List<Transport> ALL =
            ServiceLoader.load(Transport.class, Transport.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private Transports() {}

    /** Returns who speaks to an interface of a card. */
    static Optional<Transport> of(AgentCard.Interface agent) {
        return ALL.stream().filter(transport -> transport.speaks(agent)).findFirst();
    }

    /** How to get to an interface, with all credentials. */
    static Transport.Settings settings(AgentCard card, AgentCard.Interface agent, ClientSettings settings) {
        HttpUrl url = url(card, agent);
        var headers = new HashMap<>(settings.headers());
        if (settings.apiKey() != null) {
            var scheme = Place.keyScheme(card);
            if (scheme.location().equals("cookie")) {
                headers.put("Cookie", scheme.name() + "=" + settings.apiKey());
            } else {
                // Such a call has no query, and a header of the same name is the next best.
                headers.put(scheme.name(), settings.apiKey());
            }
        }
        return new Transport.Settings(
                url.uri().getAuthority(),
                url.uri().getScheme().equals("https"),
                headers,
                settings.sslContext(),
                settings.maxEventBytes(),
                settings.streamSilence(),
                settings.sendTimeout());
    }

    /**
     * Where an interface is. Cards name host and port alone, so whether there is TLS has to be guessed: as at another
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
