package dev.parley.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Dialects;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.admin.ReadSettings;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.Wrapper;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.TrustBuilder;
import dev.parley.trust.cards.CardKeys;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Collects the agents of a {@link Hub} and its settings.
 *
 * <p>Every setting of {@code parley up} can be {@linkplain #set set by its name}; the most common ones have methods of their own.
 * Their defaults stand in {@link HubSettings} and the records of the modules.
 */
public final class HubBuilder {
    /** System property for the default of {@link #data}, by which {@code parley run} keeps the data of source files apart. */
    public static final String DATA = "parley.data";

    private final BuilderObjects given = new BuilderObjects();
    private final List<HubExtensionSource> hubExtensions = new ArrayList<>();
    private final Map<String, String> values = new LinkedHashMap<>();
    private SettingReader source = SettingReader.DEFAULTS;
    private Map<String, String> variables = Map.of();
    private Consumer<SettingReader> program = in -> {};

    HubBuilder() {
        String data = System.getProperty(DATA);
        if (data != null) {
            values.put("data", data);
        }
    }

    /**
     * Sets a setting of {@code parley up} by the name of its flag, such as {@code set("retention", "30d")}. {@link #start} refuses
     * unknown names and bad values.
     */
    public HubBuilder set(String name, String value) {
        values.put(requireNonNull(name, "name"), requireNonNull(value, "value"));
        return this;
    }

    /** Reads settings that are not set here from {@code source}; default: the built-in defaults. {@link #start} has it refuse other names. */
    public HubBuilder settings(SettingReader source) {
        this.source = requireNonNull(source, "source");
        return this;
    }

    /**
     * Reads settings that are not set here from environment variables, as {@code parley up} does: {@code PARLEY_PUBLIC_URL} is {@code
     * public-url}. They are above those of {@link #settings}. {@link #start} refuses bad values, and logs a warning of variables that may be
     * misspelt.
     */
    public HubBuilder environment() {
        this.variables = System.getenv();
        return this;
    }

    /** Reads a record of settings of the program that starts the hub, which {@code GET /admin/settings} lists with those of the hub. */
    public HubBuilder program(Consumer<SettingReader> record) {
        this.program = requireNonNull(record, "record");
        return this;
    }

    private HubBuilder append(String name, String value) {
        values.merge(name, value, (before, more) -> before + "," + more);
        return this;
    }

    /** Adds agents; the first one added is the default one unless {@link #defaultAgent} names another. */
    public HubBuilder agents(Agent... more) {
        for (Agent agent : more) {
            if (given.agents.put(agent.name(), agent) != null) {
                throw new IllegalArgumentException("agent \"" + agent.name() + "\": duplicate name");
            }
        }
        return this;
    }

    /** Gives all agents these extensions, besides their own. */
    public HubBuilder extensions(Collection<AgentExtension> more) {
        given.extensions.addAll(more);
        return this;
    }

    /** The port; default 7420, 0 for any free one. */
    public HubBuilder port(int port) {
        return set("port", String.valueOf(port));
    }

    /**
     * The address to listen at; default {@code 127.0.0.1}. Those that other machines reach need TLS and, for every agent,
     * authentication.
     */
    public HubBuilder bind(String address) {
        return set("bind", address);
    }

    /**
     * A separate port, the only one for operators and metrics, which closes last; 0 for any free one. Default: the port of all
     * callers.
     */
    public HubBuilder adminPort(int port) {
        return set("admin-port", String.valueOf(port));
    }

    /**
     * The directory of everything that is kept; default {@code .parley} below the working directory, or {@code .parley/run/NAME} in a
     * program that {@code parley run NAME.java} starts.
     */
    public HubBuilder data(Path directory) {
        return set("data", directory.toString()).set("in-memory", "false");
    }

    /**
     * A database of PostgreSQL instead of the one of SQLite in {@link #data}, which keeps its URL: later starts find it without this
     * setting. Its driver, {@code org.postgresql:postgresql}, has to be on the class path.
     *
     * @param url {@code postgresql://user:password@host:port/database}, with parameters of the driver
     */
    public HubBuilder database(String url) {
        return set("database", url);
    }

    /** Wraps the connections to the database in {@link #data}: for tests that have the disk fail. */
    HubBuilder connections(Wrapper wrapper) {
        given.connections = requireNonNull(wrapper, "wrapper");
        return this;
    }

    /** Keeps nothing: tasks are gone when the process is. */
    public HubBuilder inMemory() {
        return set("in-memory", "true");
    }

    /** The agent that also answers at the root; default: the first one added. */
    public HubBuilder defaultAgent(String name) {
        given.defaultAgent = requireNonNull(name, "name");
        return this;
    }

    /** Public URL of this hub, such as {@code https://agents.example.com}; default: address and port. */
    public HubBuilder publicUrl(String url) {
        return set("public-url", url);
    }

    /** Hosts that webhooks may call though they are private: names or addresses; default: none. */
    public HubBuilder webhookAllow(List<String> hosts) {
        return hosts.isEmpty() ? this : append("webhook-allow", String.join(",", hosts));
    }

    /**
     * The keys with which webhooks are encrypted in the data directory, and tasks if the setting {@code encrypt-tasks} is on;
     * default: one that the hub makes for itself, in the file {@code encryption.key} of that directory.
     */
    public HubBuilder encryption(ValueCipher keys) {
        given.encryption = requireNonNull(keys, "keys");
        return this;
    }

    /**
     * Directory with the secrets of the hub, which is only read: files {@code token.secret}, {@code webhook.master} and, without {@link
     * #encryption}, {@code encryption.key}; default: they are in {@link #data}, where missing ones are made.
     */
    public HubBuilder secrets(Path directory) {
        return set("secrets", directory.toString());
    }

    /** Serves TLS with this certificate chain and key, both PEM; default: plain HTTP. */
    public HubBuilder tls(Path certificateChain, Path key) {
        return set("tls-cert", certificateChain.toString()).set("tls-key", key.toString());
    }

    /** Time that closing waits for running calls; default 10 s. */
    public HubBuilder drain(Duration drain) {
        return set("drain", drain.toString());
    }

    /**
     * An extension of the hub for the agents that {@linkplain Agent.Builder#uses use} it, which replaces one on the class path of
     * the same URI. Default: those on the class path.
     */
    public HubBuilder extension(HubExtensionSource extension) {
        hubExtensions.add(requireNonNull(extension, "extension"));
        return this;
    }

    /**
     * Lists the gRPC interface on cards, as host and port; default false. Clients of gRPC that find agents by their cards
     * need it; clients that check the URLs of cards, such as that of the Agent Development Kit, refuse a card with it. gRPC is
     * served in either case.
     */
    public HubBuilder grpcOnCards(boolean listed) {
        return set("grpc-on-cards", String.valueOf(listed));
    }

    /**
     * In which dialects the agents are served, out of {@link Dialects#NAMES}; default: all. With only {@code 1.0} the
     * cards have no members for older readers.
     */
    public HubBuilder dialects(Collection<String> names) {
        return set("dialects", String.join(",", names));
    }

    /** Dialects of one agent, instead of those for all agents. */
    public HubBuilder dialects(String agent, Collection<String> names) {
        return append("agent-dialects", requireNonNull(agent, "agent") + "=" + String.join("+", names));
    }

    /**
     * Unreleased version of A2A whose described features the hub adds to its answers, as {@code docs/preview.md} lists them; default: none.
     *
     * @param version {@code 1.1}, or {@code none}; other versions fail at the start of the hub
     */
    public HubBuilder preview(String version) {
        return set("preview", requireNonNull(version, "version"));
    }

    /** Callers, for agents with authentication; default: none. */
    public HubBuilder callers(Callers callers) {
        given.callers = requireNonNull(callers, "callers");
        return this;
    }

    /** Authentication of callers; default: none. */
    public HubBuilder authentication(Authentication wanted) {
        given.authentication = requireNonNull(wanted, "wanted");
        return this;
    }

    /** Authentication of the callers of one agent, instead of that of all agents. */
    public HubBuilder authentication(String agent, Authentication wanted) {
        given.agentAuthentication.put(requireNonNull(agent, "agent"), requireNonNull(wanted, "wanted"));
        return this;
    }

    /** Takes tokens of an issuer besides the hub's own, as {@link TrustBuilder#issuer}. */
    public HubBuilder issuer(String url) {
        return append("issuer", requireNonNull(url, "url"));
    }

    /**
     * One more OAuth 2 flow on the cards of agents that take tokens of an {@link #issuer}, as {@link TrustBuilder#flow}: with
     * {@link SecurityScheme.Flow.AuthorizationCode} or {@link SecurityScheme.Flow.DeviceCode}, users log in by {@code parley auth
     * login}.
     */
    public HubBuilder oauthFlow(SecurityScheme.Flow flow) {
        given.flows.add(requireNonNull(flow, "flow"));
        return this;
    }

    /** For whom tokens of other issuers have to be, any one of these; default: the address of the hub. */
    public HubBuilder audiences(Collection<String> audiences) {
        return set("audience", String.join(",", audiences));
    }

    /**
     * What callers may do, and how much; default: everything with their own. {@link #start} refuses a policy that names an
     * operation that neither the protocol nor an agent known by then has.
     */
    public HubBuilder policy(PolicyFile policy) {
        given.policy = requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Writes an audit row for every call of an agent: reads, calls answered by a message, own methods and queries of
     * extensions too. Default: only for changes and refused calls.
     */
    public HubBuilder auditCalls(boolean all) {
        return set("audit", all ? "all" : "changes");
    }

    /** Shows cards only to callers of the agent; default: to all clients. */
    public HubBuilder protectCards(boolean protect) {
        return set("protect-cards", String.valueOf(protect));
    }

    /** Signs the cards of all agents, and publishes the keys at {@value CardKeys#PATH}; default: cards are not signed. */
    public HubBuilder cardKeys(CardKeys keys) {
        given.cardKeys = requireNonNull(keys, "keys");
        return this;
    }

    /**
     * Receives spans of calls, runs of agents and webhooks; its owner closes it. Default: the instance that the process has set as
     * {@link GlobalOpenTelemetry}, else none.
     */
    public HubBuilder openTelemetry(OpenTelemetry telemetry) {
        given.telemetry = requireNonNull(telemetry, "telemetry");
        return this;
    }

    /**
     * Receives in words why {@link #start} waits: another hub works with the database that both share. Called each time that it is
     * another hub, on the thread that starts this one.
     */
    public HubBuilder onWaiting(Consumer<String> waits) {
        given.waits = requireNonNull(waits, "waits");
        return this;
    }

    /**
     * Takes the place of a hub that {@linkplain Hub#onEnding has ended}. It is closed just before this one opens its port, so that it
     * refuses requests until then, also if {@link #start} throws because the database cannot be opened yet. A port 0 stands for its
     * port. What that hub has lost is counted and noted by this one.
     *
     * @throws IllegalArgumentException if it has not ended
     */
    public HubBuilder replaces(Hub ended) {
        return replaces(ended.platform);
    }

    /** The same for a platform of a container. */
    public HubBuilder replaces(Platform ended) {
        given.replaced = ended.ending()
                .map(ended::asPredecessor)
                .orElseThrow(() -> new IllegalArgumentException(
                        "hub " + ended.url() + ": is running (expected: one that has ended)"));
        return this;
    }

    /**
     * Starts the hub: opens the store, deals with tasks that a crash interrupted, and opens the port. A hub that shares its database
     * waits until no other one works with it; meanwhile its port refuses all requests but {@code /health} with 503. An interrupt of
     * the thread ends the wait.
     *
     * @throws IllegalArgumentException if the settings contradict each other
     * @throws dev.parley.store.spi.StoreException if the data directory cannot be used
     */
    public Hub start() {
        return new Hub(setup());
    }

    /**
     * Opens the store and hosts the agents as {@link #start} does, without a port: a container hands requests to {@link
     * Platform#handle}. Needs the {@link #publicUrl}, which is the address at which the container serves them. The container is
     * responsible for TLS and for limits of connections and waiting. As long as an agent answers callers without credentials, clients on
     * other machines are refused.
     *
     * @throws IllegalArgumentException if the settings contradict each other, or need a port
     * @throws dev.parley.store.spi.StoreException if the data directory cannot be used
     */
    public Platform platform() {
        Setup setup = setup();
        if (setup.settings.adminPort() != null || setup.settings.grpcOnCards()) {
            throw new IllegalArgumentException(
                    "admin-port or grpc-on-cards: set (expected: neither, because a platform has no port)");
        }
        boolean isOpen = setup.isOpen();
        return new Platform(setup, server -> server.forThisMachine(isOpen).mount(), false);
    }

    private Setup setup() {
        var reader = new ReadSettings(SettingReader.of(values, SettingReader.environment(variables, source)));
        HubSettings settings = HubSettings.read(reader);
        List<HubExtensionSource> own = hubExtensions.stream()
                .map(extension -> extension.configured(reader))
                .toList();
        program.accept(reader);
        reader.requireAllRead();
        return new Setup(given, settings, own, reader.shown(given.settings()));
    }
}
