package dev.parley.gateway.hub;

import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;

/** Adds a gateway for remote agents to hubs. */
public final class GatewaySource implements HubExtensionSource {
    /** URI of the extension, which cards of routes carry with the provenance of the upstream card. */
    public static final String URI = "urn:parley:gateway:v1";

    /** For the service loader. */
    public GatewaySource() {}

    @Override
    public String uri() {
        return URI;
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new HubExtension() {
            @Override
            public String name() {
                return "gateway";
            }

            @Override
            public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
                return AgentExtension.of(URI, "A remote agent behind a gateway");
            }
        };
    }
}
