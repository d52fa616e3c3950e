package dev.parley.gateway.upstream;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Connects to a replica. Safe for any thread; methods block, with a bound. */
public interface ReplicaConnector {
    /**
     * Returns a client of the agent at {@code url}, which calls no other origin.
     *
     * @param builder with the timeouts and credentials of the route
     * @throws ClientException if the agent cannot be reached, or its card cannot be used
     */
    AgentClient connect(String url, AgentClientBuilder builder);

    /**
     * Fetches the card of the agent again, as a sign of life.
     *
     * @throws ClientException if there is none
     */
    default void probe(String url, AgentClient client, Duration timeout) {
        card(url, place -> client.exchange(new HttpCall("GET", place, HEADERS, new byte[0]), timeout));
    }

    /** Headers of a request for a card. */
    Map<String, String> HEADERS = Map.of("Accept", "application/json");

    /** Connects by the card that is found at the address, without verification of its signatures. */
    ReplicaConnector PLAIN = (url, builder) ->
            builder.of(at(url, card(url, place -> builder.exchange(new HttpCall("GET", place, HEADERS, new byte[0])))));

    /** Reads an address of a card. */
    @FunctionalInterface
    interface Fetch {
        HttpCall.Answer of(String url);
    }

    /** Returns the first card at the places of an agent's address. */
    private static AgentCard card(String url, Fetch fetch) {
        for (URI place : CardUrls.of(url)) {
            HttpCall.Answer answer = fetch.of(place.toString());
            if (answer.status() == 200) {
                try {
                    return Json.readCard(answer.body(), unfit -> {});
                } catch (A2AException unreadable) {
                    throw new ClientException(Problem.CARD_INVALID, "the card cannot be read", unreadable);
                }
            }
            if (answer.status() == 429 || answer.status() >= 500) {
                throw new ClientException(Problem.LOST, "status " + answer.status() + " instead of the card");
            }
        }
        throw new ClientException(Problem.CARD_NOT_FOUND, "no card at the address of the agent");
    }

    /** Returns a card whose interfaces are at the origin of {@code url}, whatever origins they name. */
    static AgentCard at(String url, AgentCard card) {
        URI origin = URI.create(url);
        List<AgentCard.Interface> interfaces = new ArrayList<>();
        for (AgentCard.Interface one : card.supportedInterfaces()) {
            interfaces.add(new AgentCard.Interface(
                    CardUrls.atOrigin(origin, one.url()), one.protocolBinding(), one.tenant(), one.protocolVersion()));
        }
        return new AgentCard(
                card.name(),
                card.description(),
                interfaces,
                card.provider(),
                card.version(),
                card.documentationUrl(),
                card.capabilities(),
                card.securitySchemes(),
                card.securityRequirements(),
                card.defaultInputModes(),
                card.defaultOutputModes(),
                card.skills(),
                card.signatures(),
                card.iconUrl(),
                card.others());
    }
}
