package dev.parley.cli.connection;

import dev.parley.cli.command.ClientFlags;
import dev.parley.cli.command.Invocation;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Agents that a registry knows, by a URN or by the readable id of AgentVault, such as {@code org/agent}. A readable id that could be a
 * host and a path is one only if the registry is named.
 */
final class RegistryReference {
    private static final String REGISTRY_URL = "AGENTVAULT_REGISTRY_URL";
    private static final Pattern READABLE = Pattern.compile("[A-Za-z0-9._-]+/[A-Za-z0-9._-]+");

    private RegistryReference() {}

    static boolean isMeant(Invocation call, String reference) {
        if (reference.startsWith("urn:")) {
            return true;
        }
        if (!READABLE.matcher(reference).matches()) {
            return false;
        }
        String host = reference.substring(0, reference.indexOf('/'));
        return registry(call) != null || !host.contains(".") && !host.equals("localhost");
    }

    /** Returns the card that the registry has. As a card in a file, it may lead to any origin. */
    static CardReferences.Found find(Invocation call, AgentClientBuilder client, String reference) {
        String named = registry(call);
        String hub = (named == null ? ClientFlags.LOCAL_HUB : named).replaceFirst("/+$", "");
        boolean urn = reference.startsWith("urn:");
        String url = urn
                ? hub + "/registry/agents/" + Requests.segment(reference) + "/card"
                : hub + "/api/v1/agent-cards/id/" + reference;
        HttpCall.Answer answer = Requests.read(
                "name the registry with --registry",
                () -> client.exchange(new HttpCall("GET", url, Map.of("Accept", "application/json"), new byte[0])));
        if (answer.status() != 200) {
            throw Requests.refused(
                    Kind.CARD_NOT_FOUND,
                    "the registry " + hub + " has no agent " + reference + " for you",
                    answer.status(),
                    answer.body(),
                    "parley discover lists agents");
        }
        byte[] card = urn
                ? answer.body()
                : Json.write(Json.read(answer.body(), Map.class).get("card_data"));
        return new CardReferences.Found(card, url, null);
    }

    private static @Nullable String registry(Invocation call) {
        String typed = call.agent().registry();
        return typed != null ? typed : call.around().environment().get(REGISTRY_URL);
    }
}
