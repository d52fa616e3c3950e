package dev.parley.mcp.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.stdio.McpServer;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.GetTask;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** MCP server over stdio, for tests, in a process of its own: {@code main NAME URL…} offers remote agents. */
public final class StdioOffer implements OfferedAgents {
    private final Map<String, AgentClient> clients = new TreeMap<>();

    public static void main(String[] arguments) throws IOException {
        var agents = new StdioOffer();
        for (int i = 0; i < arguments.length; i += 2) {
            agents.clients.put(arguments[i], AgentClient.connect(arguments[i + 1]));
        }
        McpServer.of(new AgentProvider(agents, Duration.ofMinutes(10)), ServerInfo.of("offer", "1"))
                .stdio();
    }

    @Override
    public Map<String, AgentCard> cards(CallContext caller) {
        var cards = new TreeMap<String, AgentCard>();
        clients.forEach((name, client) -> cards.put(name, client.card()));
        return cards;
    }

    @Override
    public AgentEndpoint endpoint(String agent) {
        return requireNonNull(clients.get(agent));
    }

    @Override
    public Optional<String> agentOf(String taskId, CallContext caller) {
        return clients.keySet().stream()
                .filter(agent -> {
                    try {
                        return !requireNonNull(clients.get(agent))
                                .call(GetTask.of(taskId), caller)
                                .id()
                                .isEmpty();
                    } catch (A2AException unknown) {
                        return false;
                    }
                })
                .findFirst();
    }
}
