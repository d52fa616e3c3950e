package dev.parley.gateway.hub;

import dev.parley.engine.AgentExtension;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/** The gateway of one hub. */
final class GatewayHub implements HubExtension, PersonalData {
    private final Routes routes;
    private final Map<String, AdminHandler> administration;

    GatewayHub(HubParts hub, GatewaySettings settings) {
        this.routes = new Routes(hub, settings);
        this.administration = new RouteOperations(hub, routes).handlers();
    }

    @Override
    public String name() {
        return "gateway";
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        return AgentExtension.of(RemoteCard.PROVENANCE, "A remote agent behind a gateway");
    }

    @Override
    public Map<String, AdminHandler> administration() {
        return administration;
    }

    @Override
    public void started() {
        routes.start();
    }

    @Override
    public void close() {
        routes.close();
    }

    @Override
    public Optional<PersonalData> personalData() {
        return Optional.of(this);
    }

    /** The ids of tasks here are those of remote agents. */
    @Override
    public void unlink(Collection<String> ids, CallContext operator) {}

    @Override
    public Map<String, Object> erase(String principal, AdminParameters given, CallContext operator) {
        return Map.of(
                "remoteTasks", routes.owners().erase(new Scope(operator.scope().group(), principal)));
    }
}
