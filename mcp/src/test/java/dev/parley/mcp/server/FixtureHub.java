package dev.parley.mcp.server;

import dev.parley.dialect.spi.WireFace;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.hub.Hub;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.ServerInfo;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionView;
import java.util.List;
import java.util.Map;

/** A hub that serves a provider of tests at {@code /fixture/mcp}, through its one door. */
public record FixtureHub(McpProvider provider) implements HubExtensionSource {
    /** Path of the server below the address of the hub. */
    public static final String PATH = "/fixture/mcp";

    private static final ExtensionProtocol PROTOCOL = McpExchange.protocol("/extensions/mcp-fixture/v1");

    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(PROTOCOL.uri(), ExtensionView.Use::operations);

    /** Starts the hub of the conformance suite. */
    public static Hub conformance() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .extension(new FixtureHub(new ConformanceProvider()))
                .start();
    }

    @Override
    public String uri() {
        return PROTOCOL.uri();
    }

    @Override
    public HubExtension open(HubParts hub) {
        var engine = new HttpEngine(provider, new ServerInfo("parley-fixture", "Fixture", "1.0.0", null), new byte[32]);
        return new HubExtension() {
            @Override
            public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
                return AgentExtension.of(PROTOCOL, "MCP").operations(PROTOCOL, new AgentEndpoint() {
                    @Override
                    public <R> R call(Operation.Call<R> operation, CallContext context) {
                        throw new IllegalStateException();
                    }

                    @Override
                    @SuppressWarnings("unchecked")
                    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                        return (Feed<E>) engine.answer((McpExchange) operation, context);
                    }
                });
            }

            @Override
            public String name() {
                return "mcp-fixture";
            }

            @Override
            public List<Agent> agents() {
                return List.of(Agent.named("mcp-fixture", "Serves tools")
                        .uses(OPERATIONS)
                        .handle((request, reply) -> reply.complete("by MCP only")));
            }

            @Override
            public Map<String, Face> faces() {
                WireFace face = new McpFace();
                return Map.of(PATH, new Face("mcp-fixture", face));
            }

            @Override
            public void stopping() {
                engine.close();
            }
        };
    }
}
