package dev.parley.gateway.hub;

import dev.parley.dialect.spi.Notification;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.push.PushProtocol;
import dev.parley.gateway.push.PushRelay;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The gateway of one hub. */
final class GatewayHub implements HubExtension, PersonalData {
    private final PushRelay relay;
    private final Routes routes;
    private final Handlers administration;

    GatewayHub(HubParts hub, GatewaySettings settings, Function<List<String>, AddressRule> rule) {
        this.relay = new PushRelay(hub, RemoteCard.PROVENANCE, this::remote);
        this.routes = new Routes(hub, settings, relay, rule);
        this.administration = new RouteOperations(hub, routes).handlers();
    }

    private Optional<AgentEndpoint> remote(String route) {
        return routes.endpoint(route);
    }

    @Override
    public String name() {
        return "gateway";
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        return relay.extension(hubUrl, "A remote agent behind a gateway");
    }

    @Override
    public List<Agent> agents() {
        return List.of(relay.agent());
    }

    @Override
    public AgentEndpoint before(AgentEndpoint agent) {
        return relay.before(agent);
    }

    @Override
    public Optional<String> problem() {
        return routes.problems().all();
    }

    @Override
    public List<String> remoteTask(String group, String taskId) {
        return routes.owners().routes(group, taskId);
    }

    @Override
    public Map<String, Face> faces() {
        return Map.of(PushRelay.PATH, new Face(PushRelay.AGENT, PushProtocol.face()));
    }

    @Override
    public Map<String, Set<String>> open() {
        return Map.of(PushRelay.AGENT, Set.of(PushProtocol.DELIVER));
    }

    @Override
    public Notification notification(String dialect, TaskKey task, String agent, Notification notification) {
        return relay.shown(notification);
    }

    @Override
    public Handlers administration() {
        return administration;
    }

    @Override
    public Optional<A2AException> absent(String agent) {
        return routes.problems().refusal(agent);
    }

    @Override
    public void started() {
        routes.start();
        relay.started();
    }

    @Override
    public void stopping() {
        relay.stopping();
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
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        var owner = new Scope(operator.scope().group(), principal);
        relay.erase(owner);
        return Map.of("remoteTasks", routes.owners().erase(owner));
    }
}
