package dev.parley.hub;

import dev.parley.dialect.Dialects;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.dialect.spi.DialectProvider;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.TaskManager;
import dev.parley.engine.spi.SimilarNames;
import dev.parley.extension.AuthorizeTask;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubExtension;
import dev.parley.hub.extensions.Activated;
import dev.parley.hub.extensions.Extended;
import dev.parley.hub.extensions.ExtensionCarrier;
import dev.parley.hub.extensions.HubAgentView;
import dev.parley.hub.extensions.OwnMethods;
import dev.parley.hub.extensions.TaskCredentials;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.trust.Guard;
import dev.parley.trust.cards.CardKeys;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Serves agents at the site of a hub: those that its engine runs, and those that endpoints of extensions answer. Safe for any thread. */
final class Hosting implements HubAgentView.Hosting {
    private static final System.Logger LOG = System.getLogger("dev.parley.hub");

    private final Setup setup;
    private final Platform hub;
    private final List<AgentExtension> extensions;
    private final SimilarNames similar = new SimilarNames();
    private final Map<String, Running> running = new ConcurrentHashMap<>();

    /** An agent in the engine. */
    private record Running(AgentEndpoint endpoint, TaskManager tasks) {}

    /** @param hub whose site is opened before the first agent is hosted */
    Hosting(Setup setup, Platform hub) {
        this.setup = setup;
        this.hub = hub;
        this.extensions = List.copyOf(setup.given.extensions);
    }

    /** Hosts one more agent. */
    void host(Agent described) {
        host(described, null);
    }

    /** Replaces the card of an agent, unless it is not hosted. */
    void describe(Agent described) {
        Running before = running.get(described.name());
        if (before != null) {
            host(described, before);
        }
    }

    /** Names of the agents in the engine. */
    Set<String> names() {
        return running.keySet();
    }

    /** The tasks of an agent; empty if the engine has no such agent. */
    Optional<TaskManager> tasks(String agent) {
        return Optional.ofNullable(running.get(agent)).map(Running::tasks);
    }

    /** @param before the agent in the engine, if it is hosted already; else null */
    private void host(Agent described, @Nullable Running before) {
        Agent offered = described.offering(extensions, hub.site.url());
        List<HubExtension> used = hub.hubExtensions.usedBy(offered);
        Agent agent = extended(offered, used);
        if (before == null) {
            warnOfSimilar(agent.name());
            agent.extensions().forEach(extension -> hub.extensionPages.add(agent.name(), extension, hub.site.url()));
        }
        var protocols = new ArrayList<ExtensionProtocol>();
        var own = new LinkedHashMap<>(OwnMethods.of(agent.methods()));
        own.put(AuthorizeTask.NAME, new TaskCredentials(hub.engine, agent.name()));
        for (AgentExtension extension : agent.extensions()) {
            if (extension.protocol() != null) {
                protocols.add(extension.protocol());
                own.putAll(extension.handlers());
            }
        }
        Map<String, AgentEndpoint> handlers = Activated.of(own, agent.extensions());
        Agent reading = protocols.isEmpty() ? agent : agent.readingJson(agent.handler());
        AgentCard card = hub.trust.card(agent.name(), reading.card(interfaces(agent.name())));
        boolean streams = agent.streams();
        var observed = hub.observed(agent.name());
        var recorded = hub.recorded(agent.name());
        Guard guard = hub.trust.guard(card, agent.extendedSkills(), agent.name());
        Running now = before;
        if (now == null) {
            AgentEndpoint carried =
                    observed.before(recorded.before(guard.before(new Extended(null, handlers, streams))));
            Agent hosted = protocols.isEmpty()
                    ? agent
                    : agent.readingJson(new ExtensionCarrier(agent.handler(), protocols, carried));
            AgentEndpoint endpoint = hub.engine.host(hosted);
            now = new Running(endpoint, hub.engine.tasks(hosted, endpoint, CallContext.anonymous()));
            running.put(agent.name(), now);
        }
        AgentEndpoint shown = now.endpoint();
        for (HubExtension extension : used) {
            shown = extension.before(shown);
        }
        protocols.add(ExtensionProtocol.ofMethods(agent.methods().keySet()));
        protocols.add(TaskCredentials.PROTOCOL);
        serve(
                new ServedAgent(
                        agent.name(),
                        recorded.before(guard.before(new Extended(shown, handlers, streams))),
                        served(card),
                        dialects(agent.name()),
                        new ExtensionTable(protocols),
                        observed::before,
                        observed::carried,
                        agent.isListed()),
                used);
    }

