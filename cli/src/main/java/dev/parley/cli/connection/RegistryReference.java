package dev.parley.cli.connection;

import dev.parley.cli.command.ClientFlags;
import dev.parley.cli.command.Invocation;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Agent that a registry knows, by a URN or by the readable id of AgentVault, such as {@code org/agent}. A readable id that could be a
 * host and a path is one only if the registry is named.
 */
record RegistryReference(String hub, String agent) {
    private static final String REGISTRY_URL = "AGENTVAULT_REGISTRY_URL";
    private static final Pattern READABLE = Pattern.compile("[A-Za-z0-9._-]+/[A-Za-z0-9._-]+");
    private static final Pattern NO_HOST = Pattern.compile("(?!localhost/)[A-Za-z0-9_-]+/[A-Za-z0-9._-]+");

    /** Returns the agent that {@code reference} means; empty if it means none of a registry. */
    static Optional<RegistryReference> of(Invocation call, String reference) {
        String typed = call.agent().registry();
        String named = typed != null ? typed : call.around().environment().get(REGISTRY_URL);
        Pattern readable = named == null ? NO_HOST : READABLE;
        boolean meant =
                reference.startsWith("urn:") || readable.matcher(reference).matches();
        return meant
                ? Optional.of(new RegistryReference(
                        (named == null ? ClientFlags.LOCAL_HUB : named).replaceFirst("/+$", ""), reference))
                : Optional.empty();
    }

    /** Returns the card that the registry has. As a card in a file, it may lead to any origin. */
    CardReferences.Found card(AgentClientBuilder client) {
        boolean urn = agent.startsWith("urn:");
        String url = urn
                ? hub + "/registry/agents/" + Requests.segment(agent) + "/card"
                : hub + "/api/v1/agent-cards/id/" + agent;
        HttpCall.Answer answer = Requests.get(client, url, "name the registry with --registry");
        if (answer.status() != 200) {
            throw Requests.refused(
                    Kind.CARD_NOT_FOUND,
                    "the registry " + hub + " has no agent " + agent + " for you",
                    answer.status(),
                    answer.body(),
                    "parley discover lists agents");
        }
        byte[] card = urn
                ? answer.body()
                : Json.write(Json.read(answer.body(), Map.class).get("card_data"));
        return new CardReferences.Found(card, url, null);
    }
}
