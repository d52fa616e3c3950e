package dev.parley.hub.extensions;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.Tools;
import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.HubAgents;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubResource;
import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTasks;
import dev.parley.extension.HubTimers;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.support.Lazy;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.spi.ModuleTables;
import dev.parley.trust.Trust;
import dev.parley.trust.cards.CardKeys;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The extensions of a hub with parts beside their operations. Safe for any thread. */
public final class HubExtensions implements AutoCloseable {
    /** Tables of the timers of extensions. */
    public static final ModuleTables TIMER_TABLES = DurableTimers.TABLES;

    private static final String OF_AGENTS = "/agents/{agent}";

    private final Map<String, HubExtension> byUri = new LinkedHashMap<>();
    /** Names of agents that extensions host later. */
    private final Set<String> later = new HashSet<>();

    private final ConcurrentLinkedQueue<Path> scratch = new ConcurrentLinkedQueue<>();

    private final Parts parts;
    private final DurableTimers timers;
    private final GuardedClients clients;
    /** Database of a hub without one, for an extension that needs it. */
    private final Lazy<Database> temporary = new Lazy<>(() -> Database.temporary(scratch()));

    /**
     * Parts that each hub has.
     *
     * @param rule for URLs that callers choose
     */
    public record Shared(
            Home home,
            Hosted hosted,
            Logged logged,
            Keys keys,
            ExtensionMetrics metrics,
            AddressRule rule,
            Trust trust) {}

    /**
     * The hub itself.
     *
     * @param isKept whether its data outlive it
     * @param isLocal whether only this machine can call it
     * @param url returns its address
     */
    public record Home(boolean isKept, boolean isLocal, Supplier<String> url) {}

    /**
     * The agents of the hub.
     *
     * @param described replaces the card of an agent
     */
    public record Hosted(HubAgents agents, Consumer<Agent> described) {}

    /**
     * The tasks of the hub.
     *
     * @param follow reads a task of the log, and follows it
     */
    public record Logged(TaskLog log, Function<TaskKey, Feed<LoggedEvent>> follow) {}

    /**
     * Keys of the hub.
     *
     * @param cards sign the cards of the hub; null if it signs none
     * @param secrets returns the secret key for a purpose
     */
    public record Keys(@Nullable CardKeys cards, Function<String, byte[]> secrets) {}