    /** An agent with the extensions of the hub that it uses. */
    private Agent extended(Agent offered, List<HubExtension> used) {
        String url = hub.site.agentUrl(offered.name());
        Agent agent = offered.offering(
                used.stream()
                        .map(extension -> extension.of(hub.site.url(), url, offered.streams()))
                        .toList(),
                hub.site.url());
        for (HubExtension extension : used) {
            agent = extension.hosted(agent);
        }
        for (String missing : hub.hubExtensions.missing(offered)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "agent \"{0}\" uses the extension {1}, which this program does not have",
                    agent.name(),
                    missing);
        }
        return agent;
    }

    private void serve(ServedAgent agent, List<HubExtension> used) {
        hub.agentViews.add(agent, used);
        hub.site.add(hub.intake.forClients(agent));
        if (agent.listed()) {
            hub.home.add(agent.name(), hub.agentUrl(agent.name()), agent.card());
        }
        hub.openApi.add(agent);
        hub.agentViews.announce(agent);
    }

    private ServedCard served(AgentCard card) {
        CardKeys cardKeys = setup.given.cardKeys;
        return cardKeys == null
                ? ServedCard.unsigned(card)
                : ServedCard.signed(card, cardKeys.signer(hub.site.url() + CardKeys.PATH));
    }

    private Set<String> dialects(String agent) {
        return setup.settings.dialectsOfAgents().getOrDefault(agent, setup.settings.dialects());
    }

    private List<Interface> interfaces(String agent) {
        Set<String> dialects = dialects(agent);
        String url = hub.site.agentUrl(agent);
        var interfaces = new ArrayList<Interface>();
        for (String version : List.of("1.0", "0.3")) {
            if (dialects.contains(version)) {
                interfaces.add(new Interface(url, Interface.JSONRPC, null, version));
                interfaces.add(new Interface(url, Interface.HTTP_JSON, null, version));
            }
        }
        if (setup.settings.grpcOnCards() && dialects.contains("1.0")) {
            interfaces.add(new Interface(hub.site.authority(), Interface.GRPC, agent, "1.0"));
        }
        if (setup.settings.grpcOnCards() && dialects.contains("0.3") && agent.equals(setup.root())) {
            // There is no tenant in that version, and its cards cannot say what else names an agent.
            interfaces.add(new Interface(hub.site.authority(), Interface.GRPC, null, "0.3"));
        }
        if (dialects.contains("0.1")) {
            interfaces.add(new Interface(url, Interface.JSONRPC, null, "0.1"));
        }
        if (interfaces.isEmpty()) { // not served in A2A
            if (dialects.contains("kernel")) {
                interfaces.add(new Interface(url, Interface.JSONRPC, null, "kernel"));
            }
            if (dialects.contains("agentvault")) {
                String own = url + "/agentvault";
                interfaces.add(new Interface(own, Interface.JSONRPC, null, "agentvault"));
            }
            for (DialectProvider provider : Dialects.providers()) {
                if (dialects.contains(provider.name())) {
                    interfaces.add(provider.at(url));
                }
            }
        }
        return interfaces;
    }

    private void warnOfSimilar(String name) {
        synchronized (similar) {
            similar.add(name)
                    .ifPresent(other -> LOG.log(
                            System.Logger.Level.WARNING,
                            "agents \"{0}\" and \"{1}\" have names that look alike: callers may take one for the other",
                            other,
                            name));
        }
    }

    // ---- Agents that endpoints of extensions answer

    @Override
    public void add(HostedEndpoint hosted) {
        String name = hosted.name();
        warnOfSimilar(name);
        AgentCard card = here(hosted.card(), name);
        Guard guard = hub.trust.guard(card, List.of(), name);
        var observed = hub.observed(name);
        byte[] verbatim = hosted.verbatim();
        var remote =
                new Remote(hub.intake.beforeRemote(hosted.endpoint()), translations(name), shown -> here(shown, name));
        serve(
                new ServedAgent(
                        name,
                        hub.recorded(name).before(guard.before(remote)),
                        verbatim == null ? served(card) : ServedCard.verbatim(card, verbatim),
                        dialects(name),
                        ExtensionTable.EMPTY,
                        observed::before,
                        observed::carried,
                        true),
                List.of());
    }

    /** Operations of extensions that these carry out by operations of A2A. */
    private Map<String, AgentEndpoint> translations(String name) {
        var handlers = new LinkedHashMap<String, AgentEndpoint>();
        for (HubExtension extension : hub.hubExtensions.all()) {
            extension
                    .ofRemote(hub.site.url(), hub.site.agentUrl(name))
                    .ifPresent(translated -> handlers.putAll(translated.handlers()));
        }
        return handlers;
    }

    /** A card with the addresses of this hub, and the security of its callers. */
    private AgentCard here(AgentCard card, String name) {
        return hub.trust.card(name, card.at(interfaces(name)));
    }

    @Override
    public void remove(String name) {
        hub.site.remove(name);
        hub.openApi.remove(name);
        hub.home.remove(name);
    }

    /**
     * An endpoint before which extensions answer their operations.
     *
     * @param shown changes its extended cards
     */
    private record Remote(AgentEndpoint endpoint, Map<String, AgentEndpoint> extensions, UnaryOperator<AgentCard> shown)
            implements AgentEndpoint {
        @Override
        @SuppressWarnings("unchecked") // a card is the answer of its operation
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            R answer = answering(operation).call(operation, context);
            return operation instanceof Operation.GetExtendedAgentCard ? (R) shown.apply((AgentCard) answer) : answer;
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return answering(operation).watch(operation, context);
        }

        private AgentEndpoint answering(Operation operation) {
            return operation instanceof Operation.Extension extension
                    ? extensions.getOrDefault(extension.name(), endpoint)
                    : endpoint;
        }
    }
}
