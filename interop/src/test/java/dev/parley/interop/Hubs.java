package dev.parley.interop;

import dev.parley.agents.DemoAgents;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.keys.OAuthClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.testkit.ScriptedAgents;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The hubs that clients are let loose on: one that hosts every agent and asks for nothing, and others by name for what one
 * hub cannot be for all: asking its callers for a key or for a token, or having this or that agent as default agent.
 */
final class Hubs implements AutoCloseable {
    /** What the AgentVault library keeps its keys in; ours reads it too. */
    private static final Path KEYS = Path.of("src", "test", "agentvault", "keys.json");

    private final Hub open;
    private final Map<String, Hub> others = new LinkedHashMap<>();

    /** @param data where the first one keeps its tasks; the others keep none */
    Hubs(Path data) {
        Agent[] agents = Stream.concat(DemoAgents.all().stream(), Stream.of(ScriptedAgents.chatty()))
                .toArray(Agent[]::new);
        this.open = hub(agents).data(data).start();
        others.put(
                "apiKey",
                hub(agents)
                        .inMemory()
                        .callers(callers())
                        .authentication(Authentication.of(Scheme.API_KEY))
                        .start());
        others.put(
                "oauth2",
                hub(agents)
                        .inMemory()
                        .callers(callers())
                        .authentication(Authentication.of(Scheme.OAUTH2).withScopes(List.of("tasks")))
                        .start());
        for (Agent agent : agents) {
            others.put(agent.name(), hub(agent).inMemory().start());
        }
    }

    private static HubBuilder hub(Agent... agents) {
        return Hub.builder()
                .port(0)
                .agents(agents)
                .grpcOnCards(true)
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO);
    }

    private static Callers callers() {
        KeyManager keys = KeyManager.builder().environment(Map.of()).file(KEYS).build();
        OAuthClient client = keys.oauthClient("parley").orElseThrow();
        return Callers.builder()
                .apiKey("library", keys.apiKey("parley").orElseThrow())
                .oauthClient("library", client.id(), client.secret())
                .scopes("library", List.of("tasks"))
                .build();
    }

    /** The arguments of a client: the URL of the first hub, and {@code NAME=URL} for each of the others. */
    List<String> arguments() {
        var arguments = new ArrayList<String>();
        arguments.add(open.url());
        others.forEach((name, hub) -> arguments.add(name + "=" + hub.url()));
        return arguments;
    }

    @Override
    public void close() {
        open.close();
        others.values().forEach(Hub::close);
    }
}