    /**
     * Opens extensions.
     *
     * @param database null if the hub has none
     * @param audit of that database
     */
    public HubExtensions(
            List<HubExtensionSource> sources, Shared shared, @Nullable Database database, @Nullable AuditTrail audit) {
        this.parts = new Parts(shared, database, audit);
        this.clients = new GuardedClients(shared.rule());
        this.timers = new DurableTimers(parts::database, InstantSource.system());
        try {
            sources.forEach(source -> {
                byUri.put(source.uri(), source.open(parts));
                if (!source.isOptional()) {
                    later.addAll(source.agents());
                }
            });
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
    }

    /** The parts that extensions get. */
    private final class Parts implements HubParts {
        private final Shared shared;
        private final @Nullable Database database;
        private final Lazy<AuditTrail> audit;

        Parts(Shared shared, @Nullable Database database, @Nullable AuditTrail audit) {
            this.shared = shared;
            this.database = database;
            this.audit = new Lazy<>(() -> audit == null ? AuditTrail.in(database(), InstantSource.system()) : audit);
        }

        @Override
        public boolean isKept() {
            return shared.home().isKept();
        }

        @Override
        public boolean isLocal() {
            return shared.home().isLocal();
        }

        @Override
        public String url() {
            return shared.home().url().get();
        }

        @Override
        public Database database() {
            return database == null ? temporary.get() : database;
        }

        @Override
        public AuditTrail audit() {
            return audit.get();
        }

        @Override
        public HubAgents agents() {
            return shared.hosted().agents();
        }

        @Override
        public Map<String, AgentFace> faces() {
            var all = new HashMap<String, AgentFace>();
            HubExtensions.this.faces().forEach((path, face) -> {
                if (!face.binding().isEmpty() && path.startsWith(OF_AGENTS)) {
                    all.put(face.binding(), new AgentFace(face.agent(), path.substring(OF_AGENTS.length())));
                }
            });
            return all;
        }

        @Override
        public void describe(Agent agent) {
            shared.hosted().described().accept(agent);
        }

        @Override
        public Optional<CallContext> identify(String credential) {
            return shared.trust().identify(credential);
        }

        @Override
        public WireAnswer session(WireRequest request) {
            return shared.trust().session(request);
        }

        @Override
        public HubTasks tasks() {
            return new LoggedTasks(
                    shared.logged().log(),
                    HubExtensions.this::remoteTask,
                    shared.logged().follow());
        }

        @Override
        public HubSignatures signatures() {
            return new Signatures(Optional.ofNullable(shared.keys().cards()));
        }

        @Override
        public HubTimers timers() {
            return timers;
        }

        @Override
        public ExtensionMetrics metrics() {
            return shared.metrics();
        }

        @Override
        public HttpClient http(String group) {
            return clients.of(group);
        }

        @Override
        public byte[] key(String purpose) {
            return shared.keys().secrets().apply("extension " + purpose);
        }

        @Override
        public Path scratch() {
            return HubExtensions.this.scratch();
        }
    }

    private List<String> remoteTask(String group, String taskId) {
        return byUri.values().stream()
                .flatMap(extension -> extension.remoteTask(group, taskId).stream())
                .toList();
    }

    /** Returns the reason for which an agent is not hosted yet; empty if none will be. */
    public Optional<A2AException> absent(String agent) {
        return byUri.values().stream()
                .flatMap(extension -> extension.absent(agent).stream())
                .findFirst();
    }

    /** Parts outside of the hub that extensions need and that are down, with their reasons, by the names of the extensions. */
    public Map<String, String> problems() {
        var problems = new TreeMap<String, String>();
        byUri.values()
                .forEach(extension -> extension.problem().ifPresent(reason -> problems.put(extension.name(), reason)));
        return problems;
    }

    /** Tells the extensions that all agents are hosted, and has their timers become due. */
    public void start() {
        byUri.values().forEach(HubExtension::started);
        timers.start();
    }

    /** Tells the extensions that the hub begins to stop. */
    public void stopping() {
        byUri.values().forEach(HubExtension::stopping);
    }

    /** The installed extensions, and those that are given, which replace others of their URI. */
    public static List<HubExtensionSource> replaced(
            List<HubExtensionSource> installed, List<HubExtensionSource> given) {
        var sources = new LinkedHashMap<String, HubExtensionSource>();
        installed.forEach(source -> sources.put(source.uri(), source));
        given.forEach(source -> sources.put(source.uri(), source));
        return List.copyOf(sources.values());
    }

    private Path scratch() {
        Path directory = TemporaryDirectory.create();
        scratch.add(directory);
        return directory;
    }

    public void forEach(BiConsumer<String, HubExtension> action) {
        byUri.forEach(action);
    }

    public List<HubExtension> all() {
        return List.copyOf(byUri.values());
    }

    /** Observers of the whole hub. */
    public List<HubObserver> observers() {
        return byUri.values().stream()
                .flatMap(extension -> Stream.ofNullable(extension.hubObserver()))
                .toList();
    }

    /** Tools for the handlers of agents. */
    public Optional<BiFunction<Request, Reply, Tools>> tools() {
        return byUri.values().stream()
                .flatMap(extension -> extension.tools().stream())
                .findFirst();
    }

    /**
     * Agents of the extensions, without those that an extension gives up for another of the same name.
     *
     * @param taken names of the other agents
     * @throws IllegalArgumentException for a name of two agents
     */
    public List<Agent> agents(Set<String> taken) {
        var all = new LinkedHashMap<HubExtension, List<Agent>>();
        byUri.values().forEach(extension -> all.put(extension, new ArrayList<>(extension.agents())));
        all.forEach((extension, own) -> own.removeIf(agent -> {
            long others = all.values().stream()
                    .flatMap(List::stream)
                    .filter(each -> each.name().equals(agent.name()))
                    .count();
            boolean isTaken = others > 1 || taken.contains(agent.name()) || later.contains(agent.name());
            return isTaken && extension.without(agent.name());
        }));
        var names = new HashSet<>(taken);
        List<Agent> agents = all.values().stream().flatMap(List::stream).toList();
        for (Agent agent : agents) {
            if (!names.add(agent.name())) {
                throw new IllegalArgumentException("agent \"" + agent.name()
                        + "\": duplicate name (expected: another, an extension has this one)");
            }
        }
        return agents;
    }

    /** Operations of agents of the extensions for callers without credentials, by the names of the agents. */
    public Map<String, Set<String>> open() {
        return ofOwnAgents(HubExtension::open, (agent, operations) -> agent);
    }

    /** Protocols in front of agents of the extensions, by paths. */
    public Map<String, HubExtension.Face> faces() {
        return ofOwnAgents(HubExtension::faces, (path, face) -> face.agent());
    }

    /**
     * Resources of the extensions, by paths.
     *
     * @throws IllegalArgumentException for a path of two extensions
     */
    public Map<String, HubResource> resources() {
        var all = new LinkedHashMap<String, HubResource>();
        byUri.forEach((uri, extension) -> extension.resources().forEach((path, resource) -> {
            if (all.putIfAbsent(path, resource) != null) {
                throw new IllegalArgumentException("extension " + uri + ", " + path + ": taken by another extension");
            }
        }));
        return all;
    }

    /** Whether some extension has pages that begin sessions. */
    public boolean useSessions() {
        return byUri.values().stream().anyMatch(HubExtension::usesSessions);
    }

    /** Address to which the root leads browsers, relative to that of the root, which a proxy may serve below a path; empty for none. */
    public Optional<String> startPage() {
        return byUri.values().stream()
                .flatMap(extension -> extension.startPage().stream())
                .findFirst()
                .map(path -> path.substring(1));
    }

    private <T> Map<String, T> ofOwnAgents(
            Function<HubExtension, Map<String, T>> parts, BiFunction<String, T, String> agent) {
        var all = new LinkedHashMap<String, T>();
        byUri.forEach((uri, extension) -> parts.apply(extension).forEach((key, part) -> {
            String name = agent.apply(key, part);
            if (extension.agents().stream().noneMatch(own -> own.name().equals(name))) {
                throw new IllegalArgumentException(
                        "extension " + uri + ", " + key + ": agent \"" + name + "\" (expected: one of the extension)");
            }
            if (all.putIfAbsent(key, part) != null) {
                throw new IllegalArgumentException("extension " + uri + ", " + key + ": taken by another extension");
            }
        }));
        return all;
    }

    /** The extensions that an agent uses, and those of all agents. */
    public List<HubExtension> usedBy(Agent agent) {
        return byUri.entrySet().stream()
                .filter(each -> each.getValue().isForAll() || agent.uses().contains(each.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** URIs of the extensions that an agent uses and the hub does not have. */
    public List<String> missing(Agent agent) {
        return agent.uses().stream().filter(uri -> !byUri.containsKey(uri)).toList();
    }

    /** Ends calls of handlers of timers, then the extensions, which write their state from memory: the database has to be open. */
    @Override
    public void close() {
        timers.close();
        var failures = new ArrayList<RuntimeException>();
        byUri.values().forEach(extension -> {
            try {
                extension.close();
            } catch (RuntimeException failure) { // the others hold processes and connections, too
                failures.add(failure);
            }
        });
        clients.close();
        Database made = temporary.ifBegun();
        if (made != null) {
            made.close();
        }
        for (Path directory = scratch.poll(); directory != null; directory = scratch.poll()) {
            TemporaryDirectory.remove(directory);
        }
        if (!failures.isEmpty()) {
            RuntimeException first = failures.removeFirst();
            failures.forEach(first::addSuppressed);
            throw first;
        }
    }
}
